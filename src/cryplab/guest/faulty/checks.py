"""Faults that no watching shows, because every access is right: the program's functions called and compared.

What `cryplab check` does for a library's API, in the few lines that these cases need. Each check returns what is
wrong in a sentence, or an empty string.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cryplab.machine import Machine

__all__ = ["CHECKS"]

CONTEXT_BYTES = 512
KEY, IV, AAD, TEXT = bytes(range(16)), bytes(range(12)), b"header", b"a text of two blocks and a bit more"


def digest(machine: Machine) -> str:
    """SHA-256 in one call against another implementation."""
    out = machine.allocate(32)
    machine.call("drv_sha256", TEXT, len(TEXT), out, 0)
    wanted, found = hashlib.sha256(TEXT).hexdigest(), machine.read_memory(out, 32).hex()
    return "" if found == wanted else f"drv_sha256 gives {found} for {TEXT!r}, expected {wanted}"


def wrong_tag(machine: Machine) -> str:
    """GCM: the right tag must be accepted, a wrong one refused."""
    sealed = AESGCM(KEY).encrypt(IV, TEXT, AAD)
    data, tag = sealed[: len(TEXT)], bytearray(sealed[len(TEXT) :])
    context, out = machine.allocate(CONTEXT_BYTES), machine.allocate(len(TEXT))
    machine.call("drv_gcm_setkey", context, KEY, 8 * len(KEY))
    for turned in (0, 1):
        tag[5] ^= turned
        refused = machine.call(
            "drv_gcm_open", context, len(TEXT), IV, len(IV), AAD, len(AAD), bytes(tag), len(tag), data, out
        )
        if bool(refused) != bool(turned):
            return f"drv_gcm_open {'refuses the right' if refused else 'accepts a wrong'} tag"
    return ""


CHECKS: dict[str, tuple[str, Callable[[Machine], str]]] = {
    "hash_digest_order": ("drv_sha256", digest),
    "tag_not_compared": ("drv_gcm_open", wrong_tag),
}
"By case: the function at fault, and the check."
