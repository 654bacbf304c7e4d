"""STM32F417IG: Cortex-M4F at 168 MHz, 1 MB flash, CRYP and HASH of version 1, RNG; F415 lacks Ethernet and camera.

STM32F405 and F407 are the same without CRYP and HASH.
"""

from dataclasses import replace

from cryplab.blocks.cryp_v1 import CrypV1
from cryplab.blocks.dbgmcu import DbgmcuF4
from cryplab.blocks.external_bank import ExternalBank
from cryplab.blocks.flash_f2 import FlashF41
from cryplab.blocks.fsmc_v1 import FsmcV1
from cryplab.blocks.hash_v1 import HashV1
from cryplab.blocks.pwr_f2 import PwrF41
from cryplab.blocks.rcc_f2 import RccF41
from cryplab.blocks.syscfg_f4 import SyscfgF2
from cryplab.chip import MHZ, At
from cryplab.chips.stm32f437vg import STM32F437VG

__all__ = ["STM32F405RG", "STM32F407IG", "STM32F415RG", "STM32F417IG"]

STM32F417IG = replace(               # source: RM0090, DS8597; vendor header stm32f417xx.h
    STM32F437VG.without(
        "SRAM3", "GPIOJ", "GPIOK", "UART7", "UART8", "SPI4", "SPI5", "SPI6", "SAI1", "DMA2D", "FMC", "FMC_BANK1",
        "OPTIONS2",
    ).plus(
        At("PWR",    0x4000_7000, PwrF41,   clock="RCC.APB1ENR.PWREN"),
        At("SYSCFG", 0x4001_3800, SyscfgF2, clock="RCC.APB2ENR.SYSCFGEN"),
        At("RCC",    0x4002_3800, RccF41,   irq=5, bus="AHB1"),
        At("FLASH",  0x4002_3C00, FlashF41, irq=4, bus="AHB1"),
        At("CRYP",   0x5006_0000, CrypV1,   irq=79, clock="RCC.AHB2ENR.CRYPEN"),
        At("HASH",   0x5006_0400, HashV1,   irq=80, clock="RCC.AHB2ENR.HASHEN"),
        At("FSMC_BANK1", 0x6000_0000, ExternalBank),
        At("FSMC",   0xA000_0000, FsmcV1,   clock="RCC.AHB3ENR.FSMCEN"),
        At("DBGMCU", 0xE004_2000, DbgmcuF4, bus="PPB", options={"dev_id": 0x413, "rev_id": 0x1007}),
    ),
    interrupts=82, core_max_hz=168 * MHZ,
).renamed("stm32f417ig")  # fmt: skip

STM32F415RG = STM32F417IG.without("ETH", "DCMI").renamed("stm32f415rg")
STM32F407IG = STM32F417IG.without("CRYP", "HASH").renamed("stm32f407ig")
STM32F405RG = STM32F415RG.without("CRYP", "HASH").renamed("stm32f405rg")
