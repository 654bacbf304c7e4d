"""System configuration controller of STM32F427 to F439."""

from __future__ import annotations

from collections.abc import Callable

from cryplab.registers import Block, Reg, RegArray, r, rw

__all__ = ["SyscfgF2", "SyscfgF4"]


def _nobody(mode: int) -> None:
    """Nobody listens."""


class SyscfgF4(Block):
    """Memory remap, external interrupt ports, Ethernet PHY interface, compensation cell.

    `on_remap(mode)` is called when MEM_MODE changes: 0 main flash, 1 system memory, 2 FMC bank 1,
    3 SRAM1, 4 SDRAM bank 1 at address 0. `port(line)` gives the GPIO port (0 is A) of an EXTI line.

    Departures: swapping FMC banks and flash banks is not modelled.

    Source: RM0090, SYSCFG chapter of STM32F42xxx and STM32F43xxx.
    """

    class MEMRMP(Reg, at=0x00):
        """memory remap register"""

        SWP_FMC = rw(11, 10, "swap FMC banks", modelled=False)
        FB_MODE = rw(8, "flash bank 2 first", modelled=False)
        MEM_MODE = rw(2, 0, "what is at address 0", values={1: "system", 2: "FMC1", 3: "SRAM1", 4: "SDRAM1"})

    class PMC(Reg, at=0x04):
        """peripheral mode configuration register"""

        MII_RMII_SEL = rw(23, "Ethernet PHY interface", values={0: "MII", 1: "RMII"})
        ADC3DC2 = rw(18, "ADC3 accuracy option")
        ADC2DC2 = rw(17, "ADC2 accuracy option")
        ADC1DC2 = rw(16, "ADC1 accuracy option")

    class EXTICR(Reg, at=0x08, array=4, names=("EXTICR1", "EXTICR2", "EXTICR3", "EXTICR4")):
        """external interrupt configuration: GPIO port of four EXTI lines each; 0 is port A"""

        EXTI3 = rw(15, 12, "port of line 3, 7, 11, 15")
        EXTI2 = rw(11, 8, "port of line 2, 6, 10, 14")
        EXTI1 = rw(7, 4, "port of line 1, 5, 9, 13")
        EXTI0 = rw(3, 0, "port of line 0, 4, 8, 12")

    class CMPCR(Reg, at=0x20):
        """compensation cell control register"""

        READY = r(8, "compensation cell ready")
        CMP_PD = rw(0, "compensation cell on")

    memrmp: MEMRMP
    pmc: PMC
    exticr: RegArray[EXTICR]
    cmpcr: CMPCR

    on_remap: Callable[[int], None] = staticmethod(_nobody)
    saved = ("_mode",)

    def on_reset(self) -> None:
        """Boot pins select the main flash."""
        self._mode = 0
        self.on_remap(0)

    def port(self, line: int) -> int:
        """GPIO port (0 is A) that drives EXTI line 0 to 15."""
        reg = self.exticr[line // 4]
        return (reg.EXTI0, reg.EXTI1, reg.EXTI2, reg.EXTI3)[line % 4]

    @MEMRMP.written
    def _remap(self) -> None:
        mode = self.memrmp.MEM_MODE
        if mode != self._mode:
            self._mode = mode
            self.on_remap(self._mode)

    @CMPCR.written
    def _compensate(self) -> None:
        self.cmpcr.READY = self.cmpcr.CMP_PD


class SyscfgF2(SyscfgF4):
    """The same for STM32F205 to F217 and F405 to F417: static memories only, one flash bank.

    Departures: FSMC bank 1 at address 0 is not modelled.

    Source: RM0033 and RM0090, SYSCFG chapters; vendor header stm32f217xx.h.
    """

    class MEMRMP(SyscfgF4.MEMRMP, without=("SWP_FMC", "FB_MODE", "MEM_MODE")):
        """memory remap register"""

        MEM_MODE = rw(1, 0, "what is at address 0", values={1: "system", 2: "FSMC1", 3: "SRAM1"})

    class PMC(SyscfgF4.PMC, without=("ADC1DC2", "ADC2DC2", "ADC3DC2")):
        """peripheral mode configuration register"""
