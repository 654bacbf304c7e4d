"""A core that does not run, with its private peripherals."""

from cryplab.cpu.cortex_m import CortexM
from cryplab.cpu.private import Private

ICSR, PENDING_SYSTICK = 0x04, 1 << 26


class Bench:
    def __init__(self, model="cortex-m4", interrupts=91):
        self.core = CortexM(model, interrupts=interrupts)
        self.private = Private(self.core)
        self.clock = self.private.clock
        self.block = {block.name: block for _, _, block in self.private.slots()}
        self.core.reset(0)

    def pending(self):
        return bool(self.block["SCB"].read(ICSR) & PENDING_SYSTICK)
