"""Debug MCU block of STM32F2 and F4: who the chip is."""

from __future__ import annotations

from typing import Any

from cryplab.registers import Block, Reg, r, rw

__all__ = ["DbgmcuF4"]


class DbgmcuF4(Block):
    """Device and revision identity; debug freeze bits are remembered.

    Options: `dev_id` (12 bits) and `rev_id` (16 bits).

    Departures: a halted core does not freeze timers or watchdogs.

    Source: RM0090, chapter Debug support.
    """

    class IDCODE(Reg, at=0x00):
        """device identity"""

        REV_ID = r(31, 16, "silicon revision")
        DEV_ID = r(11, 0, "device")

    class CR(Reg, at=0x04):
        """debug configuration register"""

        TRACE_MODE = rw(7, 6, "trace pins")
        TRACE_IOEN = rw(5, "trace pins assigned")
        DBG_STANDBY = rw(2, "clocks run in Standby mode")
        DBG_STOP = rw(1, "clocks run in Stop mode")
        DBG_SLEEP = rw(0, "clocks run in Sleep mode")

    class APB1_FZ(Reg, at=0x08):
        """APB1 freeze register"""

        FREEZE = rw(26, 0, "one bit per block: stands still while the core is halted")

    class APB2_FZ(Reg, at=0x0C):
        """APB2 freeze register"""

        FREEZE = rw(18, 0, "one bit per block: stands still while the core is halted")

    idcode: IDCODE
    cr: CR
    apb1_fz: APB1_FZ
    apb2_fz: APB2_FZ

    def __init__(self, *args: Any, dev_id: int = 0x419, rev_id: int = 0x2003, **kwargs: Any) -> None:
        self._identity = dev_id, rev_id
        super().__init__(*args, **kwargs)

    def on_reset(self) -> None:
        """The identity is wired in."""
        self.idcode.DEV_ID, self.idcode.REV_ID = self._identity
