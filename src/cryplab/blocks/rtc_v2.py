"""Real-time clock, version 2 (STM32F4, L1); version 1 is in rtc_v1.py."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from cryplab.blocks.rtc_v2_registers import RtcV2Registers
from cryplab.clock import Event
from cryplab.wires import Line

__all__ = ["RtcV2"]

EPOCH = datetime(2000, 1, 1)
MONDAY = 1
UNLOCK = (0xCA, 0x53)
SYNC_CLOCKS = 2
WAKE_DIVIDERS = (16, 8, 4, 2)
HOURS_12 = 12
CENTURY = 100


def _always() -> bool:
    return True


def bcd(number: int) -> tuple[int, int]:
    """Tens and units."""
    return divmod(number, 10)


class RtcV2(RtcV2Registers):
    """Calendar with sub-seconds, two alarms, wake-up timer, 20 backup registers.

    `date` is what the calendar shows when the chip gets power, as if a battery had kept it (None: 2000-01-01, never
    set); its year counts modulo 100. The calendar runs while the RCC gives the clock `RTC`. `backup_writable` tells
    whether PWR_CR.DBP lets registers be written.

    Departures: a reset of the backup domain brings `date` back; INITS reads 0 while the RTC has no clock (a battery
    would have kept that too); initialization mode is entered at once; a date that is none, such as day 0, is kept
    until midnight; calibration, shift, sub-second alarms, time stamps, tampers and outputs are remembered only.

    Source: RM0090, RTC chapter.
    """

    alarm: Line
    wakeup: Line
    tamper_stamp: Line

    lines = ("alarm", "wakeup", "tamper_stamp")
    saved = (
        "_start",
        "_weekday",
        "_odd_date",
        "_ticks",
        "_rest",
        "_anchor",
        "_rate",
        "_key",
        "_frozen",
        "_cleared",
        "_second",
        "_wake",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.backup_writable: Callable[[], bool] = _always
        self._date: datetime | None = None
        self._second: Event | None = None
        self._wake: Event | None = None
        super().__init__(*args, **kwargs)

    @property
    def date(self) -> datetime | None:
        """What the calendar starts at; setting it sets the calendar."""
        return self._date

    @date.setter
    def date(self, value: datetime | None) -> None:
        if value and value.tzinfo:
            value = value.astimezone(UTC)
        self._date = value.replace(tzinfo=None, microsecond=0) if value else None
        self._set_calendar(self._date or EPOCH, None if self._date else MONDAY)

    def on_reset(self) -> None:
        """The backup domain gets power."""
        for event in (self._second, self._wake):
            self.clock.cancel(event)
        self._second = self._wake = None
        self._key = 0
        self._frozen: tuple[int, int, int] | None = None
        self._rate = (0, 1)
        self._cleared = self.clock.now
        self._set_calendar(self._date or EPOCH, None if self._date else MONDAY)
        self._rate = self._present_rate()
        self._update_lines()

    def system_reset(self) -> None:
        """A reset of the chip does not reach the backup domain."""
        self._key, self._frozen = 0, None

    def clock_changed(self) -> None:
        """Count up to now at the old rate, go on at the new one."""
        self._catch_up()
        rate = self._present_rate()
        if rate != self._rate:
            self._rate, self._rest = rate, 0
        self._schedule()

    # -- counting ------------------------------------------------------------------------------
    def _present_rate(self) -> tuple[int, int]:
        """Core cycles per tick of the asynchronous prescaler, as a fraction; 0 as numerator while it stands still."""
        rtc, core = self.frequency("RTC"), self.frequency("HCLK")
        return (core * (self.prer.PREDIV_A + 1), rtc) if rtc and core else (0, 1)

    def _set_calendar(self, moment: datetime, weekday: int | None) -> None:
        """The calendar shows `moment` now; weekday 1 is Monday, None the true one."""
        self._start, self._weekday = moment, weekday or moment.isoweekday()
        self._odd_date: int | None = None
        self._ticks = self._rest = 0
        self._anchor = self.clock.now

    def _catch_up(self) -> None:
        now = self.clock.now
        passed, self._anchor = now - self._anchor, now
        per_tick, scale = self._rate
        if per_tick and not self.isr.INITF:
            ticks, self._rest = divmod(passed * scale + self._rest, per_tick)
            self._ticks += ticks

    def now(self) -> datetime:
        """What the calendar shows."""
        self._catch_up()
        moment = self._start + timedelta(seconds=self._ticks // (self.prer.PREDIV_S + 1))
        return moment if moment.year < EPOCH.year + CENTURY else moment.replace(year=moment.year - CENTURY)

    def _words(self) -> tuple[int, int, int]:
        """SSR, TR and DR at this cycle."""
        moment = self.now()
        days = (moment.date() - self._start.date()).days
        time, date = self.TR(), self.DR()
        hour = moment.hour
        if self.cr.FMT:
            time.PM, hour = int(hour >= HOURS_12), hour % HOURS_12 or HOURS_12
        time.HT, time.HU = bcd(hour)
        time.MNT, time.MNU = bcd(moment.minute)
        time.ST, time.SU = bcd(moment.second)
        date.YT, date.YU = bcd(moment.year % CENTURY)
        date.MT, date.MU = bcd(moment.month)
        date.DT, date.DU = bcd(moment.day)
        date.WDU = (self._weekday - 1 + days) % 7 + 1
        if self._odd_date is not None and days == 0:
            date.value = self._odd_date
        return self.prer.PREDIV_S - self._ticks % (self.prer.PREDIV_S + 1), time.value, date.value

    # -- reading the calendar ------------------------------------------------------------------
    def _read(self, which: int) -> int:
        """Reading SSR or TR freezes the shadow registers until DR is read."""
        if self.isr.INITF:
            return (self.ssr.value, self.tr.value, self.dr.value)[which]
        if self.cr.BYPSHAD:
            return self._words()[which]
        words = self._frozen or self._words()
        self._frozen = None if which == 2 else words
        return words[which]

    @RtcV2Registers.SSR.being_read
    def _read_subseconds(self) -> int:
        return self._read(0)

    @RtcV2Registers.TR.being_read
    def _read_time(self) -> int:
        return self._read(1)

    @RtcV2Registers.DR.being_read
    def _read_date(self) -> int:
        return self._read(2)

    @RtcV2Registers.ISR.being_read
    def _read_status(self) -> None:
        isr, cr = self.isr, self.cr
        rtc, core = self.frequency("RTC"), self.frequency("HCLK")
        synchronised = rtc and self.clock.now - self._cleared >= SYNC_CLOCKS * core // rtc
        isr.RSF = int(bool(synchronised) and not isr.INITF)
        isr.INITS = int(bool(rtc) and self.now().year != EPOCH.year)
        isr.ALRAWF, isr.ALRBWF, isr.WUTWF = cr.ALRAE ^ 1, cr.ALRBE ^ 1, cr.WUTE ^ 1

    # -- write protection ----------------------------------------------------------------------
    @RtcV2Registers.WPR.written
    def _take_key(self) -> None:
        key = self.wpr.KEY
        if self._key < len(UNLOCK) and key == UNLOCK[self._key]:
            self._key += 1
        else:
            self._key = int(key == UNLOCK[0])

    def _may_write(self, register: str, value: int, *, keys: bool = True, init: bool = False) -> int | None:
        """The value, or None with a guest error when a lock is closed."""
        why = ""
        if not self.backup_writable():
            why = "PWR_CR.DBP=0, the backup domain is protected"
        elif keys and self._key < len(UNLOCK):
            why = "the keys 0xCA, 0x53 were not written to WPR"
        elif init and not self.isr.INITF:
            why = "ISR.INITF=0"
        if not why:
            return value
        self.guest_error(f"{self.name}.{register} written ({value:#010x}) while {why}; ignored")
        return None

    @RtcV2Registers.TR.being_written
    def _write_time(self, value: int) -> int | None:
        return self._may_write("TR", value, init=True)

    @RtcV2Registers.DR.being_written
    def _write_date(self, value: int) -> int | None:
        return self._may_write("DR", value, init=True)

    @RtcV2Registers.PRER.being_written
    def _write_prescaler(self, value: int) -> int | None:
        return self._may_write("PRER", value, init=True)

    @RtcV2Registers.CR.being_written
    def _write_control(self, value: int) -> int | None:
        return self._may_write("CR", value)

    @RtcV2Registers.WUTR.being_written
    def _write_wakeup(self, value: int) -> int | None:
        return self._may_write("WUTR", value)

    @RtcV2Registers.ALRMR.being_written
    def _write_alarm(self, index: int, value: int) -> int | None:
        return self._may_write(self.ALRMR.names[index], value)

    @RtcV2Registers.BKPR.being_written
    def _write_backup(self, index: int, value: int) -> int | None:
        return self._may_write(self.BKPR.names[index], value, keys=False)

    # -- setting the calendar ------------------------------------------------------------------
    @RtcV2Registers.ISR.being_written
    def _write_status(self, value: int) -> int | None:
        """Only flags of alarms, wake-up, time stamp and tamper are free of the write protection."""
        protected = self.ISR.INIT.bits | self.ISR.RSF.bits
        if self._key < len(UNLOCK):
            value = value & ~protected | self.isr.value & protected | self.ISR.RSF.bits
        if self._may_write("ISR", value, keys=False) is None:
            return None
        if not value & self.ISR.RSF.bits:
            self._cleared = self.clock.now
        return value

    @RtcV2Registers.ISR.written
    def _initialize(self) -> None:
        isr = self.isr
        if isr.INIT and not isr.INITF:
            self.ssr.value, self.tr.value, self.dr.value = self._words()
            isr.INITF = 1
        elif isr.INITF and not isr.INIT:
            isr.INITF = 0
            self._rate = self._present_rate()
            moment = self._written_moment()
            self._set_calendar(moment or EPOCH + self._written_time(), self.dr.WDU or None)
            if moment is None:
                self._odd_date = self.dr.value
                self.guest_error(f"{self.name}: DR {self.dr.value:#010x} is no date; kept until midnight")
            self._frozen, self._cleared = None, self.clock.now
        self._schedule()

    def _written_moment(self) -> datetime | None:
        """What TR and DR say, None when the date is none (the vendor's time base counts on a day 0)."""
        dr = self.dr
        try:
            date = datetime(EPOCH.year + 10 * dr.YT + dr.YU, 10 * dr.MT + dr.MU, 10 * dr.DT + dr.DU)
        except ValueError:
            return None
        return date + self._written_time()

    def _written_time(self) -> timedelta:
        tr = self.tr
        return timedelta(hours=self._hour(tr), minutes=10 * tr.MNT + tr.MNU, seconds=10 * tr.ST + tr.SU)

    def _hour(self, reg: Any) -> int:
        """Hour of day of TR or an alarm register."""
        hour: int = 10 * reg.HT + reg.HU
        return hour % HOURS_12 + HOURS_12 * reg.PM if self.cr.FMT else hour

    @RtcV2Registers.CR.written
    def _control(self) -> None:
        self._catch_up()
        hours = self.cr.ADD1H - self.cr.SUB1H
        self._start += timedelta(hours=hours)
        if self.cr.WUTE and self._wake is None:
            self._start_wake()
        elif not self.cr.WUTE:
            self.clock.cancel(self._wake)
            self._wake = None
        self._schedule()

    # -- alarms and wake-up --------------------------------------------------------------------
    def _schedule(self) -> None:
        """While an alarm is on, look at each new second."""
        self._update_lines()
        self.clock.cancel(self._second)
        self._second = None
        per_tick, scale = self._rate
        if not (self.cr.ALRAE or self.cr.ALRBE) or not per_tick or self.isr.INITF:
            return
        self._catch_up()
        ticks = self.prer.PREDIV_S + 1 - self._ticks % (self.prer.PREDIV_S + 1)
        self._second = self.clock.after(-((self._rest - ticks * per_tick) // scale), self._new_second)

    def _new_second(self) -> None:
        self._second = None
        moment = self.now()
        for index, (enable, flag) in enumerate((("ALRAE", "ALRAF"), ("ALRBE", "ALRBF"))):
            if getattr(self.cr, enable) and self._matches(self.alrmr[index], moment):
                setattr(self.isr, flag, 1)
        self._schedule()

    def _matches(self, alarm: RtcV2Registers.ALRMR, moment: datetime) -> bool:
        date = self._words()[2]
        today = self.DR.WDU.of(date) if alarm.WDSEL else 10 * self.DR.DT.of(date) + self.DR.DU.of(date)
        day = alarm.DU if alarm.WDSEL else 10 * alarm.DT + alarm.DU
        minute, second = 10 * alarm.MNT + alarm.MNU, 10 * alarm.ST + alarm.SU
        return (
            (bool(alarm.MSK1) or second == moment.second)
            and (bool(alarm.MSK2) or minute == moment.minute)
            and (bool(alarm.MSK3) or self._hour(alarm) == moment.hour)
            and (bool(alarm.MSK4) or day == today)
        )

    def _start_wake(self) -> None:
        """The wake-up timer counts WUT + 1 of its clocks."""
        select, rtc, core = self.cr.WUCKSEL, self.frequency("RTC"), self.frequency("HCLK")
        counts = self.wutr.WUT + 1 + (0x1_0000 if select >= 6 else 0)
        divider = WAKE_DIVIDERS[select] if select < 4 else (self.prer.PREDIV_A + 1) * (self.prer.PREDIV_S + 1)
        if rtc:
            self._wake = self.clock.after(counts * divider * core // rtc, self._woken)

    def _woken(self) -> None:
        self.isr.WUTF = 1
        self._wake = None
        self._start_wake()
        self._update_lines()

    def _update_lines(self) -> None:
        isr, cr = self.isr, self.cr
        self.alarm.set(isr.ALRAF & cr.ALRAIE | isr.ALRBF & cr.ALRBIE)
        self.wakeup.set(isr.WUTF & cr.WUTIE)
        self.tamper_stamp.set(isr.TSF & cr.TSIE | (isr.TAMP1F | isr.TAMP2F) & self.tafcr.TAMPIE)
