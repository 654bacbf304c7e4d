"""Memory protection unit of ARMv7-M.

Source: ARMv7-M Architecture Reference Manual (DDI0403E), B3.5.
"""

from __future__ import annotations

from cryplab.cpu.core_block import CoreBlock
from cryplab.registers import Reg, RegArray, r, rw

__all__ = ["Mpu"]


class Mpu(CoreBlock):
    """Memory protection unit: its registers are remembered, nothing is protected."""

    size = 0x30

    class TYPE(Reg, at=0x00, reset=0x800):
        """type register"""

        DREGION = r(15, 8, "number of regions")

    class CTRL(Reg, at=0x04):
        """control register"""

        PRIVDEFENA = rw(2, "default map for privileged code")
        HFNMIENA = rw(1, "on in HardFault and NMI")
        ENABLE = rw(0, "enable: nothing is protected", modelled=False)

    class RNR(Reg, at=0x08):
        """region number register"""

        REGION = rw(7, 0, "region that RBAR and RASR show")

    class RBAR(Reg, at=0x0C, array=4, step=8, names=("RBAR", "RBAR_A1", "RBAR_A2", "RBAR_A3")):
        """region base address register"""

        ADDR = rw(31, 5, "base address")
        VALID = rw(4, "REGION below becomes the region number")
        REGION = rw(3, 0, "region number")

    class RASR(Reg, at=0x10, array=4, step=8, names=("RASR", "RASR_A1", "RASR_A2", "RASR_A3")):
        """region attribute and size register"""

        XN = rw(28, "never execute")
        AP = rw(26, 24, "access permission")
        TEX = rw(21, 19, "type extension")
        S = rw(18, "shareable")
        C = rw(17, "cacheable")
        B = rw(16, "bufferable")
        SRD = rw(15, 8, "sub-regions off")
        SIZE = rw(5, 1, "log2 of the size, less 1")
        ENABLE = rw(0, "region enable")

    type: TYPE
    ctrl: CTRL
    rnr: RNR
    rbar: RegArray[RBAR]
    rasr: RegArray[RASR]

    saved = ("regions",)
    REGIONS = 8

    def on_reset(self) -> None:
        """No region."""
        self.regions = [[0, 0] for _ in range(self.REGIONS)]

    @property
    def _region(self) -> list[int]:
        return self.regions[self.rnr.REGION % self.REGIONS]

    @RBAR.written
    def new_base(self, index: int) -> None:
        """VALID chooses the region at once."""
        register = self.rbar[index]
        if register.VALID:
            self.rnr.REGION = register.REGION
        self._region[0] = register.value & ~0x1F

    @RBAR.being_read
    def read_base(self, index: int) -> int:
        """Of the region that RNR names."""
        return self._region[0] | self.rnr.REGION & 0xF

    @RASR.written
    def new_attributes(self, index: int) -> None:
        """Of the region that RNR names."""
        self._region[1] = self.rasr[index].value

    @RASR.being_read
    def read_attributes(self, index: int) -> int:
        """Of the region that RNR names."""
        return self._region[1]
