"""Private peripherals of Cortex-M3 and M4: SysTick, NVIC, system control, MPU, FPU control.

They are blocks like the chip's, at addresses that every ARMv7-M part shares; `Private` makes them all for one core.
What decides about exceptions lives in the native engine (native/exceptions.h), so these registers read and write it.

Source: ARMv7-M Architecture Reference Manual (DDI0403E), B3; Cortex-M4 Technical Reference Manual for
implementation-defined values. Debug and trace blocks are in `cpu.debug`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cryplab.clock import Clock
from cryplab.cpu.core_block import CoreBlock
from cryplab.cpu.cortex_m import CortexM
from cryplab.cpu.debug import CoreDebug, Dwt, Itm, Tpiu
from cryplab.cpu.mpu import Mpu
from cryplab.cpu.nvic import Nvic, Stir
from cryplab.cpu.scb import FpuControl, Scb, ScnScb
from cryplab.cpu.systick import SysTick
from cryplab.registers import Block
from cryplab.reports import Reports

__all__ = ["PRIVATE_BLOCKS", "Private"]


PRIVATE_BLOCKS: dict[str, type[Block]] = {
    "ITM": Itm,
    "DWT": Dwt,
    "SCNSCB": ScnScb,
    "SYSTICK": SysTick,
    "NVIC": Nvic,
    "SCB": Scb,
    "MPU": Mpu,
    "COREDEBUG": CoreDebug,
    "STIR": Stir,
    "FPU": FpuControl,
    "TPIU": Tpiu,
}
"Every block that `Private` makes, by its name."


class Private:
    """All private peripherals of one core.

    `slots()` gives (base, size, block) for the bus; `itm_output` is called with the bytes that the guest writes to
    stimulus port 0.
    """

    def __init__(self, core: CortexM, *, clock: Clock | None = None, reports: Reports | None = None) -> None:
        shared_clock = clock or Clock(source=core.source)
        shared_reports = reports or Reports()
        if core.on_deadline is None:
            core.on_deadline = shared_clock.run_due

        def make(kind: type[CoreBlock], name: str) -> CoreBlock:
            return kind(name, core=core, clock=shared_clock, reports=shared_reports)

        self.core, self.clock = core, shared_clock
        self.debug = CoreDebug("COREDEBUG", clock=shared_clock, reports=shared_reports)
        self.dwt = Dwt("DWT", clock=shared_clock, reports=shared_reports, debug=self.debug)
        self.itm = Itm("ITM", clock=shared_clock, reports=shared_reports)
        tpiu = Tpiu("TPIU", clock=shared_clock, reports=shared_reports)
        self._slots: list[tuple[int, Block]] = [
            (0xE000_0000, self.itm),
            (0xE000_1000, self.dwt),
            (0xE000_E000, make(ScnScb, "SCNSCB")),
            (0xE000_E010, make(SysTick, "SYSTICK")),
            (0xE000_E100, make(Nvic, "NVIC")),
            (0xE000_ED00, make(Scb, "SCB")),
            (0xE000_ED90, make(Mpu, "MPU")),
            (0xE000_EDF0, self.debug),
            (0xE000_EF00, make(Stir, "STIR")),
            (0xE000_EF34, make(FpuControl, "FPU")),
            (0xE004_0000, tpiu),
        ]

    @property
    def itm_output(self) -> Callable[[bytes], None]:
        """Takes what the guest writes to stimulus port 0."""
        return self.itm.output

    @itm_output.setter
    def itm_output(self, output: Callable[[bytes], None]) -> None:
        self.itm.output = output

    def slots(self) -> Iterator[tuple[int, int, Block]]:
        """Base, size in bytes and block, in order of address."""
        for base, block in self._slots:
            yield base, block.size, block
