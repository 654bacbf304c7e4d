"""What the private peripherals of a core share: the core, exception numbers, bits of a priority."""

from __future__ import annotations

from cryplab.clock import Clock
from cryplab.cpu.cortex_m import CortexM
from cryplab.registers import Block
from cryplab.reports import Reports

__all__ = ["CoreBlock", "implemented"]

MEM_MANAGE, BUS_FAULT, USAGE_FAULT = 4, 5, 6
SVCALL, DEBUG_MONITOR, PENDSV, SYSTICK = 11, 12, 14, 15
NMI = 2
FIRST_INTERRUPT = 16
"Exception numbers."


class CoreBlock(Block):
    """A block that belongs to a core; alone it gets a core of its own."""

    def __init__(
        self,
        name: str | None = None,
        *,
        core: CortexM | None = None,
        clock: Clock | None = None,
        reports: Reports | None = None,
    ) -> None:
        self.core = core or CortexM()
        self.engine = self.core.engine
        super().__init__(name, clock=clock, reports=reports)


def implemented(core: CortexM) -> int:
    """Mask of the bits of a priority that the core has."""
    return 0xFF00 >> core.priority_bits & 0xFF
