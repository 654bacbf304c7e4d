"""The oracle: runs steps with `cryptography` and `hashlib`, which share no code with the models or a firmware."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from cryplab.check.script import Expected, Step

__all__ = ["CCM_MOST_AAD", "HASHES", "Misuse", "Oracle", "plaintext", "seal", "unseal"]

HASHES = {
    "MD5": "md5", "SHA-1": "sha1", "SHA-224": "sha224", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512",
}  # fmt: skip
"Names of hashlib by ours."
AES_BLOCK, DES_BLOCK = 16, 8
CCM_MOST_AAD = 0xFF00
"Lengths from here on are written in six bytes in CCM; APIs may refuse them."


class Misuse(Exception):
    """Steps that the API does not allow, so nothing is promised: no key, no start, wrong direction."""


@dataclass(slots=True)
class _Context:
    """What a context holds: its kind, key, and the state of a message in parts."""

    kind: str
    key: bytes = b""
    chain: bytes = b""
    stream: Any = None
    written: int = 0
    digest: Any = None
    message: Any = None
    encrypt: bool = True
    key_encrypts: bool = True
    mode: str = ""
    seeded: bool = False


def _cipher(kind: str, key: bytes, mode: Any) -> Cipher[Any]:
    if kind == "AES":
        return Cipher(algorithms.AES(key), mode)
    return Cipher(TripleDES(key * (24 // len(key)) if len(key) != 16 else key + key[:8]), mode)


def _turn(cipher: Cipher[Any], encrypt: bool, data: bytes) -> bytes:
    context = cipher.encryptor() if encrypt else cipher.decryptor()
    return context.update(data) + context.finalize()


class Oracle:
    """Runs one case; make a new one for the next."""

    def __init__(self) -> None:
        self._contexts: dict[int, _Context] = {}

    def run(self, step: Step) -> Expected:
        """What the step must give. Raises: Misuse when the API promises nothing for it."""
        method: Callable[[Step], Expected] = getattr(self, f"_{step.does}")
        try:
            return method(step)
        except (KeyError, ValueError) as error:
            raise Misuse(f"{step}: {error}") from error

    def _of(self, step: Step) -> _Context:
        return self._contexts[step.context]

    @staticmethod
    def _must(condition: object, step: Step, what: str) -> None:
        if not condition:
            raise Misuse(f"{step}: {what}")

    def _open(self, step: Step) -> Expected:
        self._contexts[step.context] = _Context(step.kind)
        return Expected()

    def _free(self, step: Step) -> Expected:
        del self._contexts[step.context]
        return Expected()

    def _setkey(self, step: Step) -> Expected:
        kind = self._of(step).kind
        self._contexts[step.context] = _Context(kind, step.key, key_encrypts=step.encrypt)
        return Expected()

    # -- ciphers -------------------------------------------------------------------------------
    def _crypt(self, step: Step) -> Expected:
        context = self._of(step)
        self._must(context.key, step, "no key")
        if step.kind in ("ECB", "CBC"):
            self._must(context.key_encrypts == step.encrypt, step, "the key was set for the other direction")
        if step.kind == "ECB":
            self._must(len(step.data) == (AES_BLOCK if context.kind == "AES" else DES_BLOCK), step, "not one block")
            turned = _turn(_cipher(context.kind, context.key, modes.ECB()), step.encrypt, step.data)
            return Expected(outputs={"output": turned})
        if step.iv is not None:
            context.chain, context.written, context.mode, context.encrypt = step.iv, 0, step.kind, step.encrypt
            context.stream = self._new_stream(context, step)
        going_on = (context.mode, context.encrypt) == (step.kind, step.encrypt)
        self._must(going_on and context.key_encrypts | (step.kind == "CBC"), step, "nothing to go on from")
        if step.kind == "CBC":
            return self._cbc(context, step)
        output = context.stream.update(step.data)
        context.written += len(step.data)
        outputs = {"output": output, "offset": (context.written % AES_BLOCK).to_bytes(4, "little")}
        if context.written % AES_BLOCK == 0 and step.data:
            outputs["iv"] = self._stream_iv(context, step, output)
        return Expected(outputs=outputs)

    @staticmethod
    def _new_stream(context: _Context, step: Step) -> Any:
        assert step.iv is not None
        made: Any = {"CTR": modes.CTR, "CFB": _cfb(), "OFB": _ofb()}.get(step.kind)
        if made is None:
            return None
        cipher = _cipher(context.kind, context.key, made(step.iv))
        return cipher.encryptor() if step.encrypt else cipher.decryptor()

    @staticmethod
    def _stream_iv(context: _Context, step: Step, output: bytes) -> bytes:
        """The caller's IV at the end of a block: counter, last cipher block, last key stream block."""
        if step.kind == "CTR":
            number = int.from_bytes(context.chain, "big") + context.written // AES_BLOCK
            return (number % (1 << 128)).to_bytes(AES_BLOCK, "big")
        last_in, last_out = step.data[-AES_BLOCK:], output[-AES_BLOCK:]
        if (
            len(last_in) < AES_BLOCK
        ):  # part of the block went through an earlier call: take it from the oracle's own state
            return b""
        if step.kind == "CFB":
            return last_out if step.encrypt else last_in
        return bytes(a ^ b for a, b in zip(last_in, last_out, strict=True))

    @staticmethod
    def _cbc(context: _Context, step: Step) -> Expected:
        output = _turn(_cipher(context.kind, context.key, modes.CBC(context.chain)), step.encrypt, step.data)
        size = len(context.chain)
        if step.data:
            context.chain = (output if step.encrypt else step.data)[-size:]
        return Expected(outputs={"output": output, "iv": context.chain})

    # -- authenticated -------------------------------------------------------------------------
    def _seal(self, step: Step) -> Expected:
        context = self._of(step)
        self._must(context.key and step.iv is not None, step, "no key or IV")
        assert step.iv is not None
        refusable = context.kind == "CCM" and len(step.aad) >= CCM_MOST_AAD
        output, tag = seal(context.kind, context.key, step.iv, step.aad, step.data, step.length)
        return Expected("may refuse" if refusable else "ok", {"output": output, "tag": tag})

    def _unseal(self, step: Step) -> Expected:
        context = self._of(step)
        self._must(context.key and step.iv is not None, step, "no key or IV")
        assert step.iv is not None
        plain = unseal(context.kind, context.key, step.iv, step.aad, step.data, step.tag)
        if plain is None:
            would_be = plaintext(context.kind, context.key, step.iv, step.aad, step.data, len(step.tag))
            return Expected("refused", forbidden={"output": would_be})
        refusable = context.kind == "CCM" and len(step.aad) >= CCM_MOST_AAD
        return Expected("may refuse" if refusable else "ok", {"output": plain})

    # -- messages in parts ---------------------------------------------------------------------
    def _starts(self, step: Step) -> Expected:
        context = self._of(step)
        if context.kind == "GCM":
            cipher = Cipher(algorithms.AES(context.key), modes.GCM(step.iv or b"", None, 4))
            context.encrypt, context.written = step.encrypt, 0
            context.message = cipher.encryptor()
            context.message.authenticate_additional_data(step.aad)
            context.stream = _gcm_stream(context.key, step.iv or b"") if not step.encrypt else None
            return Expected()
        if context.kind.startswith("HMAC-"):
            context.key = step.key
            context.digest, context.mode = hmac.new(step.key, digestmod=HASHES[context.kind[5:]]), "started"
        else:
            context.digest = hashlib.new(HASHES[context.kind])
        return Expected()

    def _reset(self, step: Step) -> Expected:
        context = self._of(step)
        self._must(context.mode == "started", step, "not started")
        context.digest = hmac.new(context.key, digestmod=HASHES[context.kind[5:]])
        return Expected()

    def _update(self, step: Step) -> Expected:
        context = self._of(step)
        if context.kind != "GCM":
            self._must(context.digest is not None, step, "not started")
            context.digest.update(step.data)
            return Expected()
        self._must(context.message is not None, step, "not started")
        self._must(not step.data or context.written % AES_BLOCK == 0, step, "behind a part that was no whole block")
        context.written += len(step.data)
        if context.encrypt:
            return Expected(outputs={"output": context.message.update(step.data)})
        # tags are made by encrypting; the plaintext is encrypted again to know what the tag must be
        plain = context.stream.update(step.data)
        context.message.update(plain)
        return Expected(outputs={"output": plain})

    def _finish(self, step: Step) -> Expected:
        context = self._of(step)
        if context.kind == "GCM":
            self._must(context.message is not None, step, "not started")
            message, context.message = context.message, None
            message.finalize()
            return Expected(outputs={"tag": message.tag[: step.length]})
        self._must(context.digest is not None, step, "not started")
        digest, context.digest = context.digest, None
        return Expected(outputs={"output": digest.digest()})

    def _clone(self, step: Step) -> Expected:
        source = self._contexts[step.source]
        self._must(source.digest is not None, step, "not started")
        context = _Context(source.kind, source.key, digest=source.digest.copy())
        self._contexts[step.context] = context
        return Expected()

    # -- in one call ---------------------------------------------------------------------------
    @staticmethod
    def _digest(step: Step) -> Expected:
        return Expected(outputs={"output": hashlib.new(HASHES[step.kind], step.data).digest()})

    @staticmethod
    def _hmac(step: Step) -> Expected:
        return Expected(outputs={"output": hmac.new(step.key, step.data, HASHES[step.kind]).digest()})

    # -- random --------------------------------------------------------------------------------
    def _seed(self, step: Step) -> Expected:
        self._of(step).seeded = True
        return Expected()

    def _random(self, step: Step) -> Expected:
        context = self._of(step)
        self._must(context.seeded or context.kind == "POLL", step, "no seed")
        return Expected(fresh=("output",) if step.length else ())


def _cfb() -> Any:
    from cryptography.hazmat.decrepit.ciphers import modes as old

    return getattr(old, "CFB", None) or modes.CFB


def _ofb() -> Any:
    from cryptography.hazmat.decrepit.ciphers import modes as old

    return getattr(old, "OFB", None) or modes.OFB


def seal(kind: str, key: bytes, iv: bytes, aad: bytes, data: bytes, tag_bytes: int) -> tuple[bytes, bytes]:
    """Ciphertext and tag of GCM or CCM."""
    if kind == "CCM":
        both = AESCCM(key, tag_bytes).encrypt(iv, data, aad)
        return both[: len(data)], both[len(data) :]
    context = Cipher(algorithms.AES(key), modes.GCM(iv)).encryptor()
    context.authenticate_additional_data(aad)
    output = context.update(data) + context.finalize()
    return output, context.tag[:tag_bytes]


def unseal(kind: str, key: bytes, iv: bytes, aad: bytes, data: bytes, tag: bytes) -> bytes | None:
    """Plaintext, or None when the tag is wrong."""
    try:
        if kind == "CCM":
            return AESCCM(key, len(tag)).decrypt(iv, data + tag, aad)
        context = Cipher(algorithms.AES(key), modes.GCM(iv, tag, 4)).decryptor()
        context.authenticate_additional_data(aad)
        return context.update(data) + context.finalize()
    except InvalidTag:
        return None


def plaintext(kind: str, key: bytes, iv: bytes, aad: bytes, data: bytes, tag_bytes: int) -> bytes:
    """What the ciphertext would give if the tag were right: both modes are counter modes underneath."""
    if kind == "CCM":
        counter = bytes((14 - len(iv),)) + iv + (1).to_bytes(15 - len(iv), "big")
        return _turn(Cipher(algorithms.AES(key), modes.CTR(counter)), True, data)
    return bytes(_gcm_stream(key, iv).update(data))


def _gcm_stream(key: bytes, iv: bytes) -> Any:
    """GCM decryption without a tag: plaintext by `update`."""
    return Cipher(algorithms.AES(key), modes.GCM(iv, bytes(16), 4)).decryptor()
