"""STM32F437II: the STM32F437VG with 2 MB of flash in two banks and 176 pins; STM32F427II without CRYP, HASH."""

from cryplab.blocks.device_id import DeviceIdF4
from cryplab.chip import At, Flash, KiB
from cryplab.chips.stm32f437vg import BANK_SECTORS, STM32F437VG

__all__ = ["STM32F427II", "STM32F437II"]

STM32F437II = STM32F437VG.with_memory(           # source: DS9484
    Flash("FLASH",    0x0800_0000, 2048 * KiB, sectors=BANK_SECTORS * 2),
).plus(
    At("DEVICEID",    0x1FFF_7800, DeviceIdF4, options={"flash_kib": 2048}),
).renamed("stm32f437ii")  # fmt: skip

STM32F427II = STM32F437II.without("CRYP", "HASH").renamed("stm32f427ii")
