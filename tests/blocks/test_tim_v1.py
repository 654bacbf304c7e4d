"""Timers by reads and writes; the clock alone runs at 16 MHz and so does the timer."""

from __future__ import annotations

import random

import pytest

from cryplab.blocks.tim_v1 import TimBasicV1, TimV1, TimV1Bits16

CR1, DIER, SR, EGR, CCMR1, CNT, PSC, ARR, CCR1 = 0x00, 0x0C, 0x10, 0x14, 0x18, 0x24, 0x28, 0x2C, 0x34
CEN, UDIS, URS, OPM, ARPE = 1, 2, 4, 8, 1 << 7
UIF, CC1IF, CC2IF = 1, 2, 4


def started(kind: type[TimBasicV1] = TimV1, psc: int = 0, arr: int | None = None, cr1: int = 0) -> TimBasicV1:
    tim = kind("TIM")
    tim.write(PSC, psc)
    if arr is not None:
        tim.write(ARR, arr)
    tim.write(EGR, 1)
    tim.write(SR, 0)
    tim.write(CR1, CEN | cr1)
    return tim


def test_counts_with_the_prescaler() -> None:
    tim = started(psc=15)
    tim.clock.advance(16 * 1000 + 15)
    assert tim.read(CNT) == 1000
    tim.clock.advance(1)
    assert tim.read(CNT) == 1001


def test_reading_often_loses_nothing() -> None:
    tim = started(psc=6)
    for _ in range(100):
        tim.clock.advance(3)
        tim.read(CNT)
    assert tim.read(CNT) == 300 // 7


def test_prescaler_waits_for_the_update_event() -> None:
    tim = TimV1("TIM")
    tim.write(PSC, 99)
    tim.write(CR1, CEN)
    tim.clock.advance(50)
    assert tim.read(CNT) == 50
    tim.write(EGR, 1)
    assert tim.read(SR) & UIF
    tim.clock.advance(500)
    assert tim.read(CNT) == 5


def test_ug_raises_no_flag_with_urs_and_updates_nothing_with_udis() -> None:
    tim = TimV1("TIM")
    tim.write(CR1, URS)
    tim.write(EGR, 1)
    assert tim.read(SR) == 0
    tim.write(PSC, 9)
    tim.write(CR1, UDIS | CEN)
    tim.write(EGR, 1)
    assert tim.read(SR) == 0
    tim.clock.advance(10)
    assert tim.read(CNT) == 10


def test_overflow_sets_uif_and_starts_at_zero() -> None:
    tim = started(arr=9)
    tim.clock.advance(9)
    assert (tim.read(CNT), tim.read(SR) & UIF) == (9, 0)
    tim.clock.advance(1)
    assert (tim.read(CNT), tim.read(SR) & UIF) == (0, UIF)
    tim.clock.advance(1_000_003)
    assert tim.read(CNT) == 3


def test_32_bits_and_16_bits() -> None:
    wide, narrow = started(TimV1), started(TimV1Bits16)
    for tim in (wide, narrow):
        tim.clock.advance(0x1_2345)
    assert (wide.read(CNT), narrow.read(CNT)) == (0x1_2345, 0x2345)
    assert (wide.read(SR) & UIF, narrow.read(SR) & UIF) == (0, UIF)
    assert wide.read(ARR) == 0xFFFF_FFFF
    assert narrow.read(ARR) == 0xFFFF


def test_update_interrupt_comes_at_its_cycle_and_again() -> None:
    tim = started(TimBasicV1, psc=3, arr=24)
    tim.write(DIER, 1)
    seen = []
    tim.irq.connect(lambda level: seen.append((tim.clock.now, level)))
    tim.clock.advance(100)
    tim.write(SR, 0)
    tim.clock.advance(100)
    assert seen == [(0, False), (100, True), (100, False), (200, True)]


def test_one_pulse_stops() -> None:
    tim = started(arr=9, cr1=OPM)
    tim.clock.advance(50)
    assert tim.read(CR1) & CEN == 0
    assert (tim.read(CNT), tim.read(SR) & UIF) == (0, UIF)


def test_arr_is_buffered_with_arpe_only() -> None:
    tim = started(arr=9, cr1=ARPE)
    tim.write(ARR, 19)
    tim.clock.advance(10 + 15)
    assert tim.read(CNT) == 15
    direct = started(arr=9)
    direct.write(ARR, 19)
    direct.clock.advance(15)
    assert (direct.read(CNT), direct.read(SR) & UIF) == (15, 0)


def test_arr_below_the_counter_lets_it_run_to_the_end() -> None:
    tim = started(TimV1Bits16, arr=100)
    tim.clock.advance(50)
    tim.write(ARR, 20)
    tim.clock.advance(50)
    assert tim.read(CNT) == 100
    tim.clock.advance(0x1_0000 - 100)
    assert (tim.read(CNT), tim.read(SR) & UIF) == (0, 0)
    tim.clock.advance(21)
    assert (tim.read(CNT), tim.read(SR) & UIF) == (0, UIF)


def test_compare_interrupt_at_its_cycle() -> None:
    tim = started(psc=15)
    tim.write(CCR1, 1000)
    tim.write(DIER, CC1IF)
    seen = []
    tim.irq.connect(lambda level: seen.append((tim.clock.now, level)))
    tim.clock.advance(20_000)
    assert seen == [(0, False), (16_000, True)]
    tim.write(CCR1, tim.read(CNT) + 10)
    tim.write(SR, ~CC1IF)
    tim.clock.advance(1_000)
    assert seen[2:] == [(20_000, False), (20_160, True)]


def test_compare_interrupt_above_an_arr_that_was_lowered_below_the_counter() -> None:
    tim = started(TimV1Bits16, arr=100)
    tim.clock.advance(50)
    tim.write(ARR, 20)
    tim.write(CCR1, 70)
    tim.write(DIER, CC1IF)
    seen = []
    tim.irq.connect(lambda level: seen.append((tim.clock.now, level)))
    tim.clock.advance(30)
    assert seen == [(50, False), (70, True)]


def test_compare_flag_without_interrupt_is_seen_when_read() -> None:
    tim = started(arr=99)
    tim.write(CCR1, 30)
    tim.write(CCR1 + 4, 200)  # beyond ARR: matches at the overflow
    tim.clock.advance(29)
    assert tim.read(SR) & (CC1IF | CC2IF) == 0
    tim.clock.advance(1)
    assert tim.read(SR) & (CC1IF | CC2IF) == CC1IF
    tim.clock.advance(70)
    assert tim.read(SR) & CC2IF


def test_a_capture_channel_does_not_compare_and_is_reported() -> None:
    tim = started()
    tim.write(CCMR1, 1)
    tim.write(CCR1, 5)
    tim.clock.advance(10)
    assert not tim.read(SR) & CC1IF
    assert ("TIM", "TIM.CCMR1.CC1S") in tim.reports.unmodelled


def test_cc1g_raises_its_flag() -> None:
    tim = started()
    tim.write(DIER, CC1IF)
    tim.write(EGR, CC1IF)
    assert tim.irq.level


def test_counting_goes_on_through_changes_of_the_core_clock() -> None:
    hz = {"HCLK": 16_000_000, "TIMCLK1": 16_000_000}
    tim = TimV1("TIM5")
    tim.frequency = hz.__getitem__
    tim.clock_changed()
    tim.write(PSC, 15)
    tim.write(EGR, 1)
    tim.write(SR, 0)
    tim.write(CR1, CEN)
    tim.write(CCR1, 3000)
    tim.write(DIER, CC1IF)
    tim.clock.advance(16_000)  # 1 ms at 16 MHz
    hz.update(HCLK=168_000_000, TIMCLK1=84_000_000)
    tim.clock_changed()
    assert tim.read(CNT) == 1000
    tim.clock.advance(168_000)  # 1 ms at 168 MHz: 84 MHz / 16 counts
    assert tim.read(CNT) == 1000 + 5250
    assert tim.irq.level


def test_bare_zero_reload_blocks_the_counter() -> None:
    tim = started(arr=0)
    tim.clock.advance(100)
    assert (tim.read(CNT), tim.read(SR)) == (0, 0)


def test_against_a_timer_that_counts_one_by_one() -> None:
    chance = random.Random(1)
    for _ in range(40):
        psc, arr, ccr = chance.randrange(4), chance.randrange(1, 30), chance.randrange(40)
        tim = started(TimV1Bits16, psc=psc, arr=arr)
        tim.write(CCR1, ccr)
        count = phase = flags = 0
        for _ in range(30):
            step = chance.randrange(1, 60)
            tim.clock.advance(step)
            for _ in range(step):
                phase += 1
                if phase > psc:
                    phase = 0
                    count += 1
                    if count > arr:
                        count = 0
                        flags |= UIF | (CC1IF if ccr > arr else 0)
                    flags |= CC1IF if count == ccr else 0
            assert (tim.read(CNT), tim.read(SR) & (UIF | CC1IF)) == (count, flags)
            if chance.random() < 0.3:
                tim.write(SR, 0)
                flags = 0


def test_snapshot_keeps_count_and_event() -> None:
    tim = started(arr=99)
    tim.write(DIER, 1)
    tim.clock.advance(40)
    clock, state = tim.clock.save(), tim.save()
    tim.clock.advance(500)
    tim.clock.load(clock)
    tim.load(state)
    assert tim.read(CNT) == 40
    assert not tim.irq.level
    tim.clock.advance(60)
    assert tim.irq.level


@pytest.mark.parametrize("kind", [TimBasicV1, TimV1, TimV1Bits16])
def test_a_stopped_timer_stands_still(kind: type[TimBasicV1]) -> None:
    tim = kind("TIM")
    tim.write(CNT, 5)
    tim.clock.advance(1000)
    assert tim.read(CNT) == 5
