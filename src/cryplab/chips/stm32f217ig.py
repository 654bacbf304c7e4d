"""STM32F217IG: Cortex-M3 at 120 MHz, 1 MB flash, CRYP and HASH of version 1, RNG; F215 lacks Ethernet and camera.

STM32F207 is the F217 without CRYP and HASH.
"""

from dataclasses import replace

from cryplab.blocks.dbgmcu import DbgmcuF4
from cryplab.blocks.flash_f2 import FlashF2
from cryplab.blocks.pwr_f2 import PwrF2
from cryplab.blocks.rcc_f2 import RccF2
from cryplab.blocks.rtc_v1 import RtcV1
from cryplab.chip import MHZ, At
from cryplab.chips.stm32f417ig import STM32F417IG

__all__ = ["STM32F207IG", "STM32F215RG", "STM32F217IG"]

STM32F217IG = replace(               # source: RM0033 memory map, vector table, RCC; vendor header stm32f217xx.h
    STM32F417IG.without("CCM", "I2S2ext", "I2S3ext").plus(
        At("RTC",    0x4000_2800, RtcV1,    reset="RCC.BDCR.BDRST", bus="APB1"),  # interrupts by EXTI
        At("PWR",    0x4000_7000, PwrF2,    clock="RCC.APB1ENR.PWREN"),
        At("RCC",    0x4002_3800, RccF2,    irq=5, bus="AHB1"),
        At("FLASH",  0x4002_3C00, FlashF2,  irq=4, bus="AHB1"),
        At("DBGMCU", 0xE004_2000, DbgmcuF4, bus="PPB", options={"dev_id": 0x411, "rev_id": 0x2001}),
    ),
    core="cortex-m3", manual="RM0033", interrupts=81, core_max_hz=120 * MHZ,
).renamed("stm32f217ig")  # fmt: skip

STM32F215RG = STM32F217IG.without("ETH", "DCMI").renamed("stm32f215rg")
STM32F207IG = STM32F217IG.without("CRYP", "HASH").renamed("stm32f207ig")
