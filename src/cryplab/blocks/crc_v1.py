"""CRC calculation unit, version 1 (STM32F1, F2, F4, L1)."""

from __future__ import annotations

from cryplab.registers import Block, Reg, rw, w

__all__ = ["CrcV1"]

POLYNOMIAL = 0x04C1_1DB7
START = 0xFFFF_FFFF
CYCLES = 4


class CrcV1(Block):
    """CRC-32 of words: polynomial 0x04C11DB7, most significant bit first, start 0xFFFFFFFF, no final inversion.

    A write of DR takes 4 AHB cycles; a further access to DR before that waits. DR takes words only; the vendor's
    header declares IDR as a byte, so bytes and halfwords reach the other registers.

    Source: RM0090, CRC chapter; CMSIS device header.
    """

    class DR(Reg, at=0x00, reset=START):
        """data register"""

        DR = rw(31, 0, "written: next word; read: the CRC so far")

    class IDR(Reg, at=0x04):
        """independent data register"""

        IDR = rw(7, 0, "a byte that CR.RESET does not touch")

    class CR(Reg, at=0x08):
        """control register"""

        RESET = w(0, "set DR to 0xFFFFFFFF")

    dr: DR
    idr: IDR
    cr: CR

    saved = ("_ready",)

    def on_reset(self) -> None:
        """Idle."""
        self._ready = 0

    def write(self, offset: int, value: int, width: int = 4) -> None:
        """A write by software; part of a word to DR is ignored and reported."""
        if width < 4 and offset & ~3 == self.DR.offset:
            self.guest_error(f"{self.name}.DR written with {8 * width} bits; only 32 bits are legal; ignored")
        else:
            super().write(offset, value, width)

    @DR.being_read
    def _wait(self) -> None:
        now = self.clock.now
        if now < self._ready:
            self.clock.stall(self._ready - now)

    @DR.being_written
    def _next(self, word: int) -> int:
        self._wait()
        self._ready = self.clock.now + CYCLES
        crc = self.dr.value ^ word
        for _ in range(32):
            crc = crc << 1 ^ (POLYNOMIAL if crc >> 31 else 0)
            crc &= START
        return crc

    @CR.written
    def _restart(self) -> None:
        if self.cr.RESET:
            self.dr.value = START
