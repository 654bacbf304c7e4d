"""GCM one phase and one block at a time, with the state that context-swap registers show.

Between blocks GCM is three values and a counter block: `h` (the hash key), `mac` (the running GHASH) and
`iv` (the next counter block, whose low 32 bits wrap alone). Blocks are 16 bytes; `h` and `mac` are the
blocks as big-endian integers. Source: SP 800-38D, seen as an engine with phases runs it: the
first payload counter is IV||2, the tag is covered with IV||1.
"""

from __future__ import annotations

from cryplab.algorithms.aes import block_encryption
from cryplab.algorithms.ghash import ghash

__all__ = ["GcmDecryption", "GcmEncryption", "GcmFinal", "GcmHeader", "Phase", "hash_key", "next_counter"]

FIRST = (1).to_bytes(4, "big")
"Low word of the counter block that covers the tag."


def hash_key(key: bytes) -> int:
    """H, the encryption of the zero block: what the init phase computes."""
    return int.from_bytes(block_encryption(key)(bytes(16)), "big")


def next_counter(block: bytes) -> bytes:
    """The counter block after this one: low 32 bits plus 1, no carry out of them."""
    low = int.from_bytes(block[12:], "big") + 1 & 0xFFFF_FFFF
    return block[:12] + low.to_bytes(4, "big")


class Phase:
    """One phase of GCM or CCM under way: `step` takes a block and gives what comes out, if anything.

    Args:
        key: AES key, 16, 24 or 32 bytes.
        iv: the next counter block.
        mac: running GHASH (GCM) or CBC-MAC (CCM).
        h: hash key (GCM only).
        padding: bytes at the end of a payload block's plaintext (CCM) or ciphertext (GCM) that the
            engine itself produces and takes as 0 when it authenticates; 0 where software must do so.
    """

    def __init__(self, key: bytes, iv: bytes, mac: int, h: int = 0, padding: int = 0) -> None:
        self.encrypt = block_encryption(key)
        self.iv, self.mac, self.h = iv, mac, h
        self.clear = -1 << 8 * padding  # mask of the bits that count

    def cover(self, block: bytes) -> int:
        """The block as an integer, XORed with the key stream; the counter moves on."""
        stream = self.encrypt(self.iv)
        self.iv = next_counter(self.iv)
        return int.from_bytes(block, "big") ^ int.from_bytes(stream, "big")

    def step(self, block: bytes) -> bytes:
        """One block through the phase; header phases give no bytes."""
        raise NotImplementedError


class GcmHeader(Phase):
    """Additional data, zero padded."""

    def step(self, block: bytes) -> bytes:
        """Hash the block."""
        self.mac = ghash(self.mac, block, self.h)
        return b""


class GcmEncryption(Phase):
    """Payload, encrypting: the hash takes what comes out."""

    def step(self, block: bytes) -> bytes:
        """Encrypt the block and hash the result."""
        out = self.cover(block)
        self.mac = ghash(self.mac, (out & self.clear).to_bytes(16, "big"), self.h)
        return out.to_bytes(16, "big")


class GcmDecryption(Phase):
    """Payload, decrypting: the hash takes what goes in."""

    def step(self, block: bytes) -> bytes:
        """Hash the block and decrypt it."""
        self.mac = ghash(self.mac, block, self.h)
        return self.cover(block).to_bytes(16, "big")


class GcmFinal(Phase):
    """Lengths in, tag out. The hash goes on, so a block before the lengths counts as one more of text."""

    def step(self, block: bytes) -> bytes:
        """Hash the block; the hash covered by E(IV||1) comes out."""
        self.mac = ghash(self.mac, block, self.h)
        mask = int.from_bytes(self.encrypt(self.iv[:12] + FIRST), "big")
        return (self.mac ^ mask).to_bytes(16, "big")
