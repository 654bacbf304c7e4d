"""PSA Crypto: multi-part and one-shot functions, for ports that drive a block below them.

In mbed TLS 2.28 they call the legacy functions, whose lines then say more; the innermost known call counts.
The length of input and of output may differ, so `output_size` bounds the output. Source: the PSA header.
"""

from __future__ import annotations

from collections.abc import Iterator

from cryplab.observe.api import Function, line

__all__ = ["FUNCTIONS"]


def _functions() -> Iterator[Function]:
    yield line("starts", "psa_hash_setup", "", "ctx alg")
    yield line("update", "psa_hash_update", "", "ctx input length")
    yield line("finish", "psa_hash_finish", "", "ctx output output_size olen")
    yield line("finish", "psa_hash_verify", "", "ctx -")
    yield line("free", "psa_hash_abort", "", "ctx")
    yield line("clone", "psa_hash_clone", "", "src ctx")
    yield line("crypt", "psa_hash_compute", "", "alg input length output output_size olen")
    yield line("starts", "psa_cipher_encrypt_setup", "", "ctx - alg", "encrypt")
    yield line("starts", "psa_cipher_decrypt_setup", "", "ctx - alg", "decrypt")
    yield line("iv", "psa_cipher_set_iv", "", "ctx iv iv_length")
    yield line("update", "psa_cipher_update", "", "ctx input length output output_size olen")
    yield line("finish", "psa_cipher_finish", "", "ctx output output_size olen")
    yield line("free", "psa_cipher_abort", "", "ctx")
    yield line("crypt", "psa_cipher_encrypt", "", "- alg input length output output_size olen", "encrypt")
    yield line("crypt", "psa_cipher_decrypt", "", "- alg input length output output_size olen", "decrypt")
    yield line("starts", "psa_mac_sign_setup", "", "ctx - alg")
    yield line("starts", "psa_mac_verify_setup", "", "ctx - alg")
    yield line("update", "psa_mac_update", "", "ctx input length")
    yield line("finish", "psa_mac_sign_finish", "", "ctx output output_size olen")
    yield line("free", "psa_mac_abort", "", "ctx")
    aead = "- alg iv iv_length aad aad_length input length output output_size olen"
    yield line("crypt", "psa_aead_encrypt", "", aead, "encrypt")
    yield line("crypt", "psa_aead_decrypt", "", aead, "decrypt")
    yield line("free", "psa_aead_abort", "", "ctx")
    yield line("random", "psa_generate_random", "", "output length")


FUNCTIONS: tuple[Function, ...] = tuple(_functions())
