"""DMA controller, version 2 (STM32F2, F4, F7, H7)."""

from __future__ import annotations

from cryplab.registers import Block, Reg, RegArray, r, rw, w

__all__ = ["DmaV2"]

STREAMS = 8
STREAM_STEP = 0x18


class DmaV2(Block):
    """Eight streams."""

    class LISR(Reg, at=0x00):
        """low interrupt status register, streams 0 to 3"""

        TCIF3 = r(27, "stream 3: transfer complete")

    class CR(Reg, at=0x10, array=STREAMS, step=STREAM_STEP, names=tuple(f"S{n}CR" for n in range(STREAMS))):
        """stream configuration register"""

        EN = rw(0, "stream enable")

    lisr: LISR
    cr: RegArray[CR]

    lines = tuple(f"stream{n}" for n in range(STREAMS))
