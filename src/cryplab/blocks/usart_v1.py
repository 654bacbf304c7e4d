"""Serial port, version 1 (STM32F1, F2, F4)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from cryplab.clock import Event
from cryplab.registers import Block, Reg, r, rc_w0, rw

__all__ = ["UsartV1"]


def _nobody(byte: int) -> None:
    """Nobody listens."""


class UsartV1(Block):
    """Asynchronous serial port with the time of its bits.

    `transmit(byte)`, set by the machine, is called when a frame's last stop bit has left; `receive(data)` queues bytes that
    arrive one after the other, each in a frame's time, as soon as the receiver is on.

    A frame is 1 start bit, 8 or 9 data bits (CR1.M, parity included) and the stop bits; a bit is BRR cycles of the
    kernel clock (with CR1.OVER8: 8 samples, BRR's low 3 bits count twice). Option `kernel`: PCLK1 or PCLK2.

    Departures: synchronous, smartcard, IrDA, LIN, hardware flow control and mute modes are remembered only; noise,
    framing and parity errors do not arise by themselves; `overrun` follows the manual.

    Source: RM0090, USART chapter.
    """

    class SR(Reg, at=0x00, reset=0x0000_00C0):
        """status register"""

        CTS = rc_w0(9, "CTS input changed")
        LBD = rc_w0(8, "LIN break detected")
        TXE = r(7, "transmit data register empty")
        TC = rc_w0(6, "transmission complete")
        RXNE = rc_w0(5, "receive data register not empty")
        IDLE = r(4, "idle line detected")
        ORE = r(3, "overrun: a byte was lost")
        NF = r(2, "noise detected")
        FE = r(1, "framing error")
        PE = r(0, "parity error")

    class DR(Reg, at=0x04):
        """data register: written sends, read takes what was received"""

        DR = rw(8, 0, "data, up to 9 bits")

    class BRR(Reg, at=0x08):
        """baud rate register"""

        DIV_Mantissa = rw(15, 4, "integer part of the divider")
        DIV_Fraction = rw(3, 0, "fraction in sixteenths (eighths with OVER8)")

    class CR1(Reg, at=0x0C):
        """control register 1"""

        OVER8 = rw(15, "8 samples per bit, not 16")
        UE = rw(13, "USART enable")
        M = rw(12, "9 data bits")
        WAKE = rw(11, "wake-up method")
        PCE = rw(10, "parity on: the last data bit is parity")
        PS = rw(9, "odd parity")
        PEIE = rw(8, "interrupt on PE")
        TXEIE = rw(7, "interrupt on TXE")
        TCIE = rw(6, "interrupt on TC")
        RXNEIE = rw(5, "interrupt on RXNE and ORE")
        IDLEIE = rw(4, "interrupt on IDLE")
        TE = rw(3, "transmitter on")
        RE = rw(2, "receiver on")
        RWU = rw(1, "receiver in mute mode", modelled=False)
        SBK = rw(0, "send a break", modelled=False)

    class CR2(Reg, at=0x10):
        """control register 2"""

        LINEN = rw(14, "LIN mode", modelled=False)
        STOP = rw(13, 12, "stop bits", values={0: "1", 1: "0.5", 2: "2", 3: "1.5"})
        CLKEN = rw(11, "clock pin on", modelled=False)
        CPOL = rw(10, "clock polarity")
        CPHA = rw(9, "clock phase")
        LBCL = rw(8, "clock pulse of the last bit")
        LBDIE = rw(6, "interrupt on LBD")
        LBDL = rw(5, "LIN break of 11 bits")
        ADD = rw(3, 0, "address of this node")

    class CR3(Reg, at=0x14):
        """control register 3"""

        ONEBIT = rw(11, "one sample per bit")
        CTSIE = rw(10, "interrupt on CTS")
        CTSE = rw(9, "CTS flow control", modelled=False)
        RTSE = rw(8, "RTS flow control", modelled=False)
        DMAT = rw(7, "DMA feeds the transmitter")
        DMAR = rw(6, "DMA empties the receiver")
        SCEN = rw(5, "smartcard mode", modelled=False)
        NACK = rw(4, "smartcard NACK")
        HDSEL = rw(3, "half duplex", modelled=False)
        IRLP = rw(2, "IrDA low power")
        IREN = rw(1, "IrDA mode", modelled=False)
        EIE = rw(0, "interrupt on errors with DMA")

    class GTPR(Reg, at=0x18):
        """guard time and prescaler"""

        GT = rw(15, 8, "guard time")
        PSC = rw(7, 0, "prescaler")

    sr: SR
    dr: DR
    brr: BRR
    cr1: CR1
    cr2: CR2
    cr3: CR3
    gtpr: GTPR

    lines = ("irq",)
    dma = ("dma_rx", "dma_tx")
    saved = ("_shift", "_waiting", "_received", "_queue", "_sending", "_arriving", "_errors_seen")

    def __init__(self, *args: Any, kernel: str = "PCLK1", **kwargs: Any) -> None:
        self.kernel = kernel
        self.transmit: Callable[[int], None] = _nobody
        self._queue: deque[int] = deque()
        self._sending: Event | None = None
        self._arriving: Event | None = None
        super().__init__(*args, **kwargs)
        self.dma_rx.when_served(self._update)
        self.dma_tx.when_served(self._update)

    def on_reset(self) -> None:
        """Nothing on its way; what was typed before is still on the line."""
        self.clock.cancel(self._sending)
        self.clock.cancel(self._arriving)
        self._sending = self._arriving = None
        self._shift: int | None = None
        self._waiting: int | None = None
        self._received = 0
        self._errors_seen = False
        self.irq.set(False)
