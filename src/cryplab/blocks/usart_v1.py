"""Serial port, version 1 (STM32F1, F2, F4)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from cryplab.clock import NEVER, Event
from cryplab.registers import Block, Reg, r, rc_w0, rw
from cryplab.served import Status
from cryplab.wires import DmaRequest, Line

__all__ = ["UsartV1"]

ERRORS = 0x1F  # PE, FE, NF, ORE, IDLE: cleared by reading SR, then DR


def _nobody(byte: int) -> None:
    """Nobody listens."""


class UsartV1(Block):
    """Asynchronous serial port with the time of its bits.

    `transmit(byte)`, set by the machine, is called when a frame's last stop bit has left; `receive(data)` queues
    bytes that arrive one after the other, each in a frame's time, as soon as the receiver is on.

    A frame is 1 start bit, 8 or 9 data bits (CR1.M, parity included) and the stop bits; a bit is BRR cycles of the
    kernel clock (with CR1.OVER8: 8 samples, BRR's low 3 bits count twice). Option `kernel`: PCLK1 or PCLK2.

    Departures: synchronous, smartcard, IrDA, LIN, hardware flow control and mute modes are remembered only; noise,
    framing and parity errors do not arise; parity bits are not computed; no idle frame is sent when TE is set; a
    frame on its way keeps its length when the clock changes; what sends to us waits while RXNE is set (`patient`).

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

    irq: Line
    dma_rx: DmaRequest
    dma_tx: DmaRequest

    lines = ("irq",)
    loads = {"SR": "_flags"}
    dma = ("dma_rx", "dma_tx")
    saved = ("_shift", "_waiting", "_queue", "_sending", "_arriving", "_idling", "_seen", "_flags")

    def __init__(self, *args: Any, kernel: str = "PCLK1", **kwargs: Any) -> None:
        self.kernel = kernel
        self.transmit: Callable[[int], None] = _nobody
        self.patient = True
        "Whether the sender of `receive` waits while RXNE is set; False: bytes come at line speed and may be lost."
        self._flags = Status()
        self._queue: deque[int] = deque()
        self._sending: Event | None = None
        self._arriving: Event | None = None
        self._idling: Event | None = None
        super().__init__(*args, **kwargs)
        self.dma_rx.when_served(self._update)
        self.dma_tx.when_served(self._update)

    def on_reset(self) -> None:
        """Nothing on its way; what was typed before is still to come."""
        for event in (self._sending, self._arriving, self._idling):
            self.clock.cancel(event)
        self._sending = self._arriving = self._idling = None
        self._shift: int | None = None
        self._waiting: int | None = None
        self._seen = self._flags.until = 0
        self.dma_rx.drop()
        self.dma_tx.drop()
        self.irq.set(False)

    def finish(self) -> None:
        """The run has ended: hand over what was still on its way out."""
        for byte in (self._shift, self._waiting):
            if byte is not None:
                self.transmit(byte)
        self._shift = self._waiting = None
        self.clock.cancel(self._sending)
        self._sending = None
        self.sr.TXE = self.sr.TC = 1
        self._flags.until = 0

    # -- time ----------------------------------------------------------------------------------
    def bit_cycles(self) -> float:
        """Core cycles of one bit; 0 when BRR is 0 or the kernel clock stands still."""
        divider = self.brr.value
        if self.cr1.OVER8:
            divider = 8 * self.brr.DIV_Mantissa + (self.brr.DIV_Fraction & 7)
        hz = self.frequency(self.kernel)
        return divider * self.frequency("HCLK") / hz if hz else 0.0

    def frame_cycles(self) -> int:
        """Core cycles of one frame: start bit, data bits, stop bits."""
        bits = 1 + (9 if self.cr1.M else 8) + (1, 0.5, 2, 1.5)[self.cr2.STOP]
        return round(bits * self.bit_cycles())

    def _catch_up(self) -> None:
        """Frames that have ended by now have ended, though their event has not run yet."""
        now = self.clock.now
        for name, end in (("_sending", self._frame_sent), ("_arriving", self._frame_arrived)):
            while (event := getattr(self, name)) is not None and event.cycle <= now:
                self.clock.cancel(event)
                end()

    # -- sending -------------------------------------------------------------------------------
    @DR.being_written
    def _send(self, value: int) -> None:
        self._catch_up()
        if not (self.cr1.UE and self.cr1.TE):
            self.guest_error(f"{self.name}.DR written while the transmitter is off (CR1.UE, CR1.TE); nothing is sent")
            return
        if not self.bit_cycles():
            self.guest_error(f"{self.name}.DR written while there is no baud rate (BRR is 0); nothing is sent")
            return
        if self._seen & self.SR.TC.bits:
            self.sr.TC = 0
            self._seen &= ~self.SR.TC.bits
        byte = value & (0x1FF if self.cr1.M and not self.cr1.PCE else 0xFF)
        if self._shift is None:
            self._start(byte, self.clock.now)
        else:
            if self._waiting is not None:
                self.guest_error(f"{self.name}.DR written while SR.TXE=0; the byte before is lost")
            self._waiting = byte
            self.sr.TXE = 0
        self._update()

    def _start(self, byte: int, cycle: int) -> None:
        self._shift = byte
        self._sending = self.clock.at(cycle + self.frame_cycles(), self._frame_sent)

    def _frame_sent(self) -> None:
        """The last stop bit has left."""
        assert self._sending is not None
        assert self._shift is not None
        byte, cycle = self._shift, self._sending.cycle
        self._shift = self._sending = None
        if self._waiting is not None:
            self._start(self._waiting, cycle)
            self._waiting = None
            self.sr.TXE = 1
        else:
            self.sr.TC = 1
        self.transmit(byte)
        self._update()

    # -- receiving -----------------------------------------------------------------------------
    def receive(self, data: bytes) -> None:
        """Bytes come in over the line, one frame after the other, once the receiver is on."""
        self._queue.extend(data)
        self._listen()

    @property
    def can_wake(self) -> bool:
        """Whether a byte that comes in would cause an interrupt or a DMA request."""
        return bool(self.cr1.UE and self.cr1.RE and (self.cr1.RXNEIE or self.cr3.DMAR))

    @SR.written
    @CR1.written
    @CR2.written
    @CR3.written
    @BRR.written
    def _listen(self) -> None:
        """Start the next frame when there is one and the receiver is on."""
        ready = self.cr1.UE and self.cr1.RE and not (self.patient and self.sr.RXNE)
        if self._queue and ready and self._arriving is None and (frame := self.frame_cycles()):
            self._arriving = self.clock.after(frame, self._frame_arrived)
        self._update()

    def _frame_arrived(self) -> None:
        """A stop bit has come in."""
        self._arriving = None
        byte = self._queue.popleft()
        self.clock.cancel(self._idling)
        self._idling = self.clock.after(self.frame_cycles(), self._line_idle)
        if not (self.cr1.UE and self.cr1.RE):
            pass  # the receiver was switched off meanwhile: nobody saw the frame
        elif self.sr.RXNE:
            self.sr.ORE = 1
        else:
            self.dr.DR = byte
            self.sr.RXNE = 1
        self._listen()

    def _line_idle(self) -> None:
        self._idling = None
        if self._arriving is None:
            self.sr.IDLE = 1
            self._update()

    @DR.being_read
    def _take(self) -> int:
        self._catch_up()
        self.sr.RXNE = 0
        self.sr.value &= ~(self._seen & ERRORS)
        self._seen = 0
        self._listen()
        return self.dr.DR

    # -- status --------------------------------------------------------------------------------
    @SR.being_read
    def _status(self) -> None:
        """Flags read here are those that an access to DR clears. The core answers until a frame ends."""
        self._catch_up()
        self._seen = self._flags.value = self.sr.value
        self._flags.until = min((event.cycle for event in (self._sending, self._arriving) if event), default=NEVER)

    @SR.being_written
    def _before_clearing(self, value: int) -> int:
        self._catch_up()
        return value

    def _update(self) -> None:
        """Drive interrupt line and DMA requests from the flags."""
        self._flags.until = 0
        sr, cr1 = self.sr, self.cr1
        errors = sr.FE | sr.NF | sr.ORE
        self.irq.set(
            sr.TXE & cr1.TXEIE
            | sr.TC & cr1.TCIE
            | (sr.RXNE | sr.ORE) & cr1.RXNEIE
            | sr.IDLE & cr1.IDLEIE
            | sr.PE & cr1.PEIE
            | errors & self.cr3.EIE & self.cr3.DMAR
            | sr.CTS & self.cr3.CTSIE
            | sr.LBD & self.cr2.LBDIE
        )
        self._request(self.dma_tx, self.cr3.DMAT & sr.TXE & cr1.TE)
        self._request(self.dma_rx, self.cr3.DMAR & sr.RXNE)

    @staticmethod
    def _request(request: DmaRequest, wanted: int) -> None:
        if wanted:
            request.ask(1)
        else:
            request.drop()
