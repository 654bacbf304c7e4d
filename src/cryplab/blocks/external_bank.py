"""The address space of FSMC's bank 1: four chip selects of 64 MB for NOR flash, SRAM or a display."""

from __future__ import annotations

from collections.abc import Callable

from cryplab.blocks.fsmc_v1 import FsmcV1
from cryplab.errors import BusError
from cryplab.registers import Block
from cryplab.reports import NotModelled

__all__ = ["SELECT_BYTES", "ExternalBank"]

SELECT_BYTES = 1 << 26
"What one chip select covers."


class ExternalBank(Block):
    """What answers at 0x6000_0000 to 0x6FFF_FFFF, from chip select 1 up.

    An access to a chip select that is not enabled (BCRx.MBKEN), a write to one that cannot be written (BCRx.WREN), and
    any access while the controller's clock is off, is a bus fault and a guest error. Otherwise the SRAM that a
    board has there answers; where nothing is wired, reads give 0, writes are lost, and it is said once.

    Departures: where nothing is wired a board's data bus floats; an access takes what one to internal SRAM takes; while
    the clock is off, silicon may hang instead; no code runs from here; a load or store that is not aligned is a usage
    fault as in peripherals, where silicon does it.

    Source: RM0090, RM0033, chapter FSMC, address mapping and BCRx.
    """

    size = 4 * SELECT_BYTES
    saved = ("contents",)

    def on_reset(self) -> None:
        """Power is off and on: memory is 0."""
        self.contents = bytearray()

    def system_reset(self) -> None:
        """Memory beside the chip does not notice."""

    controller: FsmcV1 | None = None
    clocked: Callable[[], bool] = staticmethod(lambda: True)
    sram_at, sram_bytes = 0, 0
    "The board's SRAM: byte offset in this space, and size, 0 for none."

    def read(self, offset: int, width: int = 4) -> int:
        """A load of `width` bytes. Raises: BusError."""
        self._demand(offset, "read")
        start = offset - self.sram_at
        if 0 <= start <= self.sram_bytes - width:
            return int.from_bytes(self.contents[start : start + width], "little")
        self._nothing(offset)
        return 0

    def write(self, offset: int, value: int, width: int = 4) -> None:
        """A store of `width` bytes. Raises: BusError."""
        self._demand(offset, "written")
        start = offset - self.sram_at
        if 0 <= start <= self.sram_bytes - width:
            if not self.contents:
                self.contents = bytearray(self.sram_bytes)
            self.contents[start : start + width] = value.to_bytes(width, "little")
        else:
            self._nothing(offset)

    def _demand(self, offset: int, verb: str) -> None:
        if self.controller is None:
            raise BusError
        name, select = self.controller.name, offset // SELECT_BYTES + 1
        control = self.controller.control(select)
        if not self.clocked():
            why = f"{name}'s clock is off"
        elif not control.MBKEN:
            why = f"{name}.BCR{select}.MBKEN=0"
        elif verb == "written" and not control.WREN:
            why = f"{name}.BCR{select}.WREN=0"
        else:
            return
        self.guest_error(f"{self.base + offset:#010x} {verb} while {why}; the bus answers with a fault")
        raise BusError

    def _nothing(self, offset: int) -> None:
        select = offset // SELECT_BYTES
        what = f"{self.name} chip select {select + 1}, {self.base + select * SELECT_BYTES:#010x}:"
        text = "nothing is wired there on this board; reads give 0, writes are lost"
        self.reports.not_modelled(NotModelled(self.name, what, text))
