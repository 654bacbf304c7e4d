"""NVIC: interrupts enabled, pending, active, and their priorities.

Source: ARMv7-M Architecture Reference Manual (DDI0403E), B3.4.
"""

from __future__ import annotations

from cryplab.cpu.core_block import FIRST_INTERRUPT, CoreBlock, implemented
from cryplab.registers import Reg, RegArray, r, rc_w1, rs, rw, w

__all__ = ["Nvic", "Stir"]


class Nvic(CoreBlock):
    """Nested vectored interrupt controller: enable, pending, active and priority of each interrupt.

    An input that is still high when its handler returns sets the interrupt pending again.
    """

    size = 0xC00

    class ISER(Reg, at=0x000, array=8):
        """interrupt set-enable register"""

        SETENA = rs(31, 0, "1 enables")

    class ICER(Reg, at=0x080, array=8):
        """interrupt clear-enable register"""

        CLRENA = rc_w1(31, 0, "1 disables")

    class ISPR(Reg, at=0x100, array=8):
        """interrupt set-pending register"""

        SETPEND = rs(31, 0, "1 sets pending")

    class ICPR(Reg, at=0x180, array=8):
        """interrupt clear-pending register"""

        CLRPEND = rc_w1(31, 0, "1 clears pending")

    class IABR(Reg, at=0x200, array=8):
        """interrupt active bit register"""

        ACTIVE = r(31, 0, "1 while active")

    class IPR(Reg, at=0x300, array=60):
        """interrupt priority register"""

        PRI_3 = rw(31, 24, "priority of interrupt 4n+3")
        PRI_2 = rw(23, 16, "priority of interrupt 4n+2")
        PRI_1 = rw(15, 8, "priority of interrupt 4n+1")
        PRI_0 = rw(7, 0, "priority of interrupt 4n")

    iser: RegArray[ISER]
    icer: RegArray[ICER]
    ispr: RegArray[ISPR]
    icpr: RegArray[ICPR]
    iabr: RegArray[IABR]
    ipr: RegArray[IPR]

    def _existing(self, word: int, index: int) -> int:
        count = min(32, max(0, self.core.interrupts - 32 * index))
        return word & ((1 << count) - 1)

    @ISER.being_read
    def read_enabled(self, index: int) -> int:
        """Which are enabled."""
        return self.engine.bits("enabled", FIRST_INTERRUPT + 32 * index)

    @ICER.being_read
    def read_enabled_again(self, index: int) -> int:
        """Which are enabled."""
        return self.engine.bits("enabled", FIRST_INTERRUPT + 32 * index)

    @ISER.being_written
    def enable(self, index: int, word: int) -> None:
        """Enable."""
        self.engine.change("enabled", FIRST_INTERRUPT + 32 * index, self._existing(word, index), True)

    @ICER.being_written
    def disable(self, index: int, word: int) -> None:
        """Disable."""
        self.engine.change("enabled", FIRST_INTERRUPT + 32 * index, word, False)

    @ISPR.being_read
    def read_pending(self, index: int) -> int:
        """Which are pending."""
        return self.engine.bits("pending", FIRST_INTERRUPT + 32 * index)

    @ICPR.being_read
    def read_pending_again(self, index: int) -> int:
        """Which are pending."""
        return self.engine.bits("pending", FIRST_INTERRUPT + 32 * index)

    @ISPR.being_written
    def set_pending(self, index: int, word: int) -> None:
        """Set pending."""
        self.engine.change("pending", FIRST_INTERRUPT + 32 * index, self._existing(word, index), True)

    @ICPR.being_written
    def clear_pending(self, index: int, word: int) -> None:
        """Clear pending; an input that is high sets it again at once."""
        self.engine.change("pending", FIRST_INTERRUPT + 32 * index, word, False)

    @IABR.being_read
    def read_active(self, index: int) -> int:
        """Which are active."""
        return self.engine.bits("active", FIRST_INTERRUPT + 32 * index)

    @IPR.written
    def set_priority(self, index: int) -> None:
        """Bits that are not implemented read as 0."""
        register = self.ipr[index]
        register.value &= implemented(self.core) * 0x0101_0101
        for lane in range(4):
            if 4 * index + lane < self.core.interrupts:
                self.engine.priority(FIRST_INTERRUPT + 4 * index + lane, register.value >> 8 * lane & 0xFF)


class Stir(CoreBlock):
    """Software trigger of the NVIC."""

    size = 0x04

    class STIR(Reg, at=0x00):
        """software trigger interrupt register"""

        INTID = w(8, 0, "interrupt to set pending")

    stir: STIR

    @STIR.written
    def trigger(self) -> None:
        """Set it pending."""
        number = self.stir.INTID
        if number < self.core.interrupts:
            self.engine.change("pending", FIRST_INTERRUPT + number, 1, True)
