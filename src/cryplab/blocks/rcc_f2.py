"""Reset and clock control of STM32F205 to F217, and of F405 to F417."""

from __future__ import annotations

from typing import ClassVar

from cryplab.blocks.rcc_f4 import RccF4
from cryplab.registers import rw

__all__ = ["RccF2", "RccF41"]

SPI_APB2, UART_APB1 = ("SPI4", "SPI5", "SPI6", "SAI1", "LTDC"), ("UART7", "UART8")


def _bits(names: tuple[str, ...], suffix: str) -> tuple[str, ...]:
    return tuple(name + suffix for name in names)


class RccF41(RccF4):
    """Clock tree, clock gates and resets of STM32F405, F407, F415 and F417: the tree of F42x without PLLSAI.

    Departures: those of `RccF4`.

    Source: RM0090, RCC chapter of STM32F405xx, F407xx, F415xx and F417xx; vendor header stm32f417xx.h.
    """

    class CR(RccF4.CR, without=("PLLSAION", "PLLSAIRDY")):
        """clock control register"""

    class CIR(RccF4.CIR, without=("PLLSAIRDYC", "PLLSAIRDYIE", "PLLSAIRDYF")):
        """clock interrupt register"""

    class PLLI2SCFGR(RccF4.PLLI2SCFGR, reset=0x2000_3000, without=("PLLI2SQ",)):
        """PLLI2S configuration"""

    class AHB1RSTR(RccF4.AHB1RSTR, without=_bits(("GPIOJ", "GPIOK", "DMA2D"), "RST")):
        """AHB1 peripheral reset register"""

    class AHB3RSTR(RccF4.AHB3RSTR, without=("FMCRST",)):
        """AHB3 peripheral reset register"""

        FSMCRST = rw(0, "FSMC held in reset")

    class APB1RSTR(RccF4.APB1RSTR, without=_bits(UART_APB1, "RST")):
        """APB1 peripheral reset register"""

    class APB2RSTR(RccF4.APB2RSTR, without=_bits(SPI_APB2, "RST")):
        """APB2 peripheral reset register"""

    class AHB1ENR(RccF4.AHB1ENR, without=_bits(("GPIOJ", "GPIOK", "DMA2D"), "EN")):
        """AHB1 peripheral clock enable register"""

    class AHB3ENR(RccF4.AHB3ENR, without=("FMCEN",)):
        """AHB3 peripheral clock enable register"""

        FSMCEN = rw(0, "FSMC clock on")

    class APB1ENR(RccF4.APB1ENR, without=_bits(UART_APB1, "EN")):
        """APB1 peripheral clock enable register"""

    class APB2ENR(RccF4.APB2ENR, without=_bits(SPI_APB2, "EN")):
        """APB2 peripheral clock enable register"""

    class AHB1LPENR(RccF4.AHB1LPENR, reset=0x7E67_91FF, without=_bits(("GPIOJ", "GPIOK", "DMA2D", "SRAM3"), "LPEN")):
        """AHB1 peripheral clock enable in low power mode register"""

    class AHB3LPENR(RccF4.AHB3LPENR, without=("FMCLPEN",)):
        """AHB3 peripheral clock enable in low power mode register"""

        FSMCLPEN = rw(0, "FSMC clocked in sleep")

    class APB1LPENR(RccF4.APB1LPENR, reset=0x36FE_C9FF, without=_bits(UART_APB1, "LPEN")):
        """APB1 peripheral clock enable in low power mode register"""

    class APB2LPENR(RccF4.APB2LPENR, reset=0x0007_5F33, without=_bits(SPI_APB2, "LPEN")):
        """APB2 peripheral clock enable in low power mode register"""

    lacks: ClassVar[tuple[str, ...]] = ("PLLSAICFGR", "DCKCFGR")


class RccF2(RccF41):
    """Clock tree, clock gates and resets of STM32F205, F207, F215 and F217: that of F41x without core-coupled memory.

    Departures: those of `RccF4`.

    Source: RM0033, RCC chapter; vendor header stm32f217xx.h.
    """

    class AHB1ENR(RccF41.AHB1ENR, reset=0, without=("CCMDATARAMEN",)):
        """AHB1 peripheral clock enable register"""
