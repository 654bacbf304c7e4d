"""RNG version 1 through its registers: time, flags, errors and recovery, interrupt, injected faults, reports."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cryplab.blocks.rng_v1 import RngV1, WordSource

CR, SR, DR = 0x00, 0x04, 0x08
RNGEN, IE = 1 << 2, 1 << 3
DRDY, CECS, SECS, CEIS, SEIS = 1, 2, 4, 1 << 5, 1 << 6
HCLK, PLL48 = 168_000_000, 48_000_000


@pytest.fixture
def hertz() -> dict[str, int]:
    return {"HCLK": HCLK, "PLL48": PLL48}


@pytest.fixture
def rng(hertz: dict[str, int]) -> RngV1:
    block = RngV1("RNG")
    block.frequency = hertz.__getitem__
    block.clock_changed()
    return block


def wait(rng: RngV1, limit: int = 1000) -> int:
    """Cycles until DRDY."""
    for cycles in range(limit):
        if rng.read(SR) & DRDY:
            return cycles
        rng.clock.advance(1)
    raise AssertionError(f"no word in {limit} cycles")


def words(rng: RngV1, count: int) -> list[int]:
    rng.write(CR, RNGEN)
    found = []
    for _ in range(count):
        wait(rng)
        found.append(rng.read(DR))
    return found


def errors(rng: RngV1) -> list[tuple[str, str]]:
    return [(error.text, error.rule) for error in rng.reports.guest_errors.values()]


def test_reset_values_and_reserved_bits(rng: RngV1) -> None:
    assert [rng.read(offset) for offset in (CR, SR)] == [0, 0]
    rng.write(CR, 0xFFFF_FFFF)
    assert rng.read(CR) == RNGEN | IE  # CED is not there on this version
    assert rng.read(SR) & ~0x7F == 0


def test_first_word_46_clocks_later_ones_40(rng: RngV1) -> None:
    rng.write(CR, RNGEN)
    assert wait(rng) == 161  # 46 * 168 / 48
    for _ in range(3):
        assert rng.read(DR)
        assert not rng.read(SR) & DRDY
        assert wait(rng) == 140  # 40 * 168 / 48


def test_clock_ratio_that_is_not_whole(rng: RngV1, hertz: dict[str, int]) -> None:
    hertz["HCLK"] = 100_000_000
    rng.clock_changed()
    rng.write(CR, RNGEN)
    assert wait(rng) == 96  # 46 * 100 / 48 = 95.8


def test_frequency_change_while_a_word_is_made(rng: RngV1, hertz: dict[str, int]) -> None:
    rng.write(CR, RNGEN)
    rng.clock.advance(70)  # 20 RNG clocks of 46
    hertz["PLL48"] = 24_000_000
    rng.clock_changed()
    assert wait(rng) == 182  # 26 * 168 / 24
    rng.read(DR)
    rng.clock.advance(140)  # 20 clocks of 40
    hertz["HCLK"] = 84_000_000
    rng.clock_changed()
    assert wait(rng) == 70  # 20 * 84 / 24


def test_words_differ_and_are_never_zero(rng: RngV1) -> None:
    found = words(rng, 500)
    assert 0 not in found
    assert all(a != b for a, b in pairwise(found))
    ones = sum(word.bit_count() for word in found) / len(found)
    assert 15 < ones < 17


def test_seed_decides_the_words(rng: RngV1) -> None:
    first = words(rng, 4)
    again, other = RngV1("RNG"), RngV1("RNG", seed=1)
    assert words(again, 4) == first
    assert words(other, 4) != first
    rng.seed = 1
    rng.reset()
    assert words(rng, 4) == words(RngV1("RNG", seed=1), 4)


def test_word_source_is_splitmix64() -> None:
    # upper halves of the published first outputs for the seed 1234567
    published = (6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431)
    source = WordSource(1234567)
    assert [source.next_word() for _ in published] == [value >> 32 for value in published]


def test_reset_does_not_repeat_words(rng: RngV1) -> None:
    before = words(rng, 3)
    rng.reset()
    assert rng.read(SR) == rng.read(CR) == 0
    assert not set(words(rng, 3)) & set(before)


def test_disable_keeps_the_word_and_makes_no_more(rng: RngV1) -> None:
    rng.write(CR, RNGEN)
    wait(rng)
    rng.write(CR, 0)
    assert rng.read(SR) & DRDY
    assert rng.read(DR)
    rng.clock.advance(1000)
    assert not rng.read(SR) & DRDY


def test_disable_in_the_middle_starts_anew(rng: RngV1) -> None:
    rng.write(CR, RNGEN)
    rng.clock.advance(100)
    rng.write(CR, 0)
    rng.write(CR, RNGEN)
    assert wait(rng) == 161


def test_reading_too_early_is_reported(rng: RngV1) -> None:
    rng.write(CR, RNGEN)
    assert rng.read(DR) == 0
    assert errors(rng) == [("RNG.DR read while SR.DRDY = 0, the word is not fresh", "O16")]
    assert wait(rng) == 161


# -- clock error ---------------------------------------------------------------------------------


def test_slow_clock(rng: RngV1, hertz: dict[str, int]) -> None:
    hertz["PLL48"] = HCLK // 16
    rng.clock_changed()
    rng.write(CR, RNGEN)
    assert not rng.read(SR) & (CECS | CEIS)
    hertz["PLL48"] -= 1
    rng.clock_changed()
    assert rng.read(SR) & (CECS | CEIS) == CECS | CEIS
    rng.write(SR, ~CEIS & 0xFFFF_FFFF)
    assert rng.read(SR) & CEIS  # the condition lasts
    hertz["PLL48"] = PLL48
    rng.clock_changed()
    assert rng.read(SR) & (CECS | CEIS) == CEIS
    rng.write(SR, 0xFFFF_FFFF)
    assert rng.read(SR) & CEIS
    rng.write(SR, ~CEIS & 0xFFFF_FFFF)
    assert not rng.read(SR) & (CECS | CEIS)


def test_stopped_clock_gives_no_word(rng: RngV1, hertz: dict[str, int]) -> None:
    hertz["PLL48"] = 0
    rng.clock_changed()
    rng.write(CR, RNGEN | IE)
    rng.clock.advance(10_000)
    assert rng.read(SR) == CECS | CEIS
    assert rng.irq.level
    hertz["PLL48"] = PLL48
    rng.clock_changed()
    assert wait(rng) == 161


def test_words_made_before_a_clock_error_stay_usable(rng: RngV1) -> None:
    rng.write(CR, RNGEN)
    wait(rng)
    rng.clock_error = True
    assert rng.read(SR) == DRDY | CECS | CEIS
    assert rng.read(DR)
    assert not errors(rng)


# -- seed error ----------------------------------------------------------------------------------


def test_seed_error_stops_until_recovered(rng: RngV1) -> None:
    rng.seed_error_at = 3
    assert len(words(rng, 2)) == 2
    rng.clock.advance(1000)
    assert rng.read(SR) == SECS | SEIS
    # clearing the flag alone, or cycling RNGEN alone, is half the sequence
    rng.write(SR, ~SEIS & 0xFFFF_FFFF)
    rng.clock.advance(1000)
    assert rng.read(SR) == SECS
    rng.write(CR, 0)
    rng.write(CR, RNGEN)
    assert rng.read(SR) == 0
    assert wait(rng) == 161
    assert rng.read(DR)
    assert not errors(rng)


def test_seis_stays_without_being_cleared(rng: RngV1) -> None:
    rng.seed_error_at = 1
    rng.write(CR, RNGEN)
    rng.clock.advance(200)
    rng.write(CR, 0)
    rng.write(CR, RNGEN)
    assert rng.read(SR) == SEIS


def test_word_that_waits_when_a_seed_error_comes_must_not_be_used(rng: RngV1) -> None:
    rng.write(CR, RNGEN)
    wait(rng)
    rng.inject_seed_error()
    assert rng.read(SR) == DRDY | SECS | SEIS
    assert rng.read(DR)
    rng.clock.advance(1000)
    assert rng.read(SR) == SECS | SEIS
    assert errors(rng) == [("RNG.DR read after a seed error, the word must not be used", "O17")]


# -- other faults on purpose ---------------------------------------------------------------------


def test_stuck_zero_and_slow(rng: RngV1) -> None:
    rng.stuck_word = 0x5555_5555
    assert words(rng, 2) == [0x5555_5555] * 2
    rng.stuck_word, rng.zero_at, rng.slow = None, 4, 10
    wait(rng)
    assert rng.read(DR) not in (0, 0x5555_5555)  # its making had begun at normal speed
    assert wait(rng, 5000) == 1400
    assert rng.read(DR) == 0


# -- interrupt -----------------------------------------------------------------------------------


def test_interrupt_at_the_word(rng: RngV1) -> None:
    rng.write(CR, RNGEN | IE)
    rng.clock.advance(160)
    assert not rng.irq.level
    rng.clock.advance(1)
    assert rng.irq.level
    rng.read(DR)
    assert not rng.irq.level
    rng.clock.advance(140)
    assert rng.irq.level
    rng.write(CR, RNGEN)
    assert not rng.irq.level


def test_interrupt_only_while_enabled(rng: RngV1) -> None:
    rng.write(CR, RNGEN | IE)
    rng.clock.advance(200)
    rng.write(CR, IE)
    assert not rng.irq.level


def test_interrupt_of_a_seed_error(rng: RngV1) -> None:
    rng.seed_error_at = 1
    rng.write(CR, RNGEN | IE)
    rng.clock.advance(161)
    assert rng.irq.level
    rng.write(SR, ~SEIS & 0xFFFF_FFFF)
    assert not rng.irq.level


# -- operations, snapshot --------------------------------------------------------------------------


def test_one_operation_from_enable_to_disable(rng: RngV1) -> None:
    words(rng, 5)
    rng.write(CR, 0)
    words(rng, 2)
    rng.finish()
    first, second = rng.reports.operations
    assert (first.name, first.words_out, first.data_bytes) == ("RNG", 5, 20)
    assert first.busy_cycles == 161 + 4 * 140
    assert second.words_out == 2


def test_busy_cycles_end_with_the_word(rng: RngV1) -> None:
    rng.write(CR, RNGEN)
    rng.clock.advance(100_000)
    rng.read(DR)
    rng.write(CR, 0)
    assert rng.reports.operations[0].busy_cycles == 161


def test_snapshot(rng: RngV1) -> None:
    words(rng, 3)
    rng.write(CR, RNGEN | IE)
    kept, clock = rng.save(), rng.clock.save()
    first = words(rng, 4)
    rng.write(CR, 0)
    rng.clock.load(clock)
    rng.load(kept)
    rng.clock.advance(140)
    assert rng.irq.level
    assert words(rng, 4) == first


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from([CR, SR, DR, 0x0C]), st.none() | st.integers(0, 0xFFFF_FFFF)), max_size=60))
def test_no_sequence_of_accesses_raises(accesses: list[tuple[int, int | None]]) -> None:
    rng = RngV1("RNG")
    for offset, value in accesses:
        if value is None:
            assert 0 <= rng.read(offset) <= 0xFFFF_FFFF
        else:
            rng.write(offset, value)
        rng.clock.advance(13)
    rng.finish()
