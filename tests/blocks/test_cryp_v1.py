"""CRYP of F2 and F41x: its registers, published vectors by all ways, and what it has not."""

from __future__ import annotations

import pytest
from cryp_driver import CR, CRYPEN, CSGCMCCM, DIN, MODES, OFNE, SR, WAYS, Driver
from test_cryp_v2_vectors import AES_FILES, CTR_FILES, TDES_FILES, check_cipher, lines

from cryplab.blocks.cryp_v1 import CrypV1
from cryplab.blocks.cryp_v2 import CrypV2
from cryplab.check.vectors import cavp_records

each_way = pytest.mark.parametrize("way", WAYS)


def run(files: dict[str, str], way: str, every: int) -> int:
    """A sample of each file, another one for each way; DATATYPE goes round."""
    cryp, done = CrypV1(), 0
    for name, mode in files.items():
        for i, record in enumerate(cavp_records(lines(*name.split("/")))):
            if i % every == WAYS.index(way) % every:
                driver = Driver(cryp, way, i % 4)  # type: ignore[arg-type]
                done += check_cipher(driver, mode, record)
    assert not cryp.reports.guest_errors
    return done


@each_way
def test_aes_ecb_and_cbc(way: str) -> None:
    assert run(AES_FILES, way, 30) > 120


@each_way
def test_rfc_3686(way: str) -> None:
    assert run(CTR_FILES, way, 1) == 9


@each_way
def test_tdes_and_des(way: str) -> None:
    assert run(TDES_FILES, way, 15) > 120


def test_it_is_version_2_without_gcm_and_ccm() -> None:
    assert set(CrypV2.places) - set(CrypV1.places) == set(range(0x50, 0x90, 4))
    assert {f.name for f in CrypV2.CR.fields} - {f.name for f in CrypV1.CR.fields} == {"ALGOMODE3", "GCM_CCMPH"}
    assert set(CrypV2.algorithms) - set(CrypV1.algorithms) == {"AES-GCM", "AES-CCM"}


def test_bits_of_gcm_stay_0_and_leave_the_mode_alone() -> None:
    cryp = CrypV1()
    cryp.write(CR, MODES["AES-GCM"] | 3 << 16)
    assert cryp.read(CR) == 0
    cryp.write(CR, MODES["AES-GCM"] | MODES["AES-ECB"])
    assert cryp.read(CR) == MODES["AES-ECB"]


def test_writes_to_where_version_2_has_context_registers_are_harmless() -> None:
    cryp = CrypV1("CRYP")
    cryp.write(CSGCMCCM, 0xFFFF_FFFF)
    assert cryp.read(CSGCMCCM) == 0
    assert "no register is there" in next(iter(cryp.reports.guest_errors.values())).text
    driver = Driver(cryp)  # type: ignore[arg-type]
    key, text = bytes(range(16)), bytes.fromhex("00112233445566778899aabbccddeeff")
    assert driver.cipher("AES-ECB", key, b"", text).hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"  # FIPS 197, C.1


@pytest.mark.parametrize(("mode", "key_bytes", "words", "cycles"), [
    ("AES-ECB", 16, 4, 14), ("AES-ECB", 24, 4, 16), ("AES-ECB", 32, 4, 18),
    ("DES-ECB", 8, 2, 16), ("TDES-ECB", 24, 2, 48),
])  # fmt: skip
def test_time_of_a_block(mode: str, key_bytes: int, words: int, cycles: int) -> None:
    """From the block's last word; up to 4 cycles more pass before the result shows (the FIFO's)."""
    cryp = CrypV1()
    cryp.write(CR, MODES[mode] | {16: 0, 24: 1, 32: 2}.get(key_bytes, 0) << 8 | CRYPEN)
    for _ in range(words):
        cryp.write(DIN, 0)
    assert not cryp.read(SR) & OFNE
    cryp.clock.advance(cycles - 1)
    assert not cryp.read(SR) & OFNE
    cryp.clock.advance(5)
    assert cryp.read(SR) & OFNE
