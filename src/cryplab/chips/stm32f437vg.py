"""STM32F437VG: Cortex-M4F at 180 MHz, 1 MB flash, CRYP, HASH and RNG; STM32F427VG is the same without CRYP and HASH."""

from cryplab.blocks.crc_v1 import CrcV1
from cryplab.blocks.cryp_v2 import CrypV2
from cryplab.blocks.dbgmcu import DbgmcuF4
from cryplab.blocks.device_id import DeviceIdF4
from cryplab.blocks.dma_v2 import DmaV2
from cryplab.blocks.eth_v1 import EthV1
from cryplab.blocks.external_bank import ExternalBank
from cryplab.blocks.exti_v1 import ExtiV1
from cryplab.blocks.flash_f4 import FlashF4
from cryplab.blocks.fsmc_v1 import FmcV1
from cryplab.blocks.gpio_v2 import GpioV2
from cryplab.blocks.hash_v2 import HashV2
from cryplab.blocks.pwr_f4 import PwrF4
from cryplab.blocks.rcc_f4 import RccF4
from cryplab.blocks.rng_v1 import RngV1
from cryplab.blocks.rtc_v2 import RtcV2
from cryplab.blocks.syscfg_f4 import SyscfgF4
from cryplab.blocks.tim_v1 import TimBasicV1, TimV1, TimV1Bits16
from cryplab.blocks.usart_v1 import UsartV1
from cryplab.chip import MHZ, At, Chip, DmaWire, Flash, KiB, NotModelled, Ram

__all__ = ["BANK_SECTORS", "STM32F427VG", "STM32F437VG"]

BANK_SECTORS = (16 * KiB,) * 4 + (64 * KiB,) + (128 * KiB,) * 7

PINS_A = {"moder": 0xA800_0000, "ospeedr": 0x0C00_0000, "pupdr": 0x6400_0000}  # JTAG pins
PINS_B = {"moder": 0x0000_0280, "ospeedr": 0x0000_00C0, "pupdr": 0x0000_0100}

DMA1_IRQS = {
    "stream0": 11,
    "stream1": 12,
    "stream2": 13,
    "stream3": 14,
    "stream4": 15,
    "stream5": 16,
    "stream6": 17,
    "stream7": 47,
}
DMA2_IRQS = {
    "stream0": 56,
    "stream1": 57,
    "stream2": 58,
    "stream3": 59,
    "stream4": 60,
    "stream5": 68,
    "stream6": 69,
    "stream7": 70,
}
EXTI_IRQS = {
    "pvd": 1,
    "tamp_stamp": 2,
    "rtc_wkup": 3,
    "exti0": 6,
    "exti1": 7,
    "exti2": 8,
    "exti3": 9,
    "exti4": 10,
    "exti9_5": 23,
    "exti15_10": 40,
    "rtc_alarm": 41,
    "otg_fs_wkup": 42,
    "eth_wkup": 62,
    "otg_hs_wkup": 76,
}

STM32F437VG = Chip(                  # source: RM0090 memory map, vector table, RCC; DS9484; vendor header stm32f437xx.h
    name="stm32f437vg", core="cortex-m4", manual="RM0090",
    interrupts=91, priority_bits=4, core_max_hz=180 * MHZ,
    memory=(
        Flash("FLASH",       0x0800_0000, 1024 * KiB, sectors=BANK_SECTORS),
        Ram("CCM",           0x1000_0000,   64 * KiB, dma=False, code=False),
        Ram("SRAM1",         0x2000_0000,  112 * KiB),
        Ram("SRAM2",         0x2001_C000,   16 * KiB),
        Ram("SRAM3",         0x2002_0000,   64 * KiB),
        Ram("BKPSRAM",       0x4002_4000,    4 * KiB, clock="RCC.AHB1ENR.BKPSRAMEN"),
    ),
    peripherals=(
        At("TIM2",           0x4000_0000, TimV1,       irq=28, clock="RCC.APB1ENR.TIM2EN"),
        At("TIM3",           0x4000_0400, TimV1Bits16, irq=29, clock="RCC.APB1ENR.TIM3EN"),
        At("TIM4",           0x4000_0800, TimV1Bits16, irq=30, clock="RCC.APB1ENR.TIM4EN"),
        At("TIM5",           0x4000_0C00, TimV1,       irq=50, clock="RCC.APB1ENR.TIM5EN"),
        At("TIM6",           0x4000_1000, TimBasicV1,  irq=54, clock="RCC.APB1ENR.TIM6EN"),
        At("TIM7",           0x4000_1400, TimBasicV1,  irq=55, clock="RCC.APB1ENR.TIM7EN"),
        NotModelled("TIM12", 0x4000_1800, clock="RCC.APB1ENR.TIM12EN"),
        NotModelled("TIM13", 0x4000_1C00, clock="RCC.APB1ENR.TIM13EN"),
        NotModelled("TIM14", 0x4000_2000, clock="RCC.APB1ENR.TIM14EN"),
        At("RTC",            0x4000_2800, RtcV2, reset="RCC.BDCR.BDRST", bus="APB1"),              # interrupts by EXTI
        NotModelled("WWDG",  0x4000_2C00, clock="RCC.APB1ENR.WWDGEN"),
        NotModelled("IWDG",  0x4000_3000, bus="APB1"),
        NotModelled("I2S2ext", 0x4000_3400, clock="RCC.APB1ENR.SPI2EN"),
        NotModelled("SPI2",  0x4000_3800, clock="RCC.APB1ENR.SPI2EN"),
        NotModelled("SPI3",  0x4000_3C00, clock="RCC.APB1ENR.SPI3EN"),
        NotModelled("I2S3ext", 0x4000_4000, clock="RCC.APB1ENR.SPI3EN"),
        At("USART2",         0x4000_4400, UsartV1, irq=38, clock="RCC.APB1ENR.USART2EN"),
        At("USART3",         0x4000_4800, UsartV1, irq=39, clock="RCC.APB1ENR.USART3EN"),
        At("UART4",          0x4000_4C00, UsartV1, irq=52, clock="RCC.APB1ENR.UART4EN"),
        At("UART5",          0x4000_5000, UsartV1, irq=53, clock="RCC.APB1ENR.UART5EN"),
        NotModelled("I2C1",  0x4000_5400, clock="RCC.APB1ENR.I2C1EN"),
        NotModelled("I2C2",  0x4000_5800, clock="RCC.APB1ENR.I2C2EN"),
        NotModelled("I2C3",  0x4000_5C00, clock="RCC.APB1ENR.I2C3EN"),
        NotModelled("CAN1",  0x4000_6400, clock="RCC.APB1ENR.CAN1EN"),
        NotModelled("CAN2",  0x4000_6800, clock="RCC.APB1ENR.CAN2EN"),
        At("PWR",            0x4000_7000, PwrF4, clock="RCC.APB1ENR.PWREN"),
        NotModelled("DAC",   0x4000_7400, clock="RCC.APB1ENR.DACEN"),
        At("UART7",          0x4000_7800, UsartV1, irq=82, clock="RCC.APB1ENR.UART7EN"),
        At("UART8",          0x4000_7C00, UsartV1, irq=83, clock="RCC.APB1ENR.UART8EN"),
        NotModelled("TIM1",  0x4001_0000, clock="RCC.APB2ENR.TIM1EN"),
        NotModelled("TIM8",  0x4001_0400, clock="RCC.APB2ENR.TIM8EN"),
        At("USART1",         0x4001_1000, UsartV1, irq=37, clock="RCC.APB2ENR.USART1EN", options={"kernel": "PCLK2"}),
        At("USART6",         0x4001_1400, UsartV1, irq=71, clock="RCC.APB2ENR.USART6EN", options={"kernel": "PCLK2"}),
        NotModelled("ADC",   0x4001_2000, clock="RCC.APB2ENR.ADC1EN"),               # ADC1 to ADC3, common
        NotModelled("SDIO",  0x4001_2C00, clock="RCC.APB2ENR.SDIOEN"),
        NotModelled("SPI1",  0x4001_3000, clock="RCC.APB2ENR.SPI1EN"),
        NotModelled("SPI4",  0x4001_3400, clock="RCC.APB2ENR.SPI4EN"),
        At("SYSCFG",         0x4001_3800, SyscfgF4, clock="RCC.APB2ENR.SYSCFGEN"),
        At("EXTI",           0x4001_3C00, ExtiV1, irq=EXTI_IRQS, bus="APB2"),
        NotModelled("TIM9",  0x4001_4000, clock="RCC.APB2ENR.TIM9EN"),
        NotModelled("TIM10", 0x4001_4400, clock="RCC.APB2ENR.TIM10EN"),
        NotModelled("TIM11", 0x4001_4800, clock="RCC.APB2ENR.TIM11EN"),
        NotModelled("SPI5",  0x4001_5000, clock="RCC.APB2ENR.SPI5EN"),
        NotModelled("SPI6",  0x4001_5400, clock="RCC.APB2ENR.SPI6EN"),
        NotModelled("SAI1",  0x4001_5800, clock="RCC.APB2ENR.SAI1EN"),
        At("GPIOA",          0x4002_0000, GpioV2, clock="RCC.AHB1ENR.GPIOAEN", options=PINS_A),
        At("GPIOB",          0x4002_0400, GpioV2, clock="RCC.AHB1ENR.GPIOBEN", options=PINS_B),
        At("GPIOC",          0x4002_0800, GpioV2, clock="RCC.AHB1ENR.GPIOCEN"),
        At("GPIOD",          0x4002_0C00, GpioV2, clock="RCC.AHB1ENR.GPIODEN"),
        At("GPIOE",          0x4002_1000, GpioV2, clock="RCC.AHB1ENR.GPIOEEN"),
        At("GPIOF",          0x4002_1400, GpioV2, clock="RCC.AHB1ENR.GPIOFEN"),
        At("GPIOG",          0x4002_1800, GpioV2, clock="RCC.AHB1ENR.GPIOGEN"),
        At("GPIOH",          0x4002_1C00, GpioV2, clock="RCC.AHB1ENR.GPIOHEN"),
        At("GPIOI",          0x4002_2000, GpioV2, clock="RCC.AHB1ENR.GPIOIEN"),
        At("GPIOJ",          0x4002_2400, GpioV2, clock="RCC.AHB1ENR.GPIOJEN"),
        At("GPIOK",          0x4002_2800, GpioV2, clock="RCC.AHB1ENR.GPIOKEN"),
        At("CRC",            0x4002_3000, CrcV1, clock="RCC.AHB1ENR.CRCEN"),
        At("RCC",            0x4002_3800, RccF4, irq=5, bus="AHB1"),
        At("FLASH",          0x4002_3C00, FlashF4, irq=4, bus="AHB1"),
        At("DMA1",           0x4002_6000, DmaV2, irq=DMA1_IRQS, clock="RCC.AHB1ENR.DMA1EN",
           options={"memory_to_memory": False}),
        At("DMA2",           0x4002_6400, DmaV2, irq=DMA2_IRQS, clock="RCC.AHB1ENR.DMA2EN"),
        At("ETH",            0x4002_8000, EthV1, irq=61, clock="RCC.AHB1ENR.ETHMACEN"),              # wake-up by EXTI
        NotModelled("DMA2D", 0x4002_B000, size=0x1000, clock="RCC.AHB1ENR.DMA2DEN"),
        NotModelled("OTG_HS", 0x4004_0000, size=0x4_0000, clock="RCC.AHB1ENR.OTGHSEN"),
        NotModelled("OTG_FS", 0x5000_0000, size=0x4_0000, clock="RCC.AHB2ENR.OTGFSEN"),
        NotModelled("DCMI",  0x5005_0000, clock="RCC.AHB2ENR.DCMIEN"),
        At("CRYP",           0x5006_0000, CrypV2, irq=79, clock="RCC.AHB2ENR.CRYPEN"),
        At("HASH",           0x5006_0400, HashV2, irq=80, clock="RCC.AHB2ENR.HASHEN"),
        At("RNG",            0x5006_0800, RngV1,  irq=80, clock="RCC.AHB2ENR.RNGEN"),
        At("FMC_BANK1",      0x6000_0000, ExternalBank),
        At("FMC",            0xA000_0000, FmcV1, clock="RCC.AHB3ENR.FMCEN"),
        At("DBGMCU",         0xE004_2000, DbgmcuF4, bus="PPB", options={"dev_id": 0x419, "rev_id": 0x2003}),
        NotModelled("OPTIONS2", 0x1FFE_C000, size=0x10),                             # option bytes of bank 2
        NotModelled("SYSTEM", 0x1FFF_0000, size=0x7800),                             # boot loader, not shipped
        At("DEVICEID",       0x1FFF_7800, DeviceIdF4, options={"flash_kib": 1024}),
        NotModelled("OPTIONS", 0x1FFF_C000, size=0x10),                              # option bytes
    ),
    dma=(
        DmaWire("DMA1", stream=0, channel=4, request="UART5.dma_rx"),
        DmaWire("DMA1", stream=0, channel=5, request="UART8.dma_tx"),
        DmaWire("DMA1", stream=1, channel=4, request="USART3.dma_rx"),
        DmaWire("DMA1", stream=1, channel=5, request="UART7.dma_tx"),
        DmaWire("DMA1", stream=2, channel=4, request="UART4.dma_rx"),
        DmaWire("DMA1", stream=3, channel=4, request="USART3.dma_tx"),
        DmaWire("DMA1", stream=3, channel=5, request="UART7.dma_rx"),
        DmaWire("DMA1", stream=4, channel=4, request="UART4.dma_tx"),
        DmaWire("DMA1", stream=4, channel=7, request="USART3.dma_tx"),
        DmaWire("DMA1", stream=5, channel=4, request="USART2.dma_rx"),
        DmaWire("DMA1", stream=6, channel=4, request="USART2.dma_tx"),
        DmaWire("DMA1", stream=6, channel=5, request="UART8.dma_rx"),
        DmaWire("DMA1", stream=7, channel=4, request="UART5.dma_tx"),
        DmaWire("DMA2", stream=1, channel=5, request="USART6.dma_rx"),
        DmaWire("DMA2", stream=2, channel=4, request="USART1.dma_rx"),
        DmaWire("DMA2", stream=2, channel=5, request="USART6.dma_rx"),
        DmaWire("DMA2", stream=5, channel=2, request="CRYP.dma_out"),
        DmaWire("DMA2", stream=5, channel=4, request="USART1.dma_rx"),
        DmaWire("DMA2", stream=6, channel=2, request="CRYP.dma_in"),
        DmaWire("DMA2", stream=6, channel=5, request="USART6.dma_tx"),
        DmaWire("DMA2", stream=7, channel=2, request="HASH.dma_in"),
        DmaWire("DMA2", stream=7, channel=4, request="USART1.dma_tx"),
        DmaWire("DMA2", stream=7, channel=5, request="USART6.dma_tx"),
    ),
)  # fmt: skip

STM32F427VG = STM32F437VG.without("CRYP", "HASH").renamed("stm32f427vg")
