"""CRYP of F437 and F439 by reads and writes: registers, FIFOs, time, DMA, interrupts, odd acts."""

from __future__ import annotations

import pytest
from cryp_driver import (
    BUSY,
    CR,
    CRYPEN,
    CSGCM,
    CSGCMCCM,
    DECRYPT,
    DIN,
    DMACR,
    DOUT,
    FFLUSH,
    IFEM,
    IMSCR,
    IV,
    KEYSIZE,
    MISR,
    MODES,
    PHASE,
    RISR,
    SR,
    Driver,
    bytes_of,
    padded,
    words_of,
)
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from cryplab.blocks.cryp_v2 import CrypV2

KEY128 = bytes(range(16))
TEXT = bytes.fromhex("00112233445566778899aabbccddeeff")
CIPHER = bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a")
ECB = MODES["AES-ECB"]
LATENCY = 3


def started(mode: str = "AES-ECB", key: bytes = KEY128, datatype: int = 0, bits: int = 0) -> CrypV2:
    """A block that waits for data."""
    cryp = CrypV2("CRYP")
    driver = Driver(cryp, datatype=datatype)
    driver.configure(MODES[mode] | bits)
    driver.load_key(key)
    driver.enable()
    return cryp


def put(cryp: CrypV2, *words: int) -> None:
    for word in words:
        cryp.write(DIN, word)


def take(cryp: CrypV2, count: int) -> list[int]:
    return [cryp.read(DOUT) for _ in range(count)]


def errors(cryp: CrypV2) -> list[tuple[str, str]]:
    return [(error.rule, error.text) for error in cryp.reports.guest_errors.values()]


# -- registers -------------------------------------------------------------------------------------


def test_reset_values() -> None:
    cryp = CrypV2()
    values = {offset: cryp.read(offset) for offset in cryp.places if not 0x20 <= offset < 0x40}
    assert {offset: value for offset, value in values.items() if value} == {SR: 3, RISR: 1}
    assert max(values) == 0x8C


def test_key_registers_read_as_zero() -> None:
    cryp = CrypV2("CRYP")
    cryp.write(0x20, 0x12345678)
    assert cryp.read(0x20) == 0
    assert cryp.peek(0x20) == 0
    assert errors(cryp) == [("", "CRYP.K0LR read, but it is write only; reads as 0")]


def test_control_keeps_its_fields_and_nothing_else() -> None:
    cryp = CrypV2()
    cryp.write(CR, 0xFFFF_FFFF & ~CRYPEN)
    assert cryp.read(CR) == 0x000B_03FC


def test_narrow_and_reserved_accesses_do_nothing() -> None:
    cryp = CrypV2("CRYP")
    cryp.write(CR, 0x28, 1)
    cryp.write(DIN, 0x28, 2)
    cryp.write(0x90, 1)
    assert (cryp.read(CR), cryp.read(SR), cryp.read(0x90), cryp.read(SR, 1)) == (0, 3, 0, 0)
    assert errors(cryp)[0][1] == "CRYP+0x000 written with 8 bits; only 32 bits are legal; ignored"


# -- data ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("datatype", "words", "results"), [
    (0, (0x00112233, 0x44556677, 0x8899AABB, 0xCCDDEEFF), [0x69C4E0D8, 0x6A7B0430, 0xD8CDB780, 0x70B4C55A]),
    (1, (0x22330011, 0x66774455, 0xAABB8899, 0xEEFFCCDD), [0xE0D869C4, 0x04306A7B, 0xB780D8CD, 0xC55A70B4]),
    (2, (0x33221100, 0x77665544, 0xBBAA9988, 0xFFEEDDCC), [0xD8E0C469, 0x30047B6A, 0x80B7CDD8, 0x5AC5B470]),
    (3, (0xCC448800, 0xEE66AA22, 0xDD559911, 0xFF77BB33), [0x1B072396, 0x0C20DE56, 0x01EDB31B, 0x5AA32D0E]),
])  # fmt: skip
def test_data_types(datatype: int, words: tuple[int, ...], results: list[int]) -> None:
    cryp = started(datatype=datatype)
    put(cryp, *words)
    cryp.clock.advance(LATENCY + 14)
    assert take(cryp, 4) == results


def test_status_through_one_block() -> None:
    cryp = started()
    seen = [cryp.read(SR)]
    for word in words_of(TEXT, 0):
        put(cryp, word)
        seen.append(cryp.read(SR))
    assert seen == [0x03, 0x02, 0x02, 0x02, 0x13]
    assert cryp.read(RISR) == 1
    cryp.clock.advance(LATENCY + 14)
    seen = [cryp.read(SR)]
    assert cryp.read(RISR) == 3
    for _ in range(4):
        cryp.read(DOUT)
        seen.append(cryp.read(SR))
    assert seen == [0x07, 0x07, 0x07, 0x07, 0x03]


def test_status_while_disabled_and_with_two_results() -> None:
    cryp = started()
    cryp.write(CR, ECB)
    put(cryp, 1, 2, 3, 4)
    assert (cryp.read(SR), cryp.read(RISR)) == (0x02, 0)
    put(cryp, 5, 6, 7, 8)
    assert cryp.read(SR) == 0x00
    cryp.write(CR, ECB | CRYPEN)
    assert cryp.read(SR) == 0x12
    cryp.clock.advance(14)
    assert cryp.read(SR) == 0x17
    cryp.clock.advance(14)
    assert cryp.read(SR) == 0x0F


def test_a_full_in_fifo_loses_words() -> None:
    cryp = CrypV2("CRYP")
    put(cryp, *range(9))
    assert errors(cryp) == [("O4", "CRYP.DIN written with the IN FIFO full, the word is lost")]
    assert [cryp.read(DIN) for _ in range(9)] == [*range(8), 0]


def test_an_empty_out_fifo_reads_as_zero() -> None:
    cryp = started()
    assert take(cryp, 1) == [0]
    assert errors(cryp) == [("O4", "CRYP.DOUT read with the OUT FIFO empty, reads as 0")]


def test_data_input_reads_back_only_while_disabled() -> None:
    cryp = started()
    put(cryp, 0xAA, 0xBB)
    assert cryp.read(DIN) == 0
    assert errors(cryp) == [("", "CRYP.DIN read with CRYPEN = 1, the value is undefined; reads as 0")]
    cryp.write(CR, ECB)
    assert [cryp.read(DIN), cryp.read(DIN), cryp.read(SR)] == [0xAA, 0xBB, 3]


def test_an_aes_block_waits_for_room_and_is_not_busy() -> None:
    cryp = started()
    put(cryp, *words_of(TEXT, 0) * 2)
    cryp.clock.advance(100)
    put(cryp, *words_of(TEXT, 0))
    cryp.clock.advance(100)
    assert cryp.read(SR) == 0x0E  # full OUT FIFO, four words wait
    assert take(cryp, 3) == words_of(CIPHER, 0)[:3]
    assert cryp.read(SR) == 0x06
    take(cryp, 1)
    assert cryp.read(SR) == 0x17
    cryp.clock.advance(14)
    assert cryp.read(SR) == 0x0F
    assert take(cryp, 8) == words_of(CIPHER, 0) * 2


def test_a_des_block_is_taken_with_a_full_out_fifo_and_stays_busy() -> None:
    cryp = started("DES-ECB", bytes.fromhex("133457799bbcdff1"))
    for _ in range(5):
        put(cryp, 0x01234567, 0x89ABCDEF)
        cryp.clock.advance(100)
    assert cryp.read(SR) == BUSY | 0x0F
    assert take(cryp, 1) == [0x85E81354]
    assert cryp.read(SR) == BUSY | 0x07
    assert take(cryp, 1) == [0x0F0AB405]
    assert cryp.read(SR) == 0x0F
    assert take(cryp, 8) == [0x85E81354, 0x0F0AB405] * 4


def test_a_header_block_needs_no_room() -> None:
    cryp = started()
    put(cryp, *range(8))
    cryp.clock.advance(100)
    cryp.write(CR, MODES["AES-GCM"] | PHASE | CRYPEN)
    put(cryp, *range(4))
    assert cryp.read(SR) == 0x1F
    cryp.clock.advance(LATENCY + 10)
    assert cryp.read(SR) == 0x0F


def test_a_des_result_without_room_lands_after_a_flush() -> None:
    cryp = started("DES-ECB", bytes.fromhex("133457799bbcdff1"))
    for _ in range(5):
        put(cryp, 0x01234567, 0x89ABCDEF)
        cryp.clock.advance(100)
    cryp.write(CR, MODES["DES-ECB"] | FFLUSH)
    assert cryp.read(SR) == 0x07
    assert take(cryp, 2) == [0x85E81354, 0x0F0AB405]


def test_disabled_while_busy_the_block_is_finished() -> None:
    cryp = started()
    put(cryp, *words_of(TEXT, 0))
    cryp.write(CR, ECB)
    assert cryp.read(SR) == 0x13
    cryp.clock.advance(LATENCY + 14)
    assert take(cryp, 4) == words_of(CIPHER, 0)


# -- flush -----------------------------------------------------------------------------------------


def test_flush_works_only_while_disabled() -> None:
    cryp = started()
    put(cryp, 1, 2)
    cryp.write(CR, ECB | CRYPEN | FFLUSH)
    assert cryp.read(SR) == 0x02
    cryp.write(CR, ECB | FFLUSH)
    assert (cryp.read(SR), cryp.read(CR)) == (3, ECB)


def test_a_block_in_progress_lands_after_the_flush() -> None:
    cryp = started()
    put(cryp, *words_of(TEXT, 0))
    cryp.write(CR, ECB | FFLUSH)
    assert cryp.read(SR) == 0x13
    cryp.clock.advance(LATENCY + 14)
    assert cryp.read(SR) == 0x07


# -- write protection ------------------------------------------------------------------------------


def test_key_iv_and_configuration_are_closed_while_busy() -> None:
    cryp = started()
    put(cryp, *words_of(TEXT, 0))
    cryp.write(0x30, 0xFFFF_FFFF)
    cryp.write(IV, 0xFFFF_FFFF)
    cryp.write(CSGCM, 0xFFFF_FFFF)
    cryp.write(CR, MODES["AES-GCM"] | 2 * PHASE | DECRYPT | CRYPEN | 0x3C0)
    assert cryp.read(CR) == ECB | 2 * PHASE | CRYPEN
    assert errors(cryp) == [
        ("O5", "CRYP.K2LR written while BUSY, ignored"),
        ("O5", "CRYP.IV0LR written while BUSY, ignored"),
        ("O5", "CRYP.CSGCM0R written while BUSY, ignored"),
        ("O5", "CRYP.CR: bits of ALGOMODE3 KEYSIZE=reserved DATATYPE=1-bit ALGOMODE=AES-ECB ALGODIR changed while "
               "BUSY; they keep their values"),
    ]  # fmt: skip
    cryp.clock.advance(LATENCY + 14)
    assert take(cryp, 4) == words_of(CIPHER, 0)
    put(cryp, *words_of(TEXT, 0))  # the key is still the old one
    cryp.clock.advance(LATENCY + 14)
    assert take(cryp, 4) == words_of(CIPHER, 0)
    assert cryp.read(IV) == 0


def test_between_blocks_the_key_may_change_with_cryp_enabled() -> None:
    cryp = started()
    for i in range(4):
        cryp.write(0x30 + 4 * i, 0)
    put(cryp, 0, 0, 0, 0)
    cryp.clock.advance(100)
    assert bytes_of(take(cryp, 4), 0).hex() == "66e94bd4ef8a2c3b884cfa59ca342b2e"
    assert errors(cryp) == []


def test_context_registers_read_while_busy_are_reported() -> None:
    cryp = started()
    put(cryp, *words_of(TEXT, 0))
    cryp.read(CSGCMCCM)
    assert errors(cryp) == [("O5", "CRYP.CSGCMCCM0R read while BUSY, the state is in motion")]


def test_reserved_settings_are_reported() -> None:
    cryp = CrypV2("CRYP")
    cryp.write(CR, MODES["AES-GCM"] | 0x10 | CRYPEN)
    put(cryp, 1, 2, 3, 4)
    assert cryp.read(SR) == 2
    cryp.write(CR, 0)
    cryp.write(CR, ECB | 0x300 | CRYPEN)
    assert errors(cryp) == [
        ("O19", "CRYP.CR: ALGOMODE = 10 is reserved; no block is processed"),
        ("O19", "CRYP.CR: KEYSIZE = 3 is reserved; taken as 256 bits"),
    ]


# -- keys and chaining -----------------------------------------------------------------------------


def decrypted(cryp: CrypV2, key: bytes, data: bytes) -> bytes:
    """ECB decryption with whatever form of key is given."""
    driver = Driver(cryp)
    driver.configure(ECB | DECRYPT | KEYSIZE[len(key)])
    driver.load_key(key)
    driver.enable()
    return driver.stream(data)


def test_decryption_wants_the_end_of_the_key_schedule() -> None:
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")  # FIPS 197 appendix A.1 and B
    prepared = bytes.fromhex("d014f9a8c9ee2589e13f0cc8b6630ca6")
    text, data = bytes.fromhex("3243f6a8885a308d313198a2e0370734"), bytes.fromhex("3925841d02dc09fbdc118597196a0b32")
    assert decrypted(CrypV2(), prepared, data) == text
    assert decrypted(CrypV2(), key, data) != text


def test_a_prepared_key_no_longer_encrypts() -> None:
    cryp = CrypV2()
    driver = Driver(cryp)
    driver.prepare_key(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"))
    driver.configure(ECB)
    driver.enable()
    expected = Cipher(algorithms.AES(bytes.fromhex("d014f9a8c9ee2589e13f0cc8b6630ca6")), modes.ECB()).encryptor()
    assert driver.stream(TEXT) == expected.update(TEXT)


def test_key_preparation_clears_cryp_enable() -> None:
    cryp = started("KEYPREP")
    assert (cryp.read(SR), cryp.read(CR) & CRYPEN) == (0x13, CRYPEN)
    cryp.clock.advance(13)
    assert cryp.read(SR) == 0x13
    cryp.clock.advance(1)
    assert (cryp.read(CR), cryp.read(SR)) == (MODES["KEYPREP"], 3)


def test_key_preparation_starts_also_when_already_enabled() -> None:
    cryp = started()
    cryp.write(CR, MODES["KEYPREP"] | CRYPEN)
    assert cryp.read(SR) == 0x13
    cryp.clock.advance(14)
    assert cryp.read(CR) == MODES["KEYPREP"]


def test_chaining_value_reads_back() -> None:
    cryp = CrypV2()
    driver = Driver(cryp)
    iv = bytes(range(16, 32))
    out = driver.cipher("AES-CBC", KEY128, iv, TEXT * 2)
    assert bytes_of([cryp.read(IV + 4 * i) for i in range(4)], 0) == out[16:]
    assert driver.cipher("AES-CBC", KEY128, iv, out, decrypt=True) == TEXT * 2
    assert bytes_of([cryp.read(IV + 4 * i) for i in range(4)], 0) == out[16:]
    out = driver.cipher("TDES-CBC", bytes(range(24)), bytes(8), TEXT)
    assert bytes_of([cryp.read(IV + 4 * i) for i in range(2)], 0) == out[8:]


def test_the_counter_wraps_in_its_own_word() -> None:
    cryp = CrypV2()
    Driver(cryp).cipher("AES-CTR", KEY128, b"\xff" * 16, bytes(32))
    assert [cryp.read(IV + 4 * i) for i in range(4)] == [0xFFFF_FFFF] * 3 + [1]


def test_des_example_with_bytes_swapped() -> None:
    cryp = started("DES-ECB", bytes.fromhex("133457799bbcdff1"), datatype=2)
    put(cryp, 0x67452301, 0xEFCDAB89)
    cryp.clock.advance(LATENCY + 16)
    assert take(cryp, 2) == [0x5413E885, 0x05B40A0F]


# -- GCM and CCM -----------------------------------------------------------------------------------

GCM_KEY = bytes.fromhex("feffe9928665731c6d6a8f9467308308")
GCM_AAD = bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
GCM_TEXT = bytes.fromhex(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
)
GCM_IV = bytes.fromhex("cafebabefacedbaddecaf888")


def words_at(cryp: CrypV2, offset: int) -> str:
    return bytes_of([cryp.read(offset + 4 * i) for i in range(4)], 0).hex()


@pytest.mark.parametrize("datatype", [0, 2])
def test_gcm_trace_with_a_short_last_block(datatype: int) -> None:
    """Test case 4: 60 bytes of text, 20 of additional data."""
    cryp = CrypV2()
    driver = Driver(cryp, datatype=datatype)
    driver.configure(MODES["AES-GCM"])
    driver.load_key(GCM_KEY)
    driver.load_iv(GCM_IV + b"\0\0\0\2")
    driver.enable()
    driver.wait(CRYPEN, 0, CR)
    assert words_at(cryp, CSGCM) == "b83b533708bf535d0aa6e52980d53b78"
    assert cryp.read(CSGCMCCM + 28) == 3
    driver.phase(1)
    driver.stream(padded(GCM_AAD), output=False)
    assert words_at(cryp, CSGCMCCM) == "cd47221ccef0554ee4bb044c88150352"
    driver.phase(2)
    driver.stream(GCM_TEXT[:48])
    assert words_at(cryp, CSGCMCCM) == "ca7dd446af4aa70cc3c0cd5abba6aa1c"
    assert (cryp.read(IV + 12), cryp.read(CSGCMCCM + 28)) == (5, 6)
    driver.disable()
    cryp.write(IV + 12, cryp.read(CSGCMCCM + 28) - 1)
    driver.configure(MODES["AES-CTR"] | 2 * PHASE)
    driver.enable()
    last = driver.stream(padded(GCM_TEXT[48:]))
    assert last.hex() == "1ba30b396a0aac973d58e0915d908bd0"
    cryp.write(CR, cryp.read(CR) & ~MODES["AES-CTR"] | MODES["AES-GCM"])
    cryp.write(CR, cryp.read(CR) | 3 * PHASE)
    assert driver.stream(padded(last[:12])).hex() == "27d7c7d012f91f26c459af7ea0f73168"
    driver.phase(3)
    put(cryp, *((0, 0xA0, 0, 0x1E0) if datatype == 0 else (0, 0xA000_0000, 0, 0xE001_0000)))
    driver.wait(BUSY, 0)
    assert take(cryp, 4) == [
        [0x5BC94FBC, 0x3221A5DB, 0x94FAE95A, 0xE7121A47], None, [0xBC4FC95B, 0xDBA52132, 0x5AE9FA94, 0x471A12E7],
    ][datatype]  # fmt: skip
    assert errors(cryp) == []


def test_gcm_phases_may_change_with_cryp_enabled() -> None:
    cryp = CrypV2()
    driver = Driver(cryp)
    expected = driver.gcm(GCM_KEY, GCM_IV, GCM_AAD, GCM_TEXT[:48])
    driver.disable = lambda: None  # type: ignore[method-assign]
    driver.configure(0)
    assert driver.gcm(GCM_KEY, GCM_IV, GCM_AAD, GCM_TEXT[:48]) == expected


CCM_KEY = bytes(range(0x40, 0x50))


@pytest.mark.parametrize(("datatype", "b0", "b1", "text", "counter", "tag"), [
    (0, (0x4F101112, 0x13141516, 0, 4), (0x00080001, 0x02030405, 0x06070000, 0), (0x20212223, 0, 0, 0),
     (0x07101112, 0x13141516, 0, 0), [0x4DAC255D, 0x226347D6, 0x320E60D1, 0x00C9C45F]),
    (2, (0x1211104F, 0x16151413, 0, 0x04000000), (0x01000800, 0x05040302, 0x00000706, 0), (0x23222120, 0, 0, 0),
     (0x12111007, 0x16151413, 0, 0), [0x5D25AC4D, 0xD6476322, 0xD1600E32, 0x5FC4C900]),
])  # fmt: skip
def test_ccm_trace(
    datatype: int,
    b0: tuple[int, ...],
    b1: tuple[int, ...],
    text: tuple[int, ...],
    counter: tuple[int, ...],
    tag: list[int],
) -> None:
    """SP 800-38C example 1. In this version DATATYPE also acts on B0 and on counter block 0."""
    cryp = CrypV2()
    driver = Driver(cryp, datatype=datatype)
    driver.configure(MODES["AES-CCM"])
    driver.load_key(CCM_KEY)
    driver.load_iv(bytes.fromhex("07101112131415160000000000000001"))
    driver.enable()
    put(cryp, *b0)
    driver.wait(CRYPEN, 0, CR)
    assert words_at(cryp, CSGCMCCM) == "2ad239bb229b8fb46e308f5bc7409b88"
    assert cryp.read(CSGCMCCM + 28) == 1
    driver.phase(1)
    put(cryp, *b1)
    driver.wait(BUSY | IFEM, IFEM)
    assert words_at(cryp, CSGCMCCM) == "2e3b95530ad7c90268caf2c597c49292"
    driver.phase(2)
    put(cryp, *text)
    driver.wait(BUSY, 0)
    assert bytes_of(take(cryp, 4), datatype).hex() == "7162015be474b33971318484103cddfb"
    assert words_at(cryp, CSGCMCCM) == "6084341b32042bf000b4b7995553a3c5"
    driver.phase(3)
    put(cryp, *counter)
    driver.wait(BUSY, 0)
    assert take(cryp, 4) == tag


def test_ccm_enabled_again_in_the_init_phase_keeps_its_state() -> None:
    cryp = CrypV2()
    driver = Driver(cryp)
    driver.configure(MODES["AES-CCM"])
    driver.load_key(CCM_KEY)
    put(cryp, 0x1211104F, 0x16151413, 0, 0x04000000)
    driver.enable()
    driver.wait(CRYPEN, 0, CR)
    driver.enable()
    cryp.clock.advance(100)
    assert (words_at(cryp, CSGCMCCM), cryp.read(SR)) == ("2ad239bb229b8fb46e308f5bc7409b88", 3)


def test_the_counter_word_shows_and_does_not_set() -> None:
    cryp = CrypV2()
    driver = Driver(cryp)
    driver.load_iv(GCM_IV + b"\0\0\0\2")
    cryp.write(CSGCMCCM + 28, 99)
    assert (cryp.read(IV + 12), cryp.read(CSGCMCCM + 28)) == (2, 99)


# -- time ------------------------------------------------------------------------------------------

PER_BLOCK = [  # RM0090's table, key preparation as in its text
    ("AES-ECB", 0, (14, 16, 18)), ("AES-CBC", 0, (14, 16, 18)), ("AES-CTR", 0, (14, 16, 18)),
    ("AES-GCM", 1, (10, 10, 10)), ("AES-GCM", 2, (14, 16, 18)), ("AES-GCM", 3, (14, 16, 18)),
    ("AES-CCM", 0, (12, 14, 16)), ("AES-CCM", 1, (14, 16, 18)),
    ("AES-CCM", 2, (25, 29, 33)), ("AES-CCM", 3, (14, 16, 18)),
]  # fmt: skip


def busy_cycles(cryp: CrypV2) -> int:
    cycles = 0
    while cryp.read(SR) & BUSY:
        cryp.clock.advance(1)
        cycles += 1
    return cycles


@pytest.mark.parametrize(("mode", "phase", "cycles"), PER_BLOCK)
def test_cycles_of_a_block(mode: str, phase: int, cycles: tuple[int, ...]) -> None:
    for size, expected in zip((16, 24, 32), cycles, strict=True):
        cryp = started(mode, bytes(size), bits=phase * PHASE | KEYSIZE[size])
        put(cryp, 1, 2, 3, 4)
        assert busy_cycles(cryp) == LATENCY + expected


@pytest.mark.parametrize(("mode", "cycles"), [("AES-GCM", (24, 28, 32)), ("KEYPREP", (14, 16, 18))])
def test_cycles_without_data(mode: str, cycles: tuple[int, ...]) -> None:
    for size, expected in zip((16, 24, 32), cycles, strict=True):
        assert busy_cycles(started(mode, bytes(size), bits=KEYSIZE[size])) == expected


@pytest.mark.parametrize(("mode", "cycles"), [("DES-CBC", 16), ("TDES-CBC", 48), ("DES-ECB", 16), ("TDES-ECB", 48)])
def test_cycles_of_des(mode: str, cycles: int) -> None:
    cryp = started(mode, bytes(24))
    put(cryp, 1, 2)
    assert busy_cycles(cryp) == LATENCY + cycles


def test_a_waiting_block_follows_at_once() -> None:
    cryp = started()
    put(cryp, *range(8))
    assert busy_cycles(cryp) == LATENCY + 2 * 14


def test_two_blocks_after_a_pause_start_when_they_come() -> None:
    cryp = started()
    put(cryp, *range(4))
    cryp.clock.advance(1000)
    put(cryp, *range(8))
    cryp.clock.advance(LATENCY + 13)
    assert cryp.read(SR) == 0x16
    assert take(cryp, 4)
    assert busy_cycles(cryp) == 1 + 14


def test_speed() -> None:
    cryp = started()
    cryp.speed = "slow"
    put(cryp, 1, 2, 3, 4)
    assert busy_cycles(cryp) == LATENCY + 8 * 14
    cryp.speed = "fast"
    put(cryp, 1, 2, 3, 4)
    assert cryp.read(SR) == 0x0F
    with pytest.raises(ValueError, match="speed is normal, slow or fast, not 'brisk'"):
        cryp.speed = "brisk"


# -- interrupts and DMA ----------------------------------------------------------------------------


def test_input_interrupt_below_four_words_and_only_enabled() -> None:
    cryp = CrypV2()
    cryp.write(CR, ECB)
    cryp.write(IMSCR, 1)
    assert (cryp.read(RISR), cryp.read(MISR), cryp.irq.level) == (1, 0, False)
    cryp.write(CR, ECB | CRYPEN)
    assert (cryp.read(MISR), cryp.irq.level) == (1, True)
    put(cryp, 1, 2, 3, 4)
    assert cryp.irq.level  # the block is in the core, the FIFO empty
    put(cryp, 1, 2, 3)
    assert cryp.irq.level
    put(cryp, 4)
    assert (cryp.read(RISR), cryp.irq.level) == (0, False)
    cryp.write(IMSCR, 0)
    assert not cryp.irq.level


def test_output_interrupt_rises_at_the_end_of_the_block_without_an_access() -> None:
    cryp = started()
    cryp.write(IMSCR, 2)
    rises = []
    cryp.irq.connect(lambda level: rises.append((cryp.clock.now, level)))
    put(cryp, 1, 2, 3, 4)
    cryp.clock.advance(100)
    take(cryp, 3)
    assert cryp.irq.level
    take(cryp, 1)
    assert rises == [(0, False), (LATENCY + 14, True), (100, False)]


def test_unmasked_in_the_middle_of_a_block() -> None:
    cryp = started()
    put(cryp, 1, 2, 3, 4)
    cryp.write(IMSCR, 2)
    cryp.clock.advance(LATENCY + 14)
    assert cryp.irq.level


def test_dma_requests_are_worth_a_block() -> None:
    cryp = started()
    cryp.write(DMACR, 3)
    assert (cryp.dma_in.words, cryp.dma_out.words) == (4, 0)
    for word in (1, 2, 3, 4):
        put(cryp, word)
        cryp.dma_in.moved()
    assert cryp.dma_in.words == 4  # the block was taken, the next may come
    cryp.clock.advance(LATENCY + 14)
    assert cryp.dma_out.words == 4
    take(cryp, 1)
    cryp.dma_out.moved()
    assert cryp.dma_out.words == 3  # stands for the rest of the block
    cryp.write(DMACR, 1)
    assert (cryp.dma_in.words, cryp.dma_out.words) == (4, 0)
    cryp.write(CR, ECB)
    assert cryp.dma_in.words == 0


def test_des_requests_are_worth_two_words() -> None:
    cryp = started("DES-ECB", bytes(8))
    cryp.write(DMACR, 3)
    assert cryp.dma_in.words == 2
    put(cryp, 1, 2)
    cryp.clock.advance(LATENCY + 16)
    assert cryp.dma_out.words == 2


# -- operations ------------------------------------------------------------------------------------


def operations(cryp: CrypV2) -> list[tuple[str, str, int, int, int]]:
    cryp.finish()
    return [(op.name, op.direction, op.data_bytes, op.busy_cycles, op.words_in) for op in cryp.reports.operations]


def test_each_job_is_one_operation() -> None:
    cryp = CrypV2()
    driver = Driver(cryp)
    driver.cipher("AES-CBC", bytes(32), bytes(16), bytes(64))
    driver.cipher("AES-CBC", bytes(16), bytes(16), bytes(32), decrypt=True)
    driver.cipher("TDES-ECB", bytes(24), b"", bytes(8))
    driver.enable()  # nothing done
    driver.disable()
    assert operations(cryp) == [
        ("AES-CBC-256", "encrypt", 64, 4 * 18, 16),
        ("AES-CBC-128", "decrypt", 32, 14 + 2 * 14, 8),
        ("TDES-ECB", "encrypt", 8, 48, 2),
    ]


def test_gcm_and_ccm_are_one_operation_over_all_phases() -> None:
    cryp = CrypV2()
    driver = Driver(cryp)
    driver.gcm(GCM_KEY, GCM_IV, GCM_AAD, GCM_TEXT)
    driver.ccm(CCM_KEY, bytes(13), b"a", bytes(20), 8, decrypt=True)
    driver.gcm(GCM_KEY, GCM_IV, GCM_AAD, b"")
    assert operations(cryp) == [
        ("AES-GCM-128", "encrypt", 64, 24 + 2 * 10 + 3 * 14 + 14 + 14 + 14, 32),
        ("AES-CCM-128", "decrypt", 32, 12 + 14 + 25 + 14 + 14 + 14, 24),
        ("AES-GCM-128", "encrypt", 0, 24 + 2 * 10 + 14, 12),
    ]


def test_a_new_key_ends_the_operation() -> None:
    cryp = started()
    put(cryp, 1, 2, 3, 4)
    cryp.clock.advance(20)
    cryp.write(0x30, 5)
    put(cryp, 1, 2, 3, 4)
    assert [op[2] for op in operations(cryp)] == [16, 16]


def test_gcm_interrupted_by_another_key_is_two_operations() -> None:
    cryp = CrypV2()
    driver = Driver(cryp)

    def interrupt(driver: Driver) -> None:
        context = driver.save()
        driver.restore(context)

    driver.pause = interrupt
    driver.gcm(GCM_KEY, GCM_IV, b"", bytes(32))
    assert operations(cryp) == [
        ("AES-GCM-128", "encrypt", 16, 24 + 14, 4),
        ("AES-GCM-128", "encrypt", 16, 14 + 14, 8),
    ]


def test_times_of_an_operation_and_its_dma() -> None:
    cryp = CrypV2()
    cryp.clock.advance(1000)
    Driver(cryp, "dma").cipher("AES-ECB", bytes(16), b"", bytes(16))
    (operation,) = cryp.reports.operations
    assert operation.dma
    assert operation.first_cycle == 1000
    assert 1000 + 14 < operation.last_cycle == cryp.clock.now


# -- life ------------------------------------------------------------------------------------------


def test_reset_ends_everything() -> None:
    cryp = started()
    cryp.write(IMSCR, 3)
    put(cryp, *range(7))
    cryp.reset()
    assert (cryp.read(CR), cryp.read(SR), cryp.read(IMSCR), cryp.irq.level) == (0, 3, 0, False)
    cryp.clock.advance(100)
    assert cryp.read(SR) == 3
    assert [op[2] for op in operations(cryp)] == [16]


def test_snapshot_in_the_middle_of_a_block() -> None:
    cryp = started("AES-CBC", datatype=2)
    cryp.write(IMSCR, 2)
    put(cryp, *range(6))
    block, clock = cryp.save(), cryp.clock.save()

    def rest() -> list[int]:
        cryp.clock.advance(LATENCY + 14)
        put(cryp, 6, 7)
        assert cryp.irq.level
        seen = [cryp.read(SR), *take(cryp, 4)]
        cryp.clock.advance(100)
        return [*seen, *take(cryp, 4), cryp.read(IV)]

    expected = rest()
    cryp.load(block)
    cryp.clock.load(clock)
    assert rest() == expected


def test_peek_sees_the_present_and_takes_nothing() -> None:
    cryp = started()
    put(cryp, *words_of(TEXT, 0))
    assert cryp.peek(SR) == 0x13
    cryp.clock.advance(100)
    assert (cryp.peek(SR), cryp.peek(RISR), cryp.peek(CR)) == (7, 3, ECB | CRYPEN)
    assert take(cryp, 4) == words_of(CIPHER, 0)
