"""The self-test with PSA Crypto on top, built as the reference firmware is."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

recipe = import_module("cryplab.guest.build")
MODULES = (
    "psa_crypto", "psa_crypto_aead", "psa_crypto_cipher", "psa_crypto_client", "psa_crypto_driver_wrappers",
    "pk", "pk_wrap", "pkparse", "pkwrite",
    "psa_crypto_ecp", "psa_crypto_hash", "psa_crypto_mac", "psa_crypto_rsa", "psa_crypto_slot_management",
)  # fmt: skip
OPTIONS = tuple(f"-DMBEDTLS_{name}_C" for name in ("PSA_CRYPTO", "PK", "PK_PARSE", "PK_WRITE"))
FUNCTIONS = (
    "crypto_init", "import_key", "destroy_key", "hash_setup", "hash_update", "hash_finish", "hash_clone", "hash_abort",
    "hash_compute", "mac_compute", "cipher_encrypt_setup", "cipher_decrypt_setup", "cipher_set_iv", "cipher_update",
    "cipher_finish", "cipher_abort", "aead_encrypt", "aead_decrypt", "generate_random", "mac_sign_setup", "mac_update",
    "mac_sign_finish", "mac_abort",
)  # fmt: skip


def build(monkeypatch: pytest.MonkeyPatch, how: str = "hardware") -> Path:
    monkeypatch.setattr(recipe, "MBEDTLS_MODULES", (*recipe.MBEDTLS_MODULES, *MODULES))
    monkeypatch.setattr(recipe, "COMMON_FLAGS", (*recipe.COMMON_FLAGS, *OPTIONS))
    monkeypatch.setattr(recipe, "KEPT", {"selftest": tuple(f"psa_{name}" for name in FUNCTIONS)})
    return recipe.build("selftest", "ublox-c030-u201", build=how)
