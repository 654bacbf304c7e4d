"""Flash memory interface of STM32F205 to F217, and of F405 to F417: one bank."""

from __future__ import annotations

from typing import ClassVar

from cryplab.blocks.flash_f4 import FlashF4
from cryplab.registers import rc_w1, rw

__all__ = ["FlashF2", "FlashF41"]


class FlashF41(FlashF4):
    """Wait states, accelerator, unlock, erase and programming of one bank of up to 1 MB.

    Departures: those of `FlashF4`.

    Source: RM0090, chapter Embedded flash memory interface of STM32F405xx, F407xx, F415xx and F417xx.
    """

    class ACR(FlashF4.ACR, without=("LATENCY",)):
        """access control register"""

        LATENCY = rw(2, 0, "wait states")

    class SR(FlashF4.SR, without=("RDERR",)):
        """flash status register"""

    class CR(FlashF4.CR, without=("MER1", "SNB")):
        """flash control register"""

        SNB = rw(6, 3, "sector number")

    class OPTCR(FlashF4.OPTCR, reset=0x0FFF_AAED, without=("SPRMOD", "DB1M", "BFB2")):
        """flash option control register"""

    lacks: ClassVar[tuple[str, ...]] = ("OPTCR1",)


class FlashF2(FlashF41):
    """The same with up to 7 wait states at low supply, and without an interrupt on errors.

    Departures: those of `FlashF4`.

    Source: RM0033 and the F2's flash programming manual (PM0059); vendor header stm32f217xx.h.
    """

    class ACR(FlashF41.ACR, without=("LATENCY",)):
        """access control register"""

        LATENCY = rw(3, 0, "wait states")

    class SR(FlashF41.SR, without=("OPERR",)):
        """flash status register"""

        SOP = rc_w1(1, "operation error")

    class CR(FlashF41.CR, without=("ERRIE", "SNB")):
        """flash control register"""

        SNB = rw(7, 3, "sector number")
