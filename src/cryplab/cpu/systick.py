"""SysTick, the timer of every Cortex-M.

Source: ARMv7-M Architecture Reference Manual (DDI0403E), B3.3.
"""

from __future__ import annotations

from typing import Any

from cryplab.clock import NEVER, Event
from cryplab.cpu.core_block import SYSTICK, CoreBlock
from cryplab.registers import Reg, r, rw
from cryplab.served import Status

__all__ = ["SysTick"]


class SysTick(CoreBlock):
    """System timer: counts down from RVR to 0 and sets its exception pending.

    Exact to the cycle: the value follows from the clock when it is read, the exception is an event of the clock.
    CALIB holds ST's value for F42x and F43x (RM0090): 22500 gives 1 ms with HCLK / 8 at 180 MHz.

    CMSIS calls its registers CTRL, LOAD, VAL and CALIB.

    Departures: the phase of HCLK / 8 starts when the counter is enabled or written.
    """

    size = 0x10

    class CSR(Reg, at=0x00):
        """control and status register"""

        COUNTFLAG = r(16, "counted to 0 since last read")
        CLKSOURCE = rw(2, "clock", values={0: "HCLK/8", 1: "HCLK"})
        TICKINT = rw(1, "exception at 0 enable")
        ENABLE = rw(0, "counter enable")

    class RVR(Reg, at=0x04):
        """reload value register"""

        RELOAD = rw(23, 0, "value after 0; the period is one more")

    class CVR(Reg, at=0x08):
        """current value register"""

        CURRENT = rw(23, 0, "count; any write clears it and COUNTFLAG")

    class CALIB(Reg, at=0x0C, reset=0x4000_0000 | 22500):
        """calibration value register"""

        NOREF = r(31, "no reference clock")
        SKEW = r(30, "TENMS is not exact")
        TENMS = r(23, 0, "reload value for 1 ms (ST) with the reference clock")

    csr: CSR
    rvr: RVR
    cvr: CVR
    calib: CALIB

    loads = {"CSR": "_control"}
    saved = ("_control", "_count", "_event", "_flag", "_since")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._control = Status()
        super().__init__(*args, **kwargs)

    def on_reset(self) -> None:
        """Stopped at 0."""
        self.clock.cancel(getattr(self, "_event", None))
        self._event: Event | None = None
        self._control.until = 0
        self._since, self._count, self._flag = self.clock.now, 0, False

    @property
    def _divider(self) -> int:
        return 1 if self.csr.CLKSOURCE else 8

    def _follow(self) -> None:
        """Bring count and flag up to now."""
        now = self.clock.now
        if not self.csr.ENABLE or now <= self._since:
            return
        ticks, rest = divmod(now - self._since, self._divider)
        self._since = now - rest
        if ticks < self._count:
            self._count -= ticks
            return
        if self._count:
            ticks -= self._count
            self._count, self._flag = 0, True
        period = self.rvr.value + 1
        if period > 1:
            self._flag = self._flag or ticks >= period
            self._count = -ticks % period

    def _schedule(self) -> None:
        self.clock.cancel(self._event)
        self._event = None
        self._control.until = 0
        if self.csr.TICKINT and (zero := self._next_zero()) != NEVER:
            self._event = self.clock.at(zero, self._reached_zero)

    def _next_zero(self) -> int:
        """The cycle at which the counter, brought up to now, next counts to 0."""
        ticks = self._count or (self.rvr.value + 1 if self.rvr.value else 0)
        return self._since + ticks * self._divider if ticks and self.csr.ENABLE else NEVER

    def _reached_zero(self) -> None:
        self._event = None
        self._follow()
        self.engine.change("pending", SYSTICK, 1, True)
        self._schedule()

    @CSR.being_read
    def read_control(self) -> int:
        """COUNTFLAG falls when it was read. The core answers until it rises again."""
        self._follow()
        word = self.csr.value | self._flag << 16
        self._flag = False
        self._control.value, self._control.until = self.csr.value, self._next_zero()
        return word

    @CSR.being_written
    def before_control(self, value: int) -> int:
        """Count with the old settings up to now."""
        self._follow()
        if value & 1 and not self.csr.ENABLE:
            self._since = self.clock.now
        return value

    @CSR.written
    def new_control(self) -> None:
        """Plan the next exception."""
        self._schedule()

    @RVR.being_written
    def before_load(self, value: int) -> int:
        """The count in progress ends with what it had."""
        self._follow()
        return value

    @RVR.written
    def new_load(self) -> None:
        """Plan the next exception."""
        self._schedule()

    @CVR.being_read
    def read_value(self) -> int:
        """The count now."""
        self._follow()
        return self._count

    @CVR.being_written
    def clear_value(self, _value: int) -> None:
        """Any write clears the count and COUNTFLAG, and makes no exception."""
        self._since, self._count, self._flag = self.clock.now, 0, False
        self._schedule()
