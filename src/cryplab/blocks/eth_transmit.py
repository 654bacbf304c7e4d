"""The transmit process of the Ethernet DMA: descriptors become frames on the line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cryplab.blocks.eth_descriptors import TDES0, TDES1, Descriptor
from cryplab.blocks.eth_dma import (
    EBS_DESCRIPTOR,
    EBS_READ,
    EBS_TRANSMIT,
    FETCH_CYCLES,
    SR,
    STOPPED,
    WORD_CYCLES,
    EthDma,
)
from cryplab.blocks.eth_offload import fcs, insert_checksums
from cryplab.blocks.eth_v1_registers import EthV1Registers
from cryplab.clock import Event
from cryplab.errors import Unreachable

__all__ = ["EthTransmit"]

JABBER_BYTES = 2048
MIN_FRAME, CRC_BYTES = 60, 4
PREFETCHED_CYCLES = 2  # with OSF
FETCHES, SENDS, SUSPENDED = 1, 3, 6


@dataclass(slots=True)
class Outgoing:
    """A frame on its way out: its first descriptor's orders, its last descriptor, what comes after it."""

    orders: int
    data: bytes = b""
    last: Descriptor | None = None
    following: int = 0
    status: int = 0


class EthTransmit(EthDma):
    """One descriptor after the other while ST and TE are set; one frame at a time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._tx_event: Event | None = None
        self._tx: Outgoing | None = None
        self._tx_at = self._tx_free = 0
        super().__init__(*args, **kwargs)

    def reset_transmit(self) -> None:
        """Stopped; a frame on its way is lost."""
        self.clock.cancel(self._tx_event)
        self._tx_event = self._tx = None
        self._tx_at = self._tx_free = 0

    @EthV1Registers.DMATDLAR.written
    def _transmit_list(self) -> None:
        if self.dmaomr.ST:
            self.guest_error(f"{self.name}.DMATDLAR written while DMAOMR.ST=1")
        self._tx_at = self.dmachtdr.value = self.dmatdlar.value

    @EthV1Registers.DMATPDR.written
    def _transmit_demand(self) -> None:
        self._look_for_work()

    # -- transmit process ----------------------------------------------------------------------
    def _look_for_work(self) -> None:
        if self.dmaomr.ST and self.maccr.TE and self._tx_event is None:
            self.dmasr.TPS = FETCHES
            self._tx_event = self.clock.after(FETCH_CYCLES, self._fetch)

    def _stop_sending(self) -> None:
        self.clock.cancel(self._tx_event)
        self._tx_event, self.dmasr.TPS = None, STOPPED
        self._flag(SR.TPSS.bits)

    def _fetch(self) -> None:
        """Take one descriptor and its buffers."""
        self._tx_event = None
        part = EBS_TRANSMIT | EBS_READ | EBS_DESCRIPTOR
        try:
            descriptor = self._memory.fetch(self._tx_at, bool(self.dmabmr.EDFE))
            part = EBS_TRANSMIT | EBS_READ
            control, sizes = TDES0(), TDES1()
            control.value, sizes.value = descriptor.words[0], descriptor.words[1]
            if not control.OWN:
                self._nothing_to_send()
                return
            data = self._memory.load(descriptor.words[2], sizes.TBS1)
            self.dmachtbar.value = descriptor.words[2]
            if not control.TCH:
                data += self._memory.load(descriptor.words[3], sizes.TBS2)
            self._collect(descriptor, control, data)
        except Unreachable as error:
            self._tx = None
            self._fatal(part, error)

    def _nothing_to_send(self) -> None:
        if self._tx is not None:
            self.guest_error(f"{self.name}: descriptor at {self._tx_at:#010x} is not owned, in the middle of a frame")
            self._tx = None
            self.dmasr.TUS = 1
        self.dmasr.TPS = SUSPENDED
        self._flag(SR.TBUS.bits)

    def _collect(self, descriptor: Descriptor, control: TDES0, data: bytes) -> None:
        """Add a segment; the last one sends the frame."""
        if control.FS or self._tx is None:
            if not control.FS:
                self.guest_error(f"{self.name}: descriptor at {descriptor.address:#010x} begins a frame without FS")
            self._tx = Outgoing(control.value)
        self._tx.data += data
        self._tx.following = self._next(descriptor, control.TER, control.TCH, self.dmatdlar.value)
        cost = FETCH_CYCLES + WORD_CYCLES * (len(data) // 4)
        if control.LS:
            self._tx.last = descriptor
            self._send(self._tx, self.clock.now + WORD_CYCLES * (len(data) // 4))
        else:
            self._memory.put(descriptor.address, control.value & ~TDES0.OWN.bits)
            self._tx_at = self.dmachtdr.value = self._tx.following
            self._tx_event = self.clock.after(cost, self._fetch)

    def _send(self, frame: Outgoing, earliest: int) -> None:
        """Checksums, pad, and on to the line."""
        orders = TDES0()
        orders.value = frame.orders
        if orders.CIC and not self.dmaomr.TSF:
            self.guest_error(f"{self.name}: TDES0.CIC={orders.CIC} needs DMAOMR.TSF=1; no checksum is inserted")
        elif orders.CIC:
            frame.data, header_wrong, payload_wrong = insert_checksums(frame.data, orders.CIC)
            frame.status |= TDES0.IHE.bits * header_wrong | TDES0.IPE.bits * payload_wrong
        if not (orders.DP or orders.DC):
            frame.data = frame.data.ljust(MIN_FRAME, b"\0")
        if len(frame.data) > JABBER_BYTES and not self.maccr.JD:
            frame.status |= TDES0.JT.bits
        start = max(earliest, self._tx_free, self._paused_until)
        self.dmasr.TPS = SENDS
        self._tx_event = self.clock.at(start + self.line_cycles(len(frame.data)), self._sent)

    def _sent(self) -> None:
        """The last bit has left."""
        frame, self._tx, self._tx_event = self._tx, None, None
        assert frame is not None
        assert frame.last is not None
        self._tx_free = self.clock.now + self.gap_cycles()
        if frame.status & TDES0.JT.bits:
            self._flag(SR.TJTS.bits)
        else:
            self._onto_the_wire(frame)
        try:
            self._close(frame)
        except Unreachable as error:
            self._fatal(EBS_TRANSMIT | EBS_DESCRIPTOR, error)
            return
        self._tx_at = self.dmachtdr.value = frame.following
        if frame.last.words[0] & TDES0.IC.bits:
            self._flag(SR.TS.bits)
        if not self.dmaomr.ST:
            self._stop_sending()
        else:
            self._tx_event = self.clock.after(PREFETCHED_CYCLES if self.dmaomr.OSF else FETCH_CYCLES, self._fetch)

    def _onto_the_wire(self, frame: Outgoing) -> None:
        """With DC the frame brings its own CRC; a wrong one makes every receiver drop it."""
        data, whole = frame.data, True
        if frame.orders & TDES0.DC.bits:
            data, crc = data[:-CRC_BYTES], data[-CRC_BYTES:]
            whole = crc == fcs(data)
        self._count("tx")
        if whole:
            self.out(data)

    def _close(self, frame: Outgoing) -> None:
        """Status into the last descriptor, OWN last of all."""
        assert frame.last is not None
        status = TDES0()
        status.value = frame.last.words[0] & ~TDES0.OWN.bits | frame.status
        status.ES |= bool(frame.status)
        if frame.orders & TDES0.TTSE.bits and self.ptptscr.TSE:
            status.TTSS = 1
            self._stamp(frame.last, self.time_stamp())
        self._memory.put(frame.last.address, status.value)

    def _stamp(self, descriptor: Descriptor, stamp: tuple[int, int]) -> None:
        """Seconds and subseconds: words 7 and 6, in normal form 3 and 2."""
        low = 6 if self.dmabmr.EDFE else 2
        self._memory.put(descriptor.address + 4 * low, stamp[1])
        self._memory.put(descriptor.address + 4 * (low + 1), stamp[0])
