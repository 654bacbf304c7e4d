"""mbed TLS 2.x, legacy API: the functions that a port to a crypto block replaces, and the entropy source.

Source: the library's public headers, release 2.28.
"""

from __future__ import annotations

from collections.abc import Iterator

from cryplab.observe.api import Function, line

__all__ = ["FUNCTIONS"]


def _aes() -> Iterator[Function]:
    yield line("init", "mbedtls_aes_init", "AES", "ctx")
    yield line("free", "mbedtls_aes_free", "AES", "ctx")
    yield line("setkey", "mbedtls_aes_setkey_enc", "AES", "ctx key key_bits", "encrypt")
    yield line("setkey", "mbedtls_aes_setkey_dec", "AES", "ctx key key_bits", "decrypt")
    yield line("crypt", "mbedtls_aes_crypt_ecb", "AES-ECB", "ctx mode input output length=16")
    yield line("crypt", "mbedtls_aes_crypt_cbc", "AES-CBC", "ctx mode length iv:16 input output")
    yield line("crypt", "mbedtls_aes_crypt_cfb128", "AES-CFB", "ctx mode length off iv:16 input output")
    yield line("crypt", "mbedtls_aes_crypt_cfb8", "AES-CFB8", "ctx mode length iv:16 input output")
    yield line("crypt", "mbedtls_aes_crypt_ofb", "AES-OFB", "ctx length off iv:16 input output", "encrypt")
    yield line("crypt", "mbedtls_aes_crypt_ctr", "AES-CTR", "ctx length off iv:16 stream:16 input output", "encrypt")
    yield line("crypt", "mbedtls_aes_crypt_xts", "AES-XTS", "ctx mode length iv:16 input output")
    for name in ("mbedtls_internal_aes_encrypt", "mbedtls_aes_encrypt"):
        yield line("crypt", name, "AES-ECB", "ctx input output length=16", "encrypt")
    for name in ("mbedtls_internal_aes_decrypt", "mbedtls_aes_decrypt"):
        yield line("crypt", name, "AES-ECB", "ctx input output length=16", "decrypt")


def _aead(mode: str) -> Iterator[Function]:
    prefix, what = f"mbedtls_{mode.lower()}", f"AES-{mode}"
    yield line("init", f"{prefix}_init", what, "ctx")
    yield line("free", f"{prefix}_free", what, "ctx")
    yield line("setkey", f"{prefix}_setkey", what, "ctx - key key_bits")


def _ccm() -> Iterator[Function]:
    arguments = "ctx length iv iv_length aad aad_length input output tag tag_length"
    for star in ("", "star_"):
        yield line("crypt", f"mbedtls_ccm_{star}encrypt_and_tag", "AES-CCM", arguments, "encrypt")
        yield line("crypt", f"mbedtls_ccm_{star}auth_decrypt", "AES-CCM", arguments, "decrypt")


def _gcm() -> Iterator[Function]:
    yield line("crypt", "mbedtls_gcm_crypt_and_tag", "AES-GCM",
               "ctx mode length iv iv_length aad aad_length input output tag_length tag")  # fmt: skip
    yield line("crypt", "mbedtls_gcm_auth_decrypt", "AES-GCM",
               "ctx length iv iv_length aad aad_length tag tag_length input output", "decrypt")  # fmt: skip
    yield line("starts", "mbedtls_gcm_starts", "AES-GCM", "ctx mode iv iv_length aad aad_length")
    yield line("update", "mbedtls_gcm_update", "AES-GCM", "ctx length input output")
    yield line("finish", "mbedtls_gcm_finish", "AES-GCM", "ctx tag tag_length")


def _des() -> Iterator[Function]:
    for name, what in (("des", "DES"), ("des3", "TDES")):
        yield line("init", f"mbedtls_{name}_init", what, "ctx")
        yield line("free", f"mbedtls_{name}_free", what, "ctx")
        yield line("crypt", f"mbedtls_{name}_crypt_ecb", f"{what}-ECB", "ctx input output length=8")
        yield line("crypt", f"mbedtls_{name}_crypt_cbc", f"{what}-CBC", "ctx mode length iv:8 input output")
    for end, direction in (("enc", "encrypt"), ("dec", "decrypt")):
        yield line("setkey", f"mbedtls_des_setkey_{end}", "DES", "ctx key key_bits=64", direction)
        yield line("setkey", f"mbedtls_des3_set2key_{end}", "TDES", "ctx key key_bits=128", direction)
        yield line("setkey", f"mbedtls_des3_set3key_{end}", "TDES", "ctx key key_bits=192", direction)


def _hash(name: str, what: str) -> Iterator[Function]:
    prefix = f"mbedtls_{name}"
    yield line("init", f"{prefix}_init", what, "ctx")
    yield line("free", f"{prefix}_free", what, "ctx")
    yield line("clone", f"{prefix}_clone", what, "ctx src")
    variant = " variant" if name == "sha256" else ""
    for end in ("", "_ret"):
        yield line("starts", f"{prefix}_starts{end}", what, f"ctx{variant}")
        yield line("update", f"{prefix}_update{end}", what, "ctx input length")
        yield line("finish", f"{prefix}_finish{end}", what, "ctx output")
        yield line("crypt", f"{prefix}{end}", what, f"input length output{variant}")
    for process in (f"mbedtls_internal_{name}_process", f"{prefix}_process"):
        yield line("block", process, what, "ctx input length=64")


def _random() -> Iterator[Function]:
    yield line("random", "mbedtls_hardware_poll", "RNG", "- output length olen")


FUNCTIONS: tuple[Function, ...] = (
    *_aes(),
    *_aead("GCM"),
    *_gcm(),
    *_aead("CCM"),
    *_ccm(),
    *_des(),
    *_hash("md5", "MD5"),
    *_hash("sha1", "SHA-1"),
    *_hash("sha256", "SHA-256"),
    *_random(),
)
