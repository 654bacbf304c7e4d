"""wolfCrypt, release 4 and 5: the functions that its STM32 port replaces or that call what it replaces.

The IV lives in the context (`held_iv`), after a digest the context is ready for the next message (`restarts`), and
`dir` of a key is 0 for encryption. HMAC has its hash at the start of its own context, so only the hash is followed.
Source: the library's public headers, release 5.5.4.
"""

from __future__ import annotations

from collections.abc import Iterator

from cryplab.observe.api import Function, line

__all__ = ["FUNCTIONS"]

WAYS = (("Encrypt", "encrypt"), ("Decrypt", "decrypt"))
AEAD = "ctx output input length iv iv_length tag tag_length aad aad_length"


def _aes() -> Iterator[Function]:
    yield line("init", "wc_AesInit", "AES", "ctx - -")
    yield line("free", "wc_AesFree", "AES", "ctx")
    for name in ("wc_AesSetKey", "wc_AesSetKeyDirect"):
        yield line("setkey", name, "AES", "ctx key key_bytes iv dir held_iv=16")
    yield line("iv", "wc_AesSetIV", "AES", "ctx iv held_iv=16")
    for end, direction in WAYS:
        yield line("crypt", f"wc_Aes{end}Direct", "AES-ECB", "ctx output input length=16", direction)
        yield line("crypt", f"wc_AesEcb{end}", "AES-ECB", "ctx output input length", direction)
        for mode in ("CBC", "CFB", "OFB"):
            arguments = "ctx output input length held_iv=16"
            yield line("crypt", f"wc_Aes{mode.capitalize()}{end}", f"AES-{mode}", arguments, direction)
    yield line("crypt", "wc_AesCtrEncrypt", "AES-CTR", "ctx output input length held_iv=16", "encrypt")


def _aead(mode: str) -> Iterator[Function]:
    prefix, what = f"wc_Aes{mode.capitalize()}", f"AES-{mode}"
    yield line("setkey", f"{prefix}SetKey", what, "ctx key key_bytes")
    for end, direction in WAYS:
        yield line("crypt", f"{prefix}{end}", what, AEAD, direction)


def _gcm_parts() -> Iterator[Function]:
    """Additional data may come with any part, so nothing counts it."""
    for end, direction in WAYS:
        yield line("starts", f"wc_AesGcm{end}Init", "AES-GCM", "ctx - - iv iv_length", direction)
        yield line("update", f"wc_AesGcm{end}Update", "AES-GCM", "ctx output input length - -", direction)
        yield line("finish", f"wc_AesGcm{end}Final", "AES-GCM", "ctx tag tag_length", direction)


def _des() -> Iterator[Function]:
    yield line("init", "wc_Des3Init", "TDES", "ctx - -")
    yield line("free", "wc_Des3Free", "TDES", "ctx")
    for name, what, bits in (("Des", "DES", 64), ("Des3", "TDES", 192)):
        yield line("setkey", f"wc_{name}_SetKey", what, f"ctx key iv dir key_bits={bits} held_iv=8")
        yield line("iv", f"wc_{name}_SetIV", what, "ctx iv held_iv=8")
        yield line("crypt", f"wc_{name}_EcbEncrypt", f"{what}-ECB", "ctx output input length")  # both ways, by the key
        for end, direction in WAYS:
            yield line("crypt", f"wc_{name}_Cbc{end}", f"{what}-CBC", "ctx output input length held_iv=8", direction)


def _hash(name: str, what: str, variant: str = "") -> Iterator[Function]:
    yield line("starts", f"wc_Init{name}", what, f"ctx{variant}")
    yield line("starts", f"wc_Init{name}_ex", what, f"ctx - -{variant}")
    yield line("update", f"wc_{name}Update", what, f"ctx input length{variant}")
    yield line("finish", f"wc_{name}Final", what, f"ctx output restarts=1{variant}")
    yield line("digest", f"wc_{name}GetHash", what, f"ctx output{variant}")
    yield line("clone", f"wc_{name}Copy", what, f"src ctx{variant}")
    yield line("free", f"wc_{name}Free", what, "ctx")
    yield line("crypt", f"wc_{name}Hash", what, f"input length output{variant}")


def _others() -> Iterator[Function]:
    yield line("starts", "wc_HmacSetKey", "", "- - key key_bytes")
    yield line("update", "wc_HmacUpdate", "", "- input length")
    yield line("finish", "wc_HmacFinal", "", "- output")
    yield line("random", "wc_GenerateSeed", "RNG", "- output length")
    for name, arguments in (("Rng", "-"), ("Rng_ex", "- - -"), ("RngNonce", "- - -"), ("RngNonce_ex", "- - - - -")):
        yield line("seed", f"wc_Init{name}", "", arguments)
    yield line("seed", "wc_RNG_GenerateBlock", "", "- - -")


FUNCTIONS: tuple[Function, ...] = (
    *_aes(),
    *_aead("GCM"),
    *_gcm_parts(),
    *_aead("CCM"),
    *_des(),
    *_hash("Md5", "MD5"),
    *_hash("Sha", "SHA-1"),
    *_hash("Sha224", "SHA-256", " variant=1"),
    *_hash("Sha256", "SHA-256", " variant=0"),
    *_others(),
)
