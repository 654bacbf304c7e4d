"""ECB, CBC and counter mode, one block at a time, with the chaining value in view.

A stream is one direction of one mode under one key. `step` takes a block and gives a block; `iv` is
what a register would show: the value that the next block will be chained with.
Source: SP 800-38A. The block ciphers are the library's.
"""

from __future__ import annotations

from functools import lru_cache

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

try:  # the library moved it, and warns in the old place
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
except ImportError:
    from cryptography.hazmat.primitives.ciphers.algorithms import TripleDES  # type: ignore[no-redef,attr-defined,unused-ignore]

__all__ = ["CbcDecryption", "CbcEncryption", "Counter32", "Ecb", "cipher_of"]

BlockCipher = algorithms.AES | TripleDES


@lru_cache(maxsize=64)
def cipher_of(algorithm: str, key: bytes) -> BlockCipher:
    """The library's cipher: `AES` with 16, 24 or 32 bytes, `DES` with 8, `TDES` with 24 (encryption with the
    first 8, decryption with the next, encryption with the last). Parity bits of DES keys do not matter.
    """
    if algorithm == "AES":
        return algorithms.AES(key)
    return TripleDES(key * 3 if algorithm == "DES" else key)


class Ecb:
    """Electronic code book: no chaining, `iv` stays as given."""

    def __init__(self, cipher: BlockCipher, iv: bytes, decrypt: bool) -> None:
        context = Cipher(cipher, modes.ECB())
        self.step = context.decryptor().update if decrypt else context.encryptor().update
        self.iv = iv


class CbcEncryption:
    """Cipher block chaining: after a block, `iv` is the ciphertext produced."""

    def __init__(self, cipher: BlockCipher, iv: bytes) -> None:
        self._update = Cipher(cipher, modes.CBC(iv)).encryptor().update
        self.iv = iv

    def step(self, block: bytes) -> bytes:
        """Encrypt one block."""
        self.iv = out = self._update(block)
        return out


class CbcDecryption:
    """Cipher block chaining: after a block, `iv` is the ciphertext consumed."""

    def __init__(self, cipher: BlockCipher, iv: bytes) -> None:
        self._update = Cipher(cipher, modes.CBC(iv)).decryptor().update
        self.iv = iv

    def step(self, block: bytes) -> bytes:
        """Decrypt one block."""
        self.iv = block
        return self._update(block)


class Counter32:
    """Counter mode whose low 32 bits count and wrap without a carry into the upper 96.

    `iv` is the next counter block, 16 bytes. Both directions are the same.
    """

    def __init__(self, cipher: BlockCipher, iv: bytes) -> None:
        self._cipher, self._prefix = cipher, iv[:12]
        self._start(int.from_bytes(iv[12:], "big"))

    def _start(self, counter: int) -> None:
        self._first, self._done = counter, 0
        self._until_wrap = (1 << 32) - counter
        self._update = Cipher(self._cipher, modes.CTR(self._prefix + counter.to_bytes(4, "big"))).encryptor().update

    @property
    def iv(self) -> bytes:
        """The next counter block."""
        return self._prefix + (self._first + self._done & 0xFFFF_FFFF).to_bytes(4, "big")

    def step(self, block: bytes) -> bytes:
        """Encrypt or decrypt one block."""
        if self._done == self._until_wrap:
            self._start(0)
        self._done += 1
        return self._update(block)
