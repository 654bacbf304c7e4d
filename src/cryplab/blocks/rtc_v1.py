"""Real-time clock, version 1 (STM32F2)."""

from __future__ import annotations

from typing import ClassVar

from cryplab.blocks.rtc_v2 import RtcV2
from cryplab.registers import rw

__all__ = ["RtcV1"]


class RtcV1(RtcV2):
    """Calendar to the second, two alarms, wake-up timer, one tamper pin, 20 backup registers.

    Version 2 without what hangs on sub-seconds (SSR, shift, fine calibration, alarm masks), without BYPSHAD (the
    calendar is always read through the shadow registers), without the second tamper pin and the tamper filter, and
    with a synchronous prescaler of 13 bits.

    Departures: those of version 2.

    Source: RM0033, RTC chapter; vendor header stm32f217xx.h.
    """

    lacks: ClassVar[tuple[str, ...]] = ("SSR", "SHIFTR", "TSSSR", "CALR", "ALRMSSR")

    class CR(RtcV2.CR, without=("COSEL", "BYPSHAD")):
        """control register"""

    class ISR(RtcV2.ISR, without=("RECALPF", "TAMP2F", "SHPF")):
        """initialization and status register"""

    class PRER(RtcV2.PRER, without=("PREDIV_S",)):
        """prescaler register"""

        PREDIV_S = rw(12, 0, "synchronous divider minus 1")

    class TAFCR(RtcV2.TAFCR, without=("TAMPPUDIS", "TAMPPRCH", "TAMPFLT", "TAMPFREQ", "TAMPTS", "TAMP2TRG", "TAMP2E")):
        """tamper and alternate function register"""
