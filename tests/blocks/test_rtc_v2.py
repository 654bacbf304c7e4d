"""The real-time clock by reads and writes; core 16 MHz, RTC clock 32768 Hz unless said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from cryplab.blocks.rtc_v2 import RtcV2

TR, DR, CR, ISR, PRER, WUTR, ALRMAR, ALRMBR, WPR, SSR, BKP0R, BKP19R = (
    0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x1C, 0x20, 0x24, 0x28, 0x50, 0x9C,
)  # fmt: skip
INIT, INITF, RSF, INITS = 1 << 7, 1 << 6, 1 << 5, 1 << 4
ALRAF, ALRBF, WUTF = 1 << 8, 1 << 9, 1 << 10
FMT, BYPSHAD, ALRAE, ALRBE, WUTE, ALRAIE, ALRBIE, WUTIE = (1 << n for n in (6, 5, 8, 9, 10, 12, 13, 14))
SECOND = 16_000_000


def rtc(date: datetime | None = None) -> RtcV2:
    block = RtcV2("RTC")
    block.frequency = {"HCLK": 16_000_000, "RTC": 32_768}.__getitem__
    block.clock_changed()
    if date:
        block.date = date
    return block


def unlock(block: RtcV2) -> None:
    block.write(WPR, 0xCA)
    block.write(WPR, 0x53)


def set_calendar(block: RtcV2, time: int, date: int) -> None:
    unlock(block)
    block.write(ISR, 0xFFFF_FFFF)
    assert block.read(ISR) & INITF
    block.write(TR, time)
    block.write(DR, date)
    block.write(ISR, 0xFFFF_FFFF & ~INIT)
    assert not block.read(ISR) & INITF


def test_a_fresh_calendar_stands_at_the_year_2000() -> None:
    block = rtc()
    assert (block.read(TR), block.read(DR), block.read(ISR) & INITS) == (0, 0x0000_2101, 0)


def test_start_date_in_bcd_with_its_weekday() -> None:
    block = rtc(datetime(2026, 11, 30, 23, 59, 58, tzinfo=UTC))  # a Monday
    assert block.read(TR) == 0x23_5958
    assert block.read(DR) == 0x26_1130 | 1 << 13
    assert block.read(ISR) & INITS


def test_start_date_of_another_time_zone_is_shown_in_utc() -> None:
    block = rtc(datetime(2026, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=2))))
    assert (block.read(TR), block.read(DR) & ~0xE000) == (0x23_3000, 0x25_1231)


def test_it_runs_over_midnight_month_and_leap_day() -> None:
    block = rtc(datetime(2028, 2, 28, 23, 59, 59))
    block.clock.advance(SECOND)
    assert (block.read(TR), block.read(DR) & ~0xE000) == (0, 0x28_0229)
    block.clock.advance(24 * 3600 * SECOND)
    assert (block.read(TR), block.read(DR) & ~0xE000) == (0, 0x28_0301)


def test_weekday_counts_on() -> None:
    block = rtc(datetime(2026, 11, 29))  # a Sunday
    assert block.read(DR) >> 13 & 7 == 7
    block.clock.advance(24 * 3600 * SECOND)
    block.read(TR)
    assert block.read(DR) >> 13 & 7 == 1


def test_subseconds_count_down() -> None:
    block = rtc()
    block.write(WPR, 0xCA)
    block.write(WPR, 0x53)
    block.write(CR, BYPSHAD)
    assert block.read(SSR) == 255
    block.clock.advance(SECOND // 2)
    assert block.read(SSR) == 127
    block.clock.advance(SECOND // 2 - 1)
    assert block.read(SSR) == 0
    block.clock.advance(1)
    assert (block.read(SSR), block.read(TR)) == (255, 1)


def test_reading_time_freezes_the_shadow_until_the_date_is_read() -> None:
    block = rtc(datetime(2026, 12, 31, 23, 59, 59))
    assert block.read(TR) == 0x23_5959
    block.clock.advance(5 * SECOND)
    assert block.read(TR) == 0x23_5959
    assert block.read(DR) & ~0xE000 == 0x26_1231
    assert block.read(TR) == 0x00_0004
    assert block.read(DR) & ~0xE000 == 0x27_0101


def test_setting_the_calendar() -> None:
    block = rtc()
    set_calendar(block, 0x12_3456, 0x26_E615)  # weekday 7 as software says
    assert (block.read(TR), block.read(DR)) == (0x12_3456, 0x26_E615)
    block.clock.advance(4 * SECOND)
    assert block.read(TR) == 0x12_3500
    assert block.reports.guest_errors == {}


def test_no_valid_date_is_a_guest_error() -> None:
    block = rtc()
    set_calendar(block, 0, 0x26_1305)
    [error] = block.reports.guest_errors.values()
    assert error.text == "RTC: DR 0x00261305 is no date; kept until midnight"
    assert block.read(DR) == 0x26_1305


def test_a_day_0_counts_and_its_alarm_comes() -> None:
    """The vendor's time base by alarm A sets day 0 of month 0 and asks for an alarm on day 0."""
    block = rtc()
    set_calendar(block, 0, 0)
    unlock(block)
    block.write(ALRMAR, 0x0000_0001)
    block.write(CR, 1 << 12 | 1 << 8)
    block.clock.advance(2 * SECOND)
    assert (block.read(TR) & 0x7F, block.read(DR), block.alarm.level) == (2, 0, True)


@pytest.mark.parametrize(
    ("hour", "shown"), [(0, 0x12), (1, 0x01), (11, 0x11), (12, 0x40 | 0x12), (13, 0x40 | 0x01), (23, 0x40 | 0x11)]
)
def test_12_hour_format(hour: int, shown: int) -> None:
    block = rtc(datetime(2026, 1, 1, hour))
    unlock(block)
    block.write(CR, FMT)
    assert block.read(TR) >> 16 == shown
    block.read(DR)
    block.write(ISR, 0xFFFF_FFFF)
    block.write(ISR, 0xFFFF_FFFF & ~INIT)
    assert block.now().hour == hour


@pytest.mark.parametrize("register", [TR, DR, CR, PRER, WUTR, ALRMAR, ALRMBR])
def test_write_protection(register: int) -> None:
    block = rtc()
    before = block.peek(register)
    block.write(register, 0x0011_1111 & ~0x800)
    assert block.peek(register) == before
    [error] = block.reports.guest_errors.values()
    assert "the keys 0xCA, 0x53 were not written to WPR; ignored" in error.text


def test_a_wrong_key_locks_again() -> None:
    block = rtc()
    unlock(block)
    block.write(CR, BYPSHAD)
    block.write(WPR, 0xFF)
    block.write(CR, 0)
    assert block.read(CR) == BYPSHAD


def test_calendar_needs_initialization_mode() -> None:
    block = rtc()
    unlock(block)
    block.write(TR, 0x01)
    [error] = block.reports.guest_errors.values()
    assert error.text == "RTC.TR written (0x00000001) while ISR.INITF=0; ignored"


def test_backup_domain_protection_holds_backup_registers_too() -> None:
    block = rtc()
    block.write(BKP0R, 0x32F2)
    block.write(BKP19R, 1)
    block.backup_writable = lambda: False
    block.write(BKP0R, 5)
    assert (block.read(BKP0R), block.read(BKP19R)) == (0x32F2, 1)
    [error] = block.reports.guest_errors.values()
    assert error.text == "RTC.BKP0R written (0x00000005) while PWR_CR.DBP=0, the backup domain is protected; ignored"


def test_rsf_needs_two_clocks_and_a_clock() -> None:
    block = rtc()
    unlock(block)
    block.clock.advance(SECOND)
    block.write(ISR, 0xFFFF_FF5F)
    assert not block.read(ISR) & RSF
    block.clock.advance(2 * 16_000_000 // 32_768)
    assert block.read(ISR) & RSF
    block.frequency = {"HCLK": 16_000_000, "RTC": 0}.__getitem__
    block.clock_changed()
    block.write(ISR, 0xFFFF_FF5F)
    block.clock.advance(SECOND)
    assert not block.read(ISR) & RSF


def test_it_stands_still_without_a_clock_and_goes_on_through_core_clock_changes() -> None:
    block = rtc(datetime(2026, 1, 1))
    block.clock.advance(3 * SECOND)
    block.frequency = {"HCLK": 168_000_000, "RTC": 32_768}.__getitem__
    block.clock_changed()
    block.clock.advance(2 * 168_000_000)
    assert block.now() == datetime(2026, 1, 1, 0, 0, 5)
    block.frequency = {"HCLK": 168_000_000, "RTC": 0}.__getitem__
    block.clock_changed()
    block.clock.advance(10 * 168_000_000)
    assert block.now() == datetime(2026, 1, 1, 0, 0, 5)


def test_alarm_at_its_second() -> None:
    block = rtc(datetime(2026, 1, 1, 10, 0, 0))
    unlock(block)
    block.write(ALRMAR, 0x0110_0003)  # day 1, 10:00:03
    block.write(ALRMBR, 1 << 31 | 1 << 23 | 1 << 15 | 0x05)  # every minute at second 5
    block.write(CR, ALRAE | ALRAIE | ALRBE | ALRBIE)
    block.clock.advance(3 * SECOND - 1)
    assert not block.alarm.level
    block.clock.advance(1)
    assert block.alarm.level
    assert block.read(ISR) & (ALRAF | ALRBF) == ALRAF
    block.write(ISR, 0xFFFF_FF7F & ~ALRAF)
    assert not block.alarm.level
    block.clock.advance(2 * SECOND)
    assert block.read(ISR) & (ALRAF | ALRBF) == ALRBF


@pytest.mark.parametrize(("select", "cycles"), [(0, 10 * 16 * 16e6 / 32768), (3, 10 * 2 * 16e6 / 32768), (4, 160e6)])
def test_wakeup_timer(select: int, cycles: float) -> None:
    block = rtc()
    unlock(block)
    block.write(WUTR, 9)
    block.write(CR, WUTE | WUTIE | select)
    block.clock.advance(int(cycles) - 1)
    assert not block.wakeup.level
    block.clock.advance(2)
    assert block.wakeup.level
    block.write(ISR, 0xFFFF_FF7F & ~WUTF)
    block.clock.advance(int(cycles) + 1)
    assert block.wakeup.level


def test_add_and_subtract_an_hour() -> None:
    block = rtc(datetime(2026, 3, 29, 1, 59))
    unlock(block)
    block.write(CR, 1 << 16)
    assert block.now() == datetime(2026, 3, 29, 2, 59)
    block.write(CR, 1 << 17)
    assert block.now() == datetime(2026, 3, 29, 1, 59)


def test_snapshot() -> None:
    block = rtc(datetime(2026, 1, 1))
    block.clock.advance(SECOND)
    clock, state = block.clock.save(), block.save()
    block.clock.advance(100 * SECOND)
    block.read(TR)
    block.clock.load(clock)
    block.load(state)
    assert block.now() == datetime(2026, 1, 1, 0, 0, 1)
