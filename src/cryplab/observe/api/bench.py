"""The drivers with faults that test the rules (`guest/faulty`): their API in the same form as a library's.

Names begin with `drv_`. The observer is told of this table for those programs only (`functions=`), so that a
firmware's own functions of such names are not taken for these.
"""

from __future__ import annotations

from collections.abc import Iterator

from cryplab.observe.api import Function, line

__all__ = ["FUNCTIONS"]


def _ciphers() -> Iterator[Function]:
    yield line("init", "drv_aes_init", "AES", "ctx")
    yield line("free", "drv_aes_free", "AES", "ctx")
    yield line("setkey", "drv_aes_setkey", "AES", "ctx key key_bits")
    yield line("crypt", "drv_aes_ecb", "AES-ECB", "ctx mode length input output")
    yield line("crypt", "drv_aes_cbc", "AES-CBC", "ctx mode length iv:16 input output")
    yield line("crypt", "drv_aes_ctr", "AES-CTR", "ctx length off iv:16 stream:16 input output", "encrypt")
    yield line("setkey", "drv_des_setkey", "DES", "ctx key key_bits=64")
    yield line("crypt", "drv_des_ecb", "DES-ECB", "ctx mode input output length=8")


def _aead() -> Iterator[Function]:
    yield line("setkey", "drv_gcm_setkey", "AES-GCM", "ctx key key_bits")
    yield line("crypt", "drv_gcm_crypt", "AES-GCM",
               "ctx mode length iv iv_length aad aad_length input output tag tag_length")  # fmt: skip
    yield line("crypt", "drv_gcm_open", "AES-GCM",
               "ctx length iv iv_length aad aad_length tag tag_length input output", "decrypt")  # fmt: skip
    yield line("starts", "drv_gcm_start", "AES-GCM", "ctx mode iv iv_length aad aad_length")
    yield line("update", "drv_gcm_update", "AES-GCM", "ctx length input output")
    yield line("finish", "drv_gcm_finish", "AES-GCM", "ctx tag tag_length")
    yield line("setkey", "drv_ccm_setkey", "AES-CCM", "ctx key key_bits")
    arguments = "ctx length iv iv_length aad aad_length input output tag tag_length"
    yield line("crypt", "drv_ccm_seal", "AES-CCM", arguments, "encrypt")
    yield line("crypt", "drv_ccm_open", "AES-CCM", arguments, "decrypt")


def _hash(name: str, what: str, variant: str = "") -> Iterator[Function]:
    yield line("free", f"drv_{name}_free", what, "ctx")
    yield line("starts", f"drv_{name}_starts", what, f"ctx{variant}")
    yield line("update", f"drv_{name}_update", what, "ctx input length")
    yield line("finish", f"drv_{name}_finish", what, "ctx output")
    yield line("crypt", f"drv_{name}", what, f"input length output{variant}")


def _random() -> Iterator[Function]:
    yield line("random", "drv_rng_fill", "RNG", "output length")


FUNCTIONS: tuple[Function, ...] = (
    *_ciphers(),
    *_aead(),
    *_hash("md5", "MD5"),
    *_hash("sha1", "SHA-1"),
    *_hash("sha256", "SHA-256", " variant"),
    line("clone", "drv_sha256_clone", "SHA-256", "ctx src"),
    line("digest", "drv_sha256_peek", "SHA-256", "ctx output"),
    line("starts", "drv_hmac_starts", "HMAC-SHA-256", "ctx key key_bytes"),
    line("update", "drv_hmac_update", "HMAC-SHA-256", "ctx input length"),
    line("finish", "drv_hmac_finish", "HMAC-SHA-256", "ctx output"),
    line("setkey", "drv_dma_setkey", "AES", "ctx key key_bits"),
    line("crypt", "drv_dma_cbc", "AES-CBC", "ctx length iv:16 input output", "encrypt"),
    line("crypt", "drv_dma_sha256", "SHA-256", "input length output"),
    line("crypt", "drv_cpu_sha256", "SHA-256", "input length output"),
    *_random(),
    line("setkey", "drv_task_setkey", "AES", "ctx key key_bits"),
    line("crypt", "drv_task_ecb", "AES-ECB", "ctx length input output", "encrypt"),
    line("crypt", "drv_task_sha256", "SHA-256", "input length output"),
    line("crypt", "drv_task_sha256_it", "SHA-256", "input length output"),
    line("random", "drv_task_random", "RNG", "output length"),
)
