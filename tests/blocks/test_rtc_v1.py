"""What version 1 of the real-time clock has not, and that the rest counts as in version 2."""

from __future__ import annotations

from datetime import datetime

from test_rtc_v2 import BKP0R, BKP19R, CR, DR, INITF, ISR, PRER, SECOND, SSR, TR, set_calendar, unlock

from cryplab.blocks.rtc_v1 import RtcV1

COSEL, BYPSHAD, SHIFTR, CALR, TAFCR, ALRMASSR = 1 << 19, 1 << 5, 0x2C, 0x3C, 0x40, 0x44
LSI_HZ = 32_000


def rtc(date: datetime | None = None, hz: int = 32_768) -> RtcV1:
    block = RtcV1("RTC")
    block.frequency = {"HCLK": SECOND, "RTC": hz}.__getitem__
    block.clock_changed()
    if date:
        block.date = date
    return block


def test_date_runs_over_the_end_of_a_year() -> None:
    block = rtc(datetime(2026, 12, 31, 23, 59, 59))  # a Thursday
    block.clock.advance(SECOND)
    assert (block.read(TR), block.read(DR)) == (0, 0x27_0101 | 5 << 13)


def test_time_is_always_read_through_the_shadow_registers() -> None:
    block = rtc(datetime(2026, 12, 31, 23, 59, 59))
    unlock(block)
    block.write(CR, BYPSHAD | COSEL)
    assert block.read(CR) == 0
    assert block.read(TR) == 0x23_5959
    block.clock.advance(SECOND)
    assert (block.read(TR), block.read(DR) & ~0xE000) == (0x23_5959, 0x26_1231)
    assert (block.read(TR), block.read(DR) & ~0xE000) == (0, 0x27_0101)


def test_there_are_no_sub_seconds() -> None:
    block = rtc()
    block.clock.advance(SECOND // 2)
    unlock(block)
    for offset in (SSR, SHIFTR, CALR, ALRMASSR, ALRMASSR + 4):
        block.write(offset, 0xFFFF_FFFF)
        assert block.read(offset) == 0, hex(offset)
    block.write(TAFCR, 0xFFFF_FFFF)
    assert block.read(TAFCR) == 0x0007_0007


def test_synchronous_prescaler_of_13_bits_sets_the_length_of_a_second() -> None:
    """LSI: 32,000 Hz by 128 and 250; by 4 and 8000, which needs all 13 bits."""
    for prescalers in (127 << 16 | 249, 3 << 16 | 7999):
        block = rtc(hz=LSI_HZ)
        unlock(block)
        block.write(ISR, 0xFFFF_FFFF)
        assert block.read(ISR) & INITF
        block.write(PRER, 0xFFFF_FFFF)
        assert block.read(PRER) == 0x007F_1FFF
        block.write(PRER, prescalers)
        block.write(ISR, 0xFFFF_FF7F)
        block.clock.advance(SECOND - 1)
        assert (block.read(TR), block.read(DR) & 0) == (0, 0)
        block.clock.advance(1)
        assert block.read(TR) == 1


def test_calendar_is_set_and_backup_words_are_kept() -> None:
    block = rtc()
    set_calendar(block, 0x12_3456, 0x26_E615)
    assert (block.read(TR), block.read(DR)) == (0x12_3456, 0x26_E615)
    for offset, word in ((BKP0R, 0x1234_5678), (BKP19R, 0x9ABC_DEF0)):
        block.write(offset, word)
        block.system_reset()
        assert block.read(offset) == word
    assert block.reports.guest_errors == {}
