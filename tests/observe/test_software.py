"""Software crypto by function name, and the reason."""

from typing import Any

import pytest

from cryplab.chip import At, Chip, Flash
from cryplab.observe.profile import FunctionProfile
from cryplab.observe.software import algorithm_of, software_table
from cryplab.registers import Block
from cryplab.reports import Operation
from cryplab.symbols import Symbol, Symbols


class Cipher(Block):
    """A cipher block without GCM."""

    algorithms = ("AES-ECB", "AES-CBC", "TDES-ECB")


class CipherWithGcm(Cipher):
    """A later version."""

    algorithms = (*Cipher.algorithms, "AES-GCM")


class Hash(Block):
    """A hash block."""

    algorithms = ("SHA-1", "SHA-256")


def chip(*blocks: tuple[str, Any]) -> Chip:
    places = tuple(At(name, 0x5006_0000 + 0x400 * n, block) for n, (name, block) in enumerate(blocks))
    return Chip("stm32test", "cortex-m4", "RM0090", (Flash("FLASH", 0x0800_0000, 0x1000),), places)


def reasons(functions: list[str], target: Chip, operations: tuple[Operation, ...] = ()) -> dict[str, str]:
    profile = [
        FunctionProfile(name, 0x0800_0000 + 64 * n, cycles=100, calls=1, instructions=900)
        for n, name in enumerate(functions)
    ]
    return {row.algorithm: row.reason for row in software_table(profile, 1000, target, operations)}


@pytest.mark.parametrize(
    ("name", "file", "does"),
    [
        ("mbedtls_internal_sha256_process", "", "SHA-256"),
        ("mbedtls_internal_aes_encrypt", "", "AES"),
        ("gcm_mult", "gcm.c", "GHASH"),
        ("mbedtls_des3_crypt_ecb", "", "DES and 3DES"),
        ("mpi_mul_hlp", "bignum.c", "big numbers (RSA, ECC)"),
        ("mbedtls_mpi_core_mla", "", "big numbers (RSA, ECC)"),
        ("ecp_mod_p256", "ecp_curves.c", "elliptic curves"),
        ("sp_256_mont_mul_8", "sp_c32.c", "elliptic curves"),
        ("Transform", "sha.c", "SHA-1"),
        ("Transform", "md5.c", "MD5"),
        ("Transform", "geometry.c", None),
        ("wc_AesEncrypt", "", "AES"),
        ("memcpy", "", None),
        ("main", "", None),
    ],
)
def test_names(name: str, file: str, does: str | None) -> None:
    known = algorithm_of(name, file)
    assert (known.does if known else None) == does


def test_reasons_follow_from_the_chip() -> None:
    functions = ["mbedtls_internal_aes_encrypt", "gcm_mult", "mbedtls_internal_sha512_process", "mpi_mul_hlp"]
    bare = reasons(functions, chip())
    assert bare["AES"] == "stm32test has no hardware for it"
    small = reasons(functions, chip(("AES", Cipher), ("HASH", Hash)))
    assert small["AES"] == "AES does AES; the firmware did not use it"
    assert small["GHASH"] == "AES of stm32test has no AES-GCM"
    assert small["SHA-512"] == "HASH of stm32test has no SHA-512"
    assert small["big numbers (RSA, ECC)"] == "stm32test has no hardware for it"
    used = reasons(functions, chip(("CRYP", CipherWithGcm)), (Operation("CRYP", "AES", "ECB", key_bits=128),))
    assert used["AES"] == "CRYP does AES; the firmware used it for a part only"
    assert used["GHASH"] == "CRYP does AES-GCM; the firmware did not use it"


def test_rows_add_up() -> None:
    profile = [
        FunctionProfile("mpi_mul_hlp.constprop.0", 0x100, cycles=300, calls=3),
        FunctionProfile("mbedtls_mpi_exp_mod", 0x200, cycles=100, calls=1),
        FunctionProfile("memcpy", 0x300, cycles=500, calls=1),
    ]
    (row,) = software_table(profile, 1000, chip())
    assert (row.cycles, row.share, row.avoidable) == (400, 0.4, False)
    assert [f["name"] for f in row.as_json()["functions"]] == ["mpi_mul_hlp.constprop.0", "mbedtls_mpi_exp_mod"]


def test_drivers_are_not_software() -> None:
    """Alternatives may have the library's names: short ones, and those that start operations."""
    setkey = FunctionProfile("mbedtls_aes_setkey_enc", 0x100, cycles=300, calls=3, instructions=200)
    process = FunctionProfile("mbedtls_internal_sha256_process", 0x200, cycles=9000, calls=10, instructions=5000)
    symbols = Symbols([Symbol("mbedtls_internal_sha256_process", 0x200, 0x80)])
    started = (Operation("HASH", "SHA-256", "", pc=0x210),)
    assert software_table([setkey, process], 10_000, chip(("HASH", Hash)), started, symbols) == []
    setkey.instructions = 2000
    assert len(software_table([setkey, process], 10_000, chip(("HASH", Hash)), (), symbols)) == 2
