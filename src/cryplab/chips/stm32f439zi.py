"""STM32F439ZI: the STM32F437 with a display controller, 2 MB of flash, 144 pins; STM32F429ZI without CRYP, HASH."""

from cryplab.chip import NotModelled
from cryplab.chips.stm32f437ii import STM32F437II

__all__ = ["STM32F429ZI", "STM32F439ZI"]

STM32F439ZI = STM32F437II.plus(                  # source: RM0090, DS9484; vendor header stm32f439xx.h
    NotModelled("LTDC", 0x4001_6800, clock="RCC.APB2ENR.LTDCEN"),
).renamed("stm32f439zi")  # fmt: skip

STM32F429ZI = STM32F439ZI.without("CRYP", "HASH").renamed("stm32f429zi")
