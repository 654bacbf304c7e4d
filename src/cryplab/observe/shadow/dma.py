"""A DMA controller of streams (version 2) as the accesses show it: what each stream is told to move."""

from __future__ import annotations

from dataclasses import dataclass

from cryplab.observe.contexts import Contexts
from cryplab.observe.shadow.base import Handler, Shadow, Stamp

__all__ = ["DmaShadow", "Transfer"]

# source: vendor header, DMA_Stream_TypeDef: stream n at 0x10 + 0x18 n
STREAMS, FIRST, STEP = 8, 0x10, 0x18
CR, NDTR, PAR, M0AR, FCR = 0x00, 0x04, 0x08, 0x0C, 0x14
LISR, HISR, LIFCR, HIFCR = 0x00, 0x04, 0x08, 0x0C
EN, CIRC, PINC, MINC = 1 << 0, 1 << 8, 1 << 9, 1 << 10
DIRECTIONS = ("peripheral to memory", "memory to peripheral", "memory to memory", "reserved")
TEIF = 1 << 3 | 1 << 9 | 1 << 19 | 1 << 25
"Transfer errors of the four streams of a status register."


@dataclass(frozen=True, slots=True)
class Transfer:
    """A stream as it was enabled. Sizes in bytes, `items` counts peripheral items."""

    stream: int
    control: int
    items: int
    peripheral: int
    memory: int

    @property
    def direction(self) -> str:
        """In words."""
        return DIRECTIONS[self.control >> 6 & 3]

    @property
    def peripheral_bytes(self) -> int:
        """PSIZE."""
        return 1 << min(self.control >> 11 & 3, 2)

    @property
    def memory_bytes(self) -> int:
        """MSIZE."""
        return 1 << min(self.control >> 13 & 3, 2)


class DmaShadow(Shadow):
    """DMA controller. Moments: start(stamp, transfer), error(stamp, value)."""

    kind = "dma"

    def __init__(self, name: str, contexts: Contexts, declared: dict[int, int] | None = None) -> None:
        super().__init__(name, contexts, declared)
        self.reads = {LISR: self.read_status, HISR: self.read_status}
        for n in range(STREAMS):
            for register in (CR, NDTR, PAR, M0AR):
                self.writes[FIRST + STEP * n + register] = self._writer(n, register)

    def clear(self) -> None:
        """As after reset."""
        self.values: dict[tuple[int, int], int] = {}
        self.error: Stamp | None = None

    def _writer(self, stream: int, register: int) -> Handler:
        key = (stream, register)

        def write(cycle: int, pc: int, value: int) -> None:
            old = self.values.get(key, 0)
            self.values[key] = value
            if register == CR and value & EN and not (old & EN and value == old):
                get = self.values.get
                transfer = Transfer(
                    stream, value, get((stream, NDTR), 0) & 0xFFFF, get((stream, PAR), 0), get((stream, M0AR), 0)
                )
                self.emit("start", self.stamp(cycle, pc), transfer)

        return write

    def read_status(self, cycle: int, pc: int, value: int) -> None:
        """LISR or HISR read."""
        if value & TEIF:
            self.error = self.stamp(cycle, pc)
