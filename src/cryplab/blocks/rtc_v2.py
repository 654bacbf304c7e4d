"""Real-time clock, version 2 (STM32F2, F4, L1)."""

from __future__ import annotations

from cryplab.registers import Block, Reg, rw

__all__ = ["RtcV2"]


class RtcV2(Block):
    """Calendar."""

    class TR(Reg, at=0x00):
        """time register, BCD"""

        PM = rw(22, "afternoon, in 12-hour format")

    tr: TR

    lines = ("alarm", "wakeup", "tamper_stamp")
