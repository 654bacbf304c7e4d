"""HASH version 2 through its registers: sequence, flags, counters, time, interrupts, DMA, context swap, reports."""

from __future__ import annotations

import hashlib
import hmac
import random
import struct

import pytest
from hash_driver import (
    ALGO,
    BUSY,
    CR,
    CSR,
    DCAL,
    DCIS,
    DIN,
    DINIS,
    DINNE,
    DMAE,
    DMAS,
    HR,
    HRA,
    IMR,
    INIT,
    MDMAT,
    MODE,
    SR,
    STR,
    HashDriver,
    TinyDma,
    din_words,
)  # fmt: skip
from hypothesis import given, settings
from hypothesis import strategies as st

from cryplab.blocks.hash_v2 import HashV2
from cryplab.errors import StrictError
from cryplab.reports import Reports

LIBRARY = {"MD5": "md5", "SHA-1": "sha1", "SHA-224": "sha224", "SHA-256": "sha256"}
ALGORITHMS = tuple(ALGO)
MESSAGE = bytes(i * 7 + 3 & 0xFF for i in range(1024))
ABC = {
    "MD5": "900150983cd24fb0d6963f7d28e17f72",
    "SHA-1": "a9993e364706816aba3e25717850c26c9cd0d89d",
    "SHA-224": "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
    "SHA-256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
}
LENGTHS = (0, 1, 3, 4, 55, 56, 59, 60, 61, 63, 64, 65, 67, 68, 69, 119, 120, 127, 128, 129, 132, 200, 1000)


def digest(algorithm: str, message: bytes, key: bytes | None = None) -> bytes:
    if key is None:
        return hashlib.new(LIBRARY[algorithm], message).digest()
    return hmac.new(key, message, LIBRARY[algorithm]).digest()


@pytest.fixture
def driver() -> HashDriver:
    return HashDriver()


def errors(driver: HashDriver) -> list[str]:
    return [error.text for error in driver.block.reports.guest_errors.values()]


# -- registers ---------------------------------------------------------------------------------


def test_reset_values() -> None:
    block = HashV2("HASH")
    assert [block.read(offset) for offset in (CR, DIN, STR, IMR, SR)] == [0, 0, 0, 0, 1]
    assert [block.read(HR + 4 * n) for n in range(8)] == [0] * 8
    block = HashV2("HASH")
    assert [block.read(CSR + 4 * n) for n in range(1, 54) if not 4 <= n <= 8] == [0] * 48
    assert block.read(CSR) == 2


def test_init_and_dcal_read_zero_and_settings_read_back(driver: HashDriver) -> None:
    driver.write(CR, ALGO["SHA-256"] | MODE | 1 << 16 | MDMAT | 3 << 4)
    assert driver.read(CR) == ALGO["SHA-256"] | MODE | 1 << 16 | MDMAT | 3 << 4
    driver.write(CR, ALGO["MD5"] | INIT)
    assert driver.read(CR) == ALGO["MD5"]
    driver.write(STR, DCAL | 5)
    assert driver.read(STR) == 0


def test_narrow_access_is_refused(driver: HashDriver) -> None:
    driver.block.write(DIN, 0x12, 1)
    assert not driver.read(CR) & DINNE
    assert errors(driver) == ["HASH+0x004 written with 8 bits; only 32 bits are legal; ignored"]


def test_din_reads_as_the_last_word(driver: HashDriver) -> None:
    driver.start("SHA-1")
    driver.write(DIN, 0xCAFE_F00D)
    assert driver.read(DIN) == 0xCAFE_F00D


# -- digests -----------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_abc_in_every_datatype(driver: HashDriver, algorithm: str) -> None:
    for datatype in range(4):
        assert driver.polled(algorithm, b"abc", datatype=datatype).hex() == ABC[algorithm]


def test_worked_examples_of_the_facts(driver: HashDriver) -> None:
    driver.start("SHA-1", 2)
    driver.write(STR, 24)
    driver.write(DIN, 0x0063_6261)
    driver.write(STR, DCAL)  # NBLW = 0 in this write is ignored
    driver.wait(DCIS)
    assert [driver.read(HR + 4 * n) for n in range(6)] == [
        0xA9993E36, 0x4706816A, 0xBA3E2571, 0x7850C26C, 0x9CD0D89D, 0,
    ]  # fmt: skip
    driver.start("MD5", 2)
    driver.write(DIN, 0x0063_6261)
    driver.write(STR, DCAL)
    driver.wait(DCIS)
    assert [driver.read(HRA + 4 * n) for n in range(5)] == [0x90015098, 0x3CD24FB0, 0xD6963F7D, 0x28E17F72, 0]


@pytest.mark.parametrize(("datatype", "word"), [(2, 0x98), (3, 0x19)])
def test_five_bits(driver: HashDriver, datatype: int, word: int) -> None:
    driver.start("SHA-1", datatype)
    driver.write(DIN, word)
    driver.calculate(5)
    driver.wait(DCIS)
    assert driver.digest("SHA-1").hex() == "29826b003b906e660eff4027ce98af3531ac75ba"


def test_bit_lengths_beyond_a_block(driver: HashDriver) -> None:
    # NIST SHAVS example, 611 bits
    message = bytes.fromhex(
        "3e740371c810c2b99fc04e804907ef7cf26be28b57cb58a3e2f3c007166e49c12e9ba34c0104069129ea7615642545703a2bd901e16eb0"
        "e05deba014ebff6406a07d54364eff742da779b0b3a0"
    )
    expected = "3e9ad6468bbbad2ac3c2cdc292e018ba5fd70b960cf1679777fce708fdb066e9"
    for datatype in range(4):
        assert driver.polled("SHA-256", message, 611, datatype=datatype).hex() == expected


def test_68_bytes_start_a_block_before_dcal(driver: HashDriver) -> None:
    assert driver.polled("SHA-1", bytes(range(0x44))).hex() == "86151d140aafc9a4b5877d3fbb49014fe5906e57"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("means", ["polled", "by_interrupt", "by_dma"])
def test_lengths_around_blocks(driver: HashDriver, algorithm: str, means: str) -> None:
    for length in LENGTHS:
        assert getattr(driver, means)(algorithm, MESSAGE[:length]) == digest(algorithm, MESSAGE[:length]), length
    assert not errors(driver)


@pytest.mark.parametrize("means", ["polled", "by_interrupt", "by_dma"])
def test_hmac_keys_short_and_long(driver: HashDriver, means: str) -> None:
    for algorithm in ALGORITHMS:
        for key_bytes in (0, 1, 20, 62, 63, 64, 65, 100, 128, 130):
            key = MESSAGE[:key_bytes]
            for length in (0, 5, 64, 100):
                got = getattr(driver, means)(algorithm, MESSAGE[:length], key=key)
                assert got == digest(algorithm, MESSAGE[:length], key), (algorithm, key_bytes, length)
    assert not errors(driver)


def test_hmac_vector_of_the_manual(driver: HashDriver) -> None:
    got = driver.polled("SHA-1", b"Sample message for keylen=blocklen", key=bytes(range(64)))
    assert got.hex() == "5fd596ee78d5553c8ff4e72d266dfd192366da29"


def test_hmac_shows_dcis_only_at_the_end(driver: HashDriver) -> None:
    driver.start("SHA-256", 2, b"key")
    for part in (b"key", b"text"):
        driver.feed(part)
        assert not driver.read(SR) & DINIS
        driver.calculate(8 * len(part))
        driver.wait(BUSY, False)
        assert driver.read(SR) & (DINIS | DCIS) == DINIS
    driver.feed(b"key")
    driver.calculate(24)
    driver.wait(DCIS)
    assert driver.digest("SHA-256") == digest("SHA-256", b"text", b"key")


def test_hmac_phases_without_any_wait(driver: HashDriver) -> None:
    # NBLW is reprogrammed and words come while the phase before is still computed
    driver.step = 1
    driver.start("SHA-1", 2, b"a key")
    for part in (b"a key", MESSAGE[:100], b"a key"):
        driver.write(STR, 8 * len(part) % 32)
        driver.feed(part)
        driver.write(STR, DCAL)
    driver.step = 6
    driver.wait(DCIS)
    assert driver.digest("SHA-1") == digest("SHA-1", MESSAGE[:100], b"a key")


def test_hash_settings_are_taken_at_init_only(driver: HashDriver) -> None:
    driver.start("SHA-256")
    driver.feed(b"abc")
    driver.write(CR, ALGO["MD5"] | 2 << 4 | MODE)
    driver.calculate(24)
    driver.wait(DCIS)
    assert driver.digest("SHA-256").hex() == ABC["SHA-256"]


def test_words_that_are_in_keep_their_order_when_datatype_changes(driver: HashDriver) -> None:
    driver.start("SHA-256", 2)
    driver.feed(MESSAGE[:40], 2)
    driver.restore(driver.save())
    driver.write(CR, ALGO["SHA-256"] | 3 << 4)
    context = driver.save()
    driver.start("SHA-256", 3)
    driver.restore(context)
    driver.feed(MESSAGE[40:51], 3)
    driver.calculate(8 * 51)
    driver.wait(DCIS)
    assert driver.digest("SHA-256") == digest("SHA-256", MESSAGE[:51])


def test_nblw_survives_init(driver: HashDriver) -> None:
    driver.write(STR, 24)
    driver.start("SHA-1")
    driver.write(DIN, 0xFF63_6261)
    driver.write(STR, DCAL)
    driver.wait(DCIS)
    assert driver.digest("SHA-1").hex() == ABC["SHA-1"]


# -- one word more: BUSY, DINIS, counters --------------------------------------------------------


def test_a_block_starts_with_the_word_after_it(driver: HashDriver) -> None:
    driver.step = 0
    driver.start("SHA-256")
    assert driver.read(CR) & (0xF << 8 | DINNE) == 0
    for count in range(1, 17):
        driver.write(DIN, count)
        assert driver.read(CR) & (0xF << 8 | DINNE) == (count - 1) << 8 | DINNE
        assert driver.read(SR) == 0
    driver.write(DIN, 17)
    assert driver.read(SR) == BUSY
    assert driver.read(CR) & (0xF << 8 | DINNE) == DINNE
    driver.clock.advance(49)
    assert driver.read(SR) == BUSY
    driver.clock.advance(1)
    assert driver.read(SR) == DINIS


@pytest.mark.parametrize(("algorithm", "cycles"), [("MD5", 50), ("SHA-1", 66), ("SHA-224", 50), ("SHA-256", 50)])
def test_block_and_final_times(driver: HashDriver, algorithm: str, cycles: int) -> None:
    driver.step = 0
    driver.start(algorithm)
    driver.feed(MESSAGE[:68])
    driver.clock.advance(cycles - 1)
    assert driver.read(SR) & BUSY
    driver.clock.advance(1)
    assert driver.read(SR) == DINIS
    driver.calculate(0)
    driver.clock.advance(cycles - 1)
    assert driver.read(SR) & (BUSY | DCIS) == BUSY
    driver.clock.advance(1)
    assert driver.read(SR) == DINIS | DCIS


def test_two_padding_blocks_show_one_unbroken_busy(driver: HashDriver) -> None:
    driver.start("SHA-256")
    driver.feed(MESSAGE[:60])
    driver.step = 1
    driver.write(STR, DCAL)
    states = [driver.read(SR) & (BUSY | DCIS | DINIS) for _ in range(110)]
    assert states == [BUSY] * 99 + [DINIS | DCIS] * 11


def test_words_during_busy_clear_dinis_only_until_the_block_ends(driver: HashDriver) -> None:
    driver.step = 0
    driver.start("SHA-256")
    driver.feed(MESSAGE[:68])
    driver.write(DIN, 1)
    assert driver.read(SR) == BUSY
    driver.clock.advance(50)
    assert driver.read(SR) == DINIS
    assert driver.read(CR) & (0xF << 8 | DINNE) == 1 << 8 | DINNE
    driver.write(DIN, 2)
    assert driver.read(SR) == 0


def test_a_word_after_the_end_of_a_block_clears_dinis_unseen(driver: HashDriver) -> None:
    driver.write(CR, INIT | ALGO["SHA-256"])
    for _ in range(17 + 10):  # the block is done before the last of them
        driver.write(DIN, 1)
    driver.clock.advance(100)
    assert driver.read(SR) & (BUSY | DINIS) == 0
    for _ in range(9):
        driver.write(DIN, 1)
    driver.clock.advance(100)
    assert driver.read(SR) & (BUSY | DINIS) == DINIS


def test_a_message_goes_on_after_a_report_of_the_run(driver: HashDriver) -> None:
    driver.write(CR, INIT | ALGO["SHA-256"])
    for word in range(20):
        driver.write(DIN, word)
        driver.block.finish()
    for word in range(20, 40):
        driver.write(DIN, word)
    driver.write(STR, DCAL)
    driver.wait(DCIS)
    assert driver.digest("SHA-256") == hashlib.sha256(struct.pack(">40I", *range(40))).digest()


def test_flags_are_cleared_by_writing_zero_only(driver: HashDriver) -> None:
    assert driver.polled("MD5", b"abc")
    driver.write(SR, 0xFFFF_FFFF)
    assert driver.read(SR) == DINIS | DCIS
    driver.write(SR, ~DCIS & 0xFFFF_FFFF)
    assert driver.read(SR) == DINIS
    assert driver.digest("MD5").hex() == ABC["MD5"]
    driver.write(SR, 0)
    assert driver.read(SR) == 0
    assert not errors(driver)


def test_init_drops_everything(driver: HashDriver) -> None:
    driver.polled("SHA-256", b"abc")
    driver.start("SHA-1")
    assert [driver.read(HR + 4 * n) for n in range(8)] == [0] * 8
    assert driver.read(SR) == DINIS
    driver.feed(MESSAGE[:68])
    driver.write(DIN, 5)
    driver.step = 0
    driver.start("SHA-1")
    assert driver.read(SR) == DINIS
    assert not driver.read(CR) & (DINNE | 0xF << 8)
    assert "HASH.CR.INIT written while SR.BUSY = 1" in errors(driver)[-1]


def test_a_full_buffer_makes_the_write_wait(driver: HashDriver) -> None:
    driver.step = 0
    driver.start("SHA-256")
    driver.feed(MESSAGE[: 4 * 33])  # a block runs, the next one fills the buffer: nothing waits so far
    assert driver.clock.now == 0
    driver.write(DIN, 0)
    assert driver.clock.now == 50
    driver.feed(MESSAGE[: 4 * 15])
    assert driver.clock.now == 50
    driver.write(DIN, 0)
    assert driver.clock.now == 100


def test_a_message_pushed_without_looking(driver: HashDriver) -> None:
    driver.step = 1
    driver.start("SHA-1")
    driver.feed(MESSAGE)
    driver.write(STR, DCAL)
    driver.wait(DCIS)
    assert driver.digest("SHA-1") == digest("SHA-1", MESSAGE)


@pytest.mark.parametrize(("speed", "polls"), [("slow", 84), ("fast", 1)])
def test_other_speeds_still_show_busy(speed: str, polls: int) -> None:
    driver = HashDriver(HashV2("HASH", speed=speed))
    driver.start("SHA-256")
    driver.feed(MESSAGE[:68])
    assert driver.read(SR) & (BUSY | DINIS) == BUSY
    assert driver.wait(DINIS) <= polls
    driver.calculate(0)
    assert driver.read(SR) & (BUSY | DCIS) == BUSY
    driver.wait(DCIS)
    assert driver.digest("SHA-256") == digest("SHA-256", MESSAGE[:68])
    for means in (driver.by_interrupt, driver.by_dma):
        assert means("SHA-1", MESSAGE[:200], b"key") == digest("SHA-1", MESSAGE[:200], b"key")


# -- interrupts --------------------------------------------------------------------------------


def test_interrupt_line_is_level_of_enabled_flags(driver: HashDriver) -> None:
    line = driver.block.irq
    assert not line.level
    driver.write(IMR, 1)
    assert line.level
    driver.write(DIN, 1)
    assert not line.level
    driver.write(IMR, 2)
    driver.write(STR, DCAL)
    assert not line.level
    driver.clock.advance(65)
    assert not line.level
    driver.clock.advance(1)
    assert line.level  # by an event: nobody looked
    driver.write(SR, ~DCIS & 0xFFFF_FFFF)
    assert not line.level


def test_block_end_interrupts_with_words_in_the_buffer(driver: HashDriver) -> None:
    # a driver that goes on after a resume writes 17 words on top of the one restored, then waits
    driver.start("SHA-256")
    driver.write(DIN, 0)
    driver.write(IMR, 1)
    driver.step = 0
    driver.feed(MESSAGE[:68])
    assert not driver.block.irq.level
    driver.clock.advance(50)
    assert driver.block.irq.level


# -- DMA ---------------------------------------------------------------------------------------


def test_a_full_block_is_held_for_one_word_more(driver: HashDriver) -> None:
    dma = TinyDma(driver)
    driver.start("SHA-256")
    dma.load(din_words(MESSAGE[:64]))
    driver.write(CR, driver.read(CR) | DMAE | MDMAT)
    dma.run()
    assert driver.read(SR) & (BUSY | DMAS) == DMAS
    assert driver.read(CR) & (0xF << 8 | DINNE) == DINNE  # 16 words, modulo 16
    dma.load([0])
    dma.run()
    assert driver.read(CR) >> 8 & 0xF == 1


def test_partial_last_word_of_a_full_block_by_dma(driver: HashDriver) -> None:
    for length in (63, 64, 127, 128):
        assert driver.by_dma("SHA-256", MESSAGE[:length]) == digest("SHA-256", MESSAGE[:length])


@pytest.mark.parametrize("chunks", [2, 3, 5])
def test_several_transfers(driver: HashDriver, chunks: int) -> None:
    for length in (40, 64, 80, 100, 256, 1000):
        assert driver.by_dma("SHA-1", MESSAGE[:length], chunks=chunks) == digest("SHA-1", MESSAGE[:length])
        key = MESSAGE[:48]
        got = driver.by_dma("SHA-1", MESSAGE[:length], key, chunks)
        assert got == digest("SHA-1", MESSAGE[:length], key)
    assert not errors(driver)


def test_end_of_transfer_clears_dmae_and_starts_the_digest(driver: HashDriver) -> None:
    dma = TinyDma(driver)
    driver.start("SHA-256")
    driver.write(STR, 24)
    dma.load([0x0063_6261])
    driver.write(CR, driver.read(CR) | DMAE)
    driver.clock.advance(3)
    driver.write(STR, 0)  # the next NBLW may be written while this one's padding is computed
    assert not driver.read(CR) & DMAE
    assert driver.read(SR) & (DMAS | BUSY) == BUSY
    driver.wait(DCIS)
    assert driver.digest("SHA-256").hex() == ABC["SHA-256"]


def test_clearing_dmae_ends_requests_at_the_next_block(driver: HashDriver) -> None:
    dma = TinyDma(driver)
    driver.start("SHA-256")
    dma.load(din_words(MESSAGE))
    driver.write(CR, driver.read(CR) | DMAE)
    while dma.moved < 20:
        driver.clock.advance(1)
    driver.write(CR, driver.read(CR) & ~DMAE)
    assert driver.read(SR) & DMAS
    driver.wait(DMAS, False)
    assert dma.moved == 33
    driver.wait(DINIS)
    assert dma.moved == 33
    context = driver.save()
    driver.polled("MD5", b"abc")
    driver.restore(context)
    driver.write(CR, driver.read(CR) | DMAE)
    dma.run()
    driver.wait(DCIS)
    assert driver.digest("SHA-256") == digest("SHA-256", MESSAGE)


def test_dma_suspend_by_stopping_the_stream(driver: HashDriver) -> None:
    # wait BUSY 0, BUSY 1, stop the stream, clear DMAE, wait BUSY 0, save; NBW tells how far the transfer came
    dma = TinyDma(driver)
    driver.start("SHA-1")
    words = din_words(MESSAGE)
    dma.load(words)
    driver.step = 2
    driver.write(CR, driver.read(CR) | DMAE)
    driver.wait(BUSY, False)
    driver.wait(BUSY)
    rest, dma.words = dma.words, []
    pushed = len(words) - len(rest)
    driver.write(CR, driver.read(CR) & ~DMAE)
    driver.wait(BUSY, False)
    assert driver.read(CR) >> 8 & 0xF == pushed % 16
    context = driver.save()
    assert driver.by_dma("SHA-256", MESSAGE[:99]) == digest("SHA-256", MESSAGE[:99])
    driver.restore(context)
    dma = TinyDma(driver)
    dma.load(rest)
    driver.write(CR, driver.read(CR) | DMAE)
    dma.run()
    driver.wait(DCIS)
    assert driver.digest("SHA-1") == digest("SHA-1", MESSAGE)


def test_request_stands_only_with_dmae(driver: HashDriver) -> None:
    driver.start("SHA-256")
    assert driver.block.dma_in.words == 0
    driver.write(CR, driver.read(CR) | DMAE)
    assert driver.block.dma_in.words == 4
    driver.write(CR, driver.read(CR) & ~DMAE)
    assert driver.block.dma_in.words == 0
    assert not driver.read(SR) & DMAS


def test_init_does_not_clear_dmae(driver: HashDriver) -> None:
    driver.write(CR, ALGO["SHA-256"] | DMAE)
    driver.write(CR, ALGO["SHA-256"] | DMAE | INIT)
    assert driver.read(CR) & DMAE
    assert driver.block.dma_in.words == 4


# -- context swap ------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("with_key", [False, True])
def test_two_contexts_change_after_every_word(algorithm: str, with_key: bool) -> None:
    """Saved whenever BUSY = 0, part-filled FIFO and all, as drivers for one-word buffers do."""
    driver = HashDriver()
    other = "SHA-224" if algorithm != "SHA-224" else "MD5"
    works = [(algorithm, MESSAGE[:150], MESSAGE[:70] if with_key else None), (other, MESSAGE[7:140], None)]
    contexts: list[tuple[int, int, int, list[int]] | None] = [None, None]
    steps: list[list[tuple[int, int]]] = []
    for _, message, key in works:
        sequence = []
        for part in [message] if key is None else [key, message, key]:
            sequence += [(DIN, word) for word in din_words(part)]
            sequence += [(STR, 8 * len(part) % 32), (STR, DCAL)]
        steps.append(sequence)
    results: list[bytes] = [b"", b""]
    while any(steps):
        for n, (name, _, key) in enumerate(works):
            if not steps[n]:
                continue
            context = contexts[n]
            if context is None:
                driver.start(name, 2, key)
            else:
                driver.restore(context)
            driver.write(*steps[n].pop(0))
            driver.wait(BUSY, False)
            if steps[n]:
                contexts[n] = driver.save()
            else:
                results[n] = driver.digest(name)
    assert results == [digest(*work) for work in works]
    assert not errors(driver)


@pytest.mark.parametrize("key", [None, MESSAGE[:20], MESSAGE[:100]])
def test_short_register_lists_at_block_boundaries(driver: HashDriver, key: bytes | None) -> None:
    """CSR0..21, with HMAC also CSR38..53, are enough when DINIS = 1; the FIFO registers hold rubbish."""
    driver.start("SHA-256", 2, key)

    def swap() -> None:
        driver.wait(DINIS)
        imr, start, control, image = driver.save()
        driver.polled("MD5", MESSAGE[:77], key=b"other")
        driver.restore((imr, start, control, image[:22]))
        for n in range(22, 38):
            driver.write(CSR + 4 * n, 0xBAD0_0000 + n)
        if key is not None:
            for n in range(38, 54):
                driver.write(CSR + 4 * n, image[n])

    message = MESSAGE[:200]
    for part in [message] if key is None else [key, message, key]:
        swap()
        for n, word in enumerate(din_words(part)):
            driver.write(DIN, word)
            if n and n % 16 == 0:
                swap()
        driver.calculate(8 * len(part))
        driver.wait(BUSY, False)
    assert driver.digest("SHA-256") == digest("SHA-256", message, key)


def test_38_registers_are_enough_for_a_hash(driver: HashDriver) -> None:
    driver.start("SHA-1")
    driver.feed(MESSAGE[:100])
    driver.wait(BUSY, False)
    context = driver.save(38)
    driver.polled("SHA-256", MESSAGE, key=MESSAGE[:90])
    driver.restore(context)
    driver.feed(MESSAGE[100:130])
    driver.calculate(8 * 130)
    driver.wait(DCIS)
    assert driver.digest("SHA-1") == digest("SHA-1", MESSAGE[:130])


@pytest.mark.parametrize(
    ("algorithm", "state"),
    [
        ("SHA-1", "f4286818 c37b27ae 0408f581 84677148 4a566572"),
        ("SHA-256", "85e655d6 417a1795 3363376a 624cde5c 76e09589 cac5f811 cc4b32c1 f20e533a"),
    ],
)
def test_context_holds_the_true_chaining_value(driver: HashDriver, algorithm: str, state: str) -> None:
    # FIPS 180-2, examples A.2 and B.2: intermediate hash value H(1) of the 56-byte message with its padding
    block = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq" + b"\x80" + bytes(7)
    driver.start(algorithm)
    driver.feed(block + bytes(4))
    driver.wait(BUSY, False)
    image = driver.save()[3]
    assert [f"{word:08x}" for word in image[4:12]][: len(state.split())] == state.split()


def test_csr_while_busy(driver: HashDriver) -> None:
    driver.step = 0
    driver.start("SHA-256")
    driver.feed(MESSAGE[:68])
    assert driver.read(CSR) == 0
    driver.write(CSR, 7)
    assert errors(driver) == [
        "HASH.CSR read while SR.BUSY = 1; reads as 0",
        "HASH.CSR written while SR.BUSY = 1; ignored",
    ]
    assert {error.rule for error in driver.block.reports.guest_errors.values()} == {"O5"}


def test_snapshot_in_the_middle(driver: HashDriver) -> None:
    driver.start("SHA-256")
    driver.write(IMR, 3)
    driver.feed(MESSAGE[:132])
    kept, clock = driver.block.save(), driver.clock.save()
    for _ in range(2):
        driver.feed(MESSAGE[132:300])
        driver.calculate(8 * 300)
        driver.clock.advance(200)
        assert driver.block.irq.level
        assert driver.digest("SHA-256") == digest("SHA-256", MESSAGE[:300])
        driver.polled("MD5", b"abc")
        driver.clock.load(clock)
        driver.block.load(kept)


def test_reset_by_rcc(driver: HashDriver) -> None:
    driver.write(IMR, 1)
    driver.start("SHA-256")
    driver.feed(MESSAGE[:72])
    driver.block.reset()
    assert not driver.block.irq.level
    assert driver.read(SR) == DINIS
    driver.clock.advance(100)
    assert driver.polled("SHA-1", b"abc").hex() == ABC["SHA-1"]


# -- broken rules --------------------------------------------------------------------------------


def test_hr_read_too_early_waits_for_a_digest_under_way(driver: HashDriver) -> None:
    driver.step = 0
    driver.start("SHA-1")
    driver.feed(b"abc")
    driver.calculate(24)
    assert driver.digest("SHA-1").hex() == ABC["SHA-1"]
    assert driver.clock.now == 66
    assert errors(driver) == ["HASH.HR read while SR.DCIS = 0, no digest is there"]


def test_hr_read_without_any_digest_gives_zero(driver: HashDriver) -> None:
    driver.start("SHA-1")
    assert driver.read(HR) == 0
    assert errors(driver) == ["HASH.HR read while SR.DCIS = 0, no digest is there"]


def test_data_after_a_digest_without_init_give_a_wrong_digest(driver: HashDriver) -> None:
    driver.polled("SHA-256", MESSAGE[:24])
    driver.feed(MESSAGE[:40])
    driver.calculate(320)
    driver.wait(DCIS)
    driver.wait(BUSY, False)
    assert driver.digest("SHA-256") != digest("SHA-256", MESSAGE[:40])
    assert "data after a digest without CR.INIT" in errors(driver)[0]


def test_dcal_again(driver: HashDriver) -> None:
    driver.polled("SHA-256", b"abc")
    driver.write(STR, DCAL)
    assert driver.digest("SHA-256").hex() == ABC["SHA-256"]
    assert errors(driver) == ["HASH.STR.DCAL written again, the digest has been asked for; ignored"]


def test_settings_changed_while_busy(driver: HashDriver) -> None:
    driver.step = 0
    driver.start("SHA-256")
    driver.feed(MESSAGE[:68])
    driver.write(CR, ALGO["SHA-1"] | 2 << 4)
    assert errors(driver) == ["HASH.CR.ALGO1, ALGO0 written while SR.BUSY = 1"]


def test_dma_settings_may_change_while_busy(driver: HashDriver) -> None:
    driver.step = 0
    driver.start("SHA-256")
    driver.feed(MESSAGE[:68])
    driver.write(CR, driver.read(CR) | DMAE | MDMAT)
    assert not errors(driver)


def test_long_key_without_lkey(driver: HashDriver) -> None:
    driver.write(CR, ALGO["SHA-1"] | MODE | 2 << 4 | INIT)
    for part in (MESSAGE[:100], b"text", MESSAGE[:100]):
        driver.feed(part)
        driver.calculate(8 * len(part))
        driver.wait(BUSY, False)
    assert driver.digest("SHA-1") == digest("SHA-1", b"text", MESSAGE[:64])
    assert "HMAC key longer than a block with CR.LKEY = 0" in errors(driver)[0]


def test_strict_mode_raises(driver: HashDriver) -> None:
    block = HashV2("HASH", reports=Reports(strict=True))
    with pytest.raises(StrictError, match="no digest is there"):
        block.read(HR)


# -- operations ----------------------------------------------------------------------------------


def test_one_operation_per_digest(driver: HashDriver) -> None:
    driver.polled("SHA-256", MESSAGE[:131])
    driver.by_dma("MD5", b"abc", b"key")
    driver.block.finish()
    first, second = driver.block.reports.operations
    assert (first.name, first.data_bytes, first.words_in, first.busy_cycles, first.dma) == (
        "SHA-256",
        131,
        33,
        150,
        False,
    )
    assert first.last_cycle - first.first_cycle > 33 * 6
    assert (second.name, second.data_bytes, second.words_in, second.dma) == ("MD5-HMAC", 3, 3, True)
    assert second.busy_cycles == 125 + 50 + 125


def test_swapped_contexts_count_every_byte_once(driver: HashDriver) -> None:
    chance = random.Random(5)
    contexts: list[tuple[int, int, int, list[int]]] = []
    for name in ALGORITHMS:
        driver.start(name)
        contexts.append(driver.save())
    fed = 0
    for _ in range(60):
        n = chance.randrange(4)
        driver.restore(contexts[n])
        words = chance.randrange(0, 40)
        driver.feed(MESSAGE[: 4 * words])
        fed += 4 * words
        driver.wait(BUSY, False)
        contexts[n] = driver.save()
    for context in contexts:
        driver.restore(context)
        driver.feed(b"\1\2\3")
        driver.calculate(24)
        driver.wait(DCIS)
        fed += 3
    driver.block.finish()
    assert sum(operation.data_bytes for operation in driver.block.reports.operations) == fed


def test_an_abandoned_message_is_reported(driver: HashDriver) -> None:
    driver.start("SHA-1")
    driver.feed(MESSAGE[:80])
    fed = driver.clock.now
    driver.clock.advance(1000)
    driver.start("SHA-256")
    driver.start("SHA-256")
    driver.block.finish()
    (operation,) = driver.block.reports.operations
    assert (operation.name, operation.data_bytes, operation.busy_cycles) == ("SHA-1", 80, 66)
    assert fed <= operation.last_cycle <= fed + 66


# -- anything goes -------------------------------------------------------------------------------

OFFSETS = st.sampled_from([CR, DIN, STR, HRA, IMR, SR, CSR, CSR + 4, CSR + 8, CSR + 16, CSR + 0x98, HR, 0x28, 0x3F0])
ACCESSES = st.lists(
    st.tuples(
        OFFSETS, st.integers(0, 0xFFFF_FFFF) | st.sampled_from([INIT, DCAL, DMAE, DMAE | INIT, 0]), st.integers(0, 3)
    ),
    max_size=80,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(ACCESSES, st.sampled_from(["normal", "slow", "fast"]))
def test_no_sequence_of_accesses_raises(accesses: list[tuple[int, int, int]], speed: str) -> None:
    driver = HashDriver(HashV2("HASH", speed=speed), cycles_per_access=9)
    TinyDma(driver).words = list(range(100))
    for offset, value, kind in accesses:
        if kind == 0:
            assert 0 <= driver.read(offset) <= 0xFFFF_FFFF
        elif kind == 1:
            for n in range(20):
                driver.write(DIN, value ^ n)
        else:
            driver.write(offset, value)
    driver.clock.advance(50_000)
    driver.wait(BUSY, False, limit=2)  # "fast" shows it once more
    driver.block.finish()
    assert driver.polled("SHA-256", b"abc").hex() == ABC["SHA-256"]
