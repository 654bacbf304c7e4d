"""The Ethernet MAC's time stamp clock: seconds and subseconds that HCLK drives."""

from __future__ import annotations

from typing import Any, ClassVar

from cryplab.blocks.eth_v1_registers import EthV1Registers

__all__ = ["EthPtp"]

BINARY_SECOND, DECIMAL_SECOND = 1 << 31, 1_000_000_000
ADDEND_FULL = 1 << 32


class EthPtp(EthV1Registers):
    """System time since it was last set, in subseconds; brought up to the present when looked at."""

    saved: ClassVar[tuple[str, ...]] = ("_subseconds", "_since", "_part")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._subseconds = self._since = self._part = 0
        super().__init__(*args, **kwargs)

    def reset_time(self) -> None:
        """The clock stands at 0."""
        self._subseconds = self._part = 0
        self._since = self.clock.now

    @property
    def second(self) -> int:
        """Subseconds in a second."""
        return DECIMAL_SECOND if self.ptptscr.TSSSR else BINARY_SECOND

    def time_stamp(self) -> tuple[int, int]:
        """Seconds and subseconds now."""
        now = self.clock.now
        cycles, self._since = now - self._since, now
        if self.ptptscr.TSE:
            if self.ptptscr.TSFCU:
                self._part += cycles * self.ptptsar.TSA
                steps, self._part = divmod(self._part, ADDEND_FULL)
            else:
                steps = cycles
            self._subseconds += steps * self.ptpssir.STSSI
        seconds, subseconds = divmod(self._subseconds, self.second)
        if seconds >> 32:
            self.ptptssr.TSSO = 1
        return seconds & 0xFFFF_FFFF, subseconds

    @EthV1Registers.PTPTSHR.being_read
    def _seconds(self) -> int:
        return self.time_stamp()[0]

    @EthV1Registers.PTPTSLR.being_read
    def _low(self) -> int:
        return self.time_stamp()[1]

    @EthV1Registers.PTPTSCR.being_written
    def _before_change(self, value: int) -> int:
        self.time_stamp()
        return value

    @EthV1Registers.PTPSSIR.being_written
    def _before_step(self, value: int) -> int:
        self.time_stamp()
        return value

    @EthV1Registers.PTPTSCR.written
    def _set_time(self) -> None:
        control, update = self.ptptscr, self.ptptslur
        amount = self.ptptshur.TSUS * self.second + update.TSUSS
        if control.TSSTI:
            self._subseconds, self._part = amount, 0
        elif control.TSSTU:
            self._subseconds = max(0, self._subseconds + (-amount if update.TSUPNS else amount))
        control.TSSTI = control.TSSTU = control.TTSARU = 0
