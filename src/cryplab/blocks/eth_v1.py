"""Ethernet MAC with DMA, version 1 (STM32F2, F4, F7)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from cryplab.blocks.eth_descriptors import RDES0, RDES1, RDES4, TDES0, TDES1, BusMaster, Descriptor, Memory
from cryplab.blocks.eth_mac import EthMac, Filtered
from cryplab.blocks.eth_offload import fcs, find_packet, insert_checksums
from cryplab.blocks.eth_v1_registers import EthV1Registers
from cryplab.clock import Event
from cryplab.errors import Unreachable

__all__ = ["EthV1"]

FIFO_BYTES = 2048  # receive
JABBER_BYTES = WATCHDOG_BYTES = 2048
MIN_FRAME, CRC_BYTES, HEADER = 60, 4, 14
FIRST_TYPE = 0x600
TYPE_VLAN = 0x8100
RESET_CYCLES = 200  # software reset with all clocks running
FETCH_CYCLES = 20  # a descriptor: four words, arbitration, status written back
PREFETCHED_CYCLES = 2  # with OSF
WORD_CYCLES = 1
WATCHDOG_UNIT_CYCLES = 256
STOPPED, RX_WAITS, RX_SUSPENDED, TX_FETCHES, TX_SENDS, TX_SUSPENDED = 0, 3, 4, 1, 3, 6
EBS_TRANSMIT, EBS_READ, EBS_DESCRIPTOR = 1, 2, 4
MFC_MAX, MFA_MAX = 0xFFFF, 0x7FF
RFFL_EMPTY, RFFL_LOW, RFFL_HIGH = 0, 1, 2
SENDING = 3

SR = EthV1Registers.DMASR
NORMAL = SR.TS.bits | SR.TBUS.bits | SR.RS.bits | SR.ERS.bits
ABNORMAL = sum(f.bits for f in (SR.TPSS, SR.TJTS, SR.ROS, SR.TUS, SR.RBUS, SR.RPSS, SR.RWTS, SR.ETS, SR.FBES))


@dataclass(slots=True)
class Outgoing:
    """A frame on its way out: its first descriptor's orders, its last descriptor, what comes after it."""

    orders: int
    data: bytes = b""
    last: Descriptor | None = None
    following: int = 0
    status: int = 0


@dataclass(slots=True)
class Held:
    """A frame in the receive FIFO with what its descriptor will say."""

    data: bytes
    status: int
    extended: int
    stamp: tuple[int, int] | None


class EthV1(EthMac):
    """10/100 Mbit/s MAC, its counters and time stamps, and a DMA with a transmit and a receive process.

    The machine sets `bus`, `phy` (see `blocks.phy`), and what `transmit(frame)` does; `receive(frame)` brings a frame
    in. Descriptors have 4 words, or 8 with DMABMR.EDFE; they follow one another by DSL (ring) or by address (chain).
    Checksums are inserted as CIC says and judged with MACCR.IPCO. Line `wakeup` is the EXTI line of Ethernet.

    Time in HCLK cycles: a frame takes 8 + bytes + 4 bytes of the line, 12 bytes of gap follow; a descriptor
    20, one per word of a buffer. With OSF the next descriptor was fetched meanwhile. A management
    frame takes 64 MDC cycles.

    Departures: full duplex only, no collisions and no carrier loss; a frame is copied at one moment, when its first bit
    leaves or its last bit has come in, so thresholds, early interrupts and underflow do not arise; the receive FIFO
    keeps 2048 bytes with no overhead; NIS and AIS stand as long as a cause that is enabled stands; no remote wake-up
    frames, no target time; the PTP filter passes all frames with TSSARFE, none without; the core is not slowed
    down by the DMA.

    Source: RM0090, Ethernet chapter.
    """

    saved = (
        *EthMac.saved, "_reset_until", "_tx_at", "_tx", "_tx_event", "_tx_free", "_rx_at", "_rx_event", "_rx_late",
        "_fifo",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.bus: BusMaster | None = None
        self._tx_event: Event | None = None
        self._rx_event: Event | None = None
        self._rx_late: Event | None = None
        super().__init__(*args, **kwargs)

    def on_reset(self) -> None:
        """All processes stopped, FIFOs empty; SR stands until the reset has passed through all clocks."""
        for event in (self._tx_event, self._rx_event, self._rx_late):
            self.clock.cancel(event)
        self._tx_event = self._rx_event = self._rx_late = None
        self._tx: Outgoing | None = None
        self._fifo: deque[Held] = deque()
        self._tx_at = self._rx_at = self._tx_free = 0
        self._reset_until = self.clock.now + RESET_CYCLES
        self.reset_mac()
        self.wakeup.set(False)
        self.update()

    @property
    def _memory(self) -> Memory:
        return Memory(self.bus, self.name)

    # -- bus mode ------------------------------------------------------------------------------
    @EthV1Registers.DMABMR.being_read
    def _mode(self) -> int:
        if self.dmabmr.SR and self.clock.now >= self._reset_until:
            reason = self.why_no_clock() if self.phy else "the board has no PHY that would give the MAC its clock"
            if reason:
                self.guest_error(f"{self.name}.DMABMR.SR stays 1: {reason}")
            else:
                self.dmabmr.SR = 0
        return self.dmabmr.value

    @EthV1Registers.DMABMR.being_written
    def _software_reset(self, value: int) -> int | None:
        self._mode()
        if not value & self.DMABMR.SR.bits:
            return value
        self.reset()
        return None

    # -- interrupts ----------------------------------------------------------------------------
    def _flag(self, bits: int) -> None:
        self.dmasr.value |= bits
        self.update()

    @EthV1Registers.DMASR.written
    @EthV1Registers.DMAIER.written
    def update(self) -> None:
        """Summary bits and the interrupt line."""
        status, enabled = self.dmasr, self.dmaier
        asked = status.value & enabled.value
        status.NIS |= bool(asked & NORMAL)
        status.AIS |= bool(asked & ABNORMAL)
        receive, transmit = self.counters_ask()
        self.macsr.MMCRS, self.macsr.MMCTS, self.macsr.MMCS = receive, transmit, receive or transmit
        status.MMCS, status.PMTS = self.macsr.MMCS, self.macsr.PMTS
        woken = self.macsr.PMTS and not self.macimr.PMTIM
        self.irq.set(status.NIS & enabled.NISE | status.AIS & enabled.AISE | status.MMCS | woken)

    def _fatal(self, cause: int, error: Unreachable) -> None:
        """A bus error stops the process."""
        self.guest_error(f"{self.name}: fatal bus error of the {'transmit' if cause & 1 else 'receive'} DMA: {error}")
        self.dmasr.EBS = cause
        if cause & EBS_TRANSMIT:
            self._tx, self.dmaomr.ST, self.dmasr.TPS = None, 0, STOPPED
        else:
            self.dmaomr.SR, self.dmasr.RPS = 0, STOPPED
        self._flag(SR.FBES.bits)

    # -- processes on and off ------------------------------------------------------------------
    @EthV1Registers.DMAOMR.being_written
    def _remember_processes(self, value: int) -> int:
        self._were_on = (self.dmaomr.ST, self.dmaomr.SR)
        return value

    @EthV1Registers.DMAOMR.written
    def _processes(self) -> None:
        sent, received = self._were_on
        self.dmaomr.FTF = 0
        if sent and not self.dmaomr.ST and self._tx is None:
            self._stop_sending()
        if received and not self.dmaomr.SR:
            self.dmasr.RPS = STOPPED
            self._flag(SR.RPSS.bits)
        elif self.dmaomr.SR and not received:
            self.dmasr.RPS = RX_WAITS
        self._look_for_work()
        self._drain()

    @EthV1Registers.MACCR.written
    def _configured(self) -> None:
        self._look_for_work()

    @EthV1Registers.DMATDLAR.written
    def _transmit_list(self) -> None:
        if self.dmaomr.ST:
            self.guest_error(f"{self.name}.DMATDLAR written while DMAOMR.ST=1")
        self._tx_at = self.dmachtdr.value = self.dmatdlar.value

    @EthV1Registers.DMARDLAR.written
    def _receive_list(self) -> None:
        if self.dmaomr.SR:
            self.guest_error(f"{self.name}.DMARDLAR written while DMAOMR.SR=1")
        self._rx_at = self.dmachrdr.value = self.dmardlar.value

    @EthV1Registers.DMATPDR.written
    def _transmit_demand(self) -> None:
        self._look_for_work()

    @EthV1Registers.DMARPDR.written
    def _receive_demand(self) -> None:
        if self.dmaomr.SR and self.dmasr.RPS == RX_SUSPENDED:
            self.dmasr.RPS = RX_WAITS
        self._drain()

    def _next(self, descriptor: Descriptor, end: int, chained: int, first: int) -> int:
        """Address of the descriptor after this one; the end of a ring goes before a chain."""
        if end:
            return first
        if chained:
            return descriptor.words[3] & ~3
        return descriptor.address + 4 * (len(descriptor.words) + self.dmabmr.DSL)

    # -- transmit process ----------------------------------------------------------------------
    def _look_for_work(self) -> None:
        if self.dmaomr.ST and self.maccr.TE and self._tx_event is None:
            self.dmasr.TPS = TX_FETCHES
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
            self._fatal(part, error)

    def _nothing_to_send(self) -> None:
        if self._tx is not None:
            self.guest_error(f"{self.name}: descriptor at {self._tx_at:#010x} is not owned, in the middle of a frame")
            self._tx = None
            self.dmasr.TUS = 1
        self.dmasr.TPS = TX_SUSPENDED
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
        self.dmasr.TPS = TX_SENDS
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

    # -- receive FIFO --------------------------------------------------------------------------
    def into_fifo(self, frame: bytes, broken: bool, verdict: Filtered) -> None:
        """A frame that passed the filter: judged, stripped, held until the DMA takes it."""
        status, extended = RDES0(), RDES4()
        kind = int.from_bytes(frame[12:14], "big")
        status.FT, status.VLAN = int(kind >= FIRST_TYPE), int(kind == TYPE_VLAN)
        status.AFM, status.SAF = int(not verdict.destination), int(not verdict.source)
        status.CE = int(broken)
        data = frame + bytes(b ^ broken for b in fcs(frame))
        if len(data) > WATCHDOG_BYTES and not self.maccr.WD:
            data, status.RWT, status.CE = data[:WATCHDOG_BYTES], 1, 1
            self._flag(SR.RWTS.bits)
        keep = self._judge(frame, status, extended) if self.maccr.IPCO else True
        if (status.CE or not keep) and not self.dmaomr.FEF:
            return
        status.FL = len(data)
        if kind < FIRST_TYPE and self.maccr.APCS and kind + HEADER <= len(frame):
            data = frame[: HEADER + kind]
            status.FL = len(data)
        elif kind >= FIRST_TYPE and self.maccr.CSTF:
            data = data[:-CRC_BYTES]
            status.FL = len(data)
        stamp = self.time_stamp() if self.ptptscr.TSE and self.ptptscr.TSSARFE else None
        if sum(len(held.data) for held in self._fifo) + len(data) > FIFO_BYTES:
            self._lose_to_overflow()
        else:
            self._fifo.append(Held(data, status.value, extended.value, stamp))
        self._drain()

    def _judge(self, frame: bytes, status: RDES0, extended: RDES4) -> bool:
        """IP checksums into the status; False when the frame is to be dropped for its payload's checksum."""
        packet = find_packet(frame)
        enhanced = self.dmabmr.EDFE
        if packet is None:
            extended.IPCB = 1
            if not enhanced:
                status.IPHCE_TSV = status.PCE_ESA = status.FT
                status.FT = 0
            return True
        extended.IPV4PR, extended.IPV6PR = int(packet.version == 4), int(packet.version == 6)
        extended.IPHE, extended.IPPE = int(not packet.header_good), int(not packet.payload_good)
        extended.IPPT = packet.payload_type if packet.header_good else 0
        extended.IPCB = int(packet.header_good and not packet.covered)
        if enhanced:
            status.PCE_ESA = 1
        else:
            status.IPHCE_TSV = extended.IPHE
            status.PCE_ESA = extended.IPPE | extended.IPCB
            status.FT = 0 if extended.IPCB else 1
        only_payload = packet.header_good and not packet.payload_good
        return bool(self.dmaomr.DTCEFD) or not only_payload

    def _lose_to_overflow(self) -> None:
        lost = self.dmamfbocr
        if lost.MFA == MFA_MAX:
            lost.OFOC = 1
        lost.MFA = (lost.MFA + 1) & MFA_MAX
        self._flag(SR.ROS.bits)

    def _lose_without_descriptor(self) -> None:
        lost = self.dmamfbocr
        if lost.MFC == MFC_MAX:
            lost.OMFC = 1
        lost.MFC = (lost.MFC + 1) & MFC_MAX

    @EthV1Registers.DMAMFBOCR.being_read
    def _lost(self) -> int:
        word, self.dmamfbocr.value = self.dmamfbocr.value, 0
        return word

    @EthV1Registers.MACDBGR.being_read
    def _debug(self) -> int:
        level = sum(len(held.data) for held in self._fifo)
        self.macdbgr.RFFL = RFFL_EMPTY if not level else RFFL_LOW if level < FIFO_BYTES // 2 else RFFL_HIGH
        sends = self._tx is not None and self._tx.last is not None
        self.macdbgr.TFNE = self.macdbgr.MMTEA = int(sends)
        self.macdbgr.MTFCS = SENDING if sends else 0
        self.macdbgr.MTP = int(self.clock.now < self._paused_until)
        self.macdbgr.MMRPEA = int(self._arriving is not None)
        return self.macdbgr.value

    # -- receive process -----------------------------------------------------------------------
    def _drain(self) -> None:
        """Copy the next frame of the FIFO when the time for that has passed."""
        if self._fifo and self.dmaomr.SR and self._rx_event is None:
            cost = FETCH_CYCLES + WORD_CYCLES * (len(self._fifo[0].data) // 4)
            self._rx_event = self.clock.after(cost, self._store)

    def _store(self) -> None:
        self._rx_event = None
        part = EBS_DESCRIPTOR | EBS_READ
        if not self.dmaomr.SR or not self._fifo:
            return
        try:
            descriptor = self._memory.fetch(self._rx_at, bool(self.dmabmr.EDFE))
            if not descriptor.words[0] & RDES0.OWN.bits:
                self._no_descriptor()
                return
            part = 0
            self._fill(self._fifo.popleft(), descriptor)
        except Unreachable as error:
            self._fatal(part, error)
            return
        self.dmasr.RPS = RX_WAITS
        self._drain()

    def _no_descriptor(self) -> None:
        """The frame is lost, or waits with DFRF until a poll demand or the next frame."""
        self.dmasr.RPS = RX_SUSPENDED
        if not self.dmaomr.DFRF:
            self._fifo.popleft()
            self._lose_without_descriptor()
            self._drain()
        self._flag(SR.RBUS.bits)

    def _fill(self, held: Held, descriptor: Descriptor) -> None:
        """Spread a frame over buffers and descriptors; each is given back when it is full."""
        rest, first = held.data, RDES0.FS.bits
        while True:
            control = RDES1()
            control.value = descriptor.words[1]
            rest = self._fill_buffer(descriptor.words[2], control.RBS1, rest)
            if not control.RCH:
                rest = self._fill_buffer(descriptor.words[3], control.RBS2, rest)
            self._rx_at = self.dmachrdr.value = self._next(descriptor, control.RER, control.RCH, self.dmardlar.value)
            if not rest:
                break
            following = self._memory.fetch(self._rx_at, bool(self.dmabmr.EDFE))
            if not following.words[0] & RDES0.OWN.bits:
                held.status |= RDES0.DE.bits
                break
            self._memory.put(descriptor.address, first)
            first, descriptor = 0, following
        self._finish_frame(held, descriptor, first)
        self._received(control)

    def _fill_buffer(self, address: int, size: int, data: bytes) -> bytes:
        """Write what fits; returns the rest."""
        self.dmachrbar.value = address
        self._memory.store(address, data[:size])
        return data[size:]

    def _finish_frame(self, held: Held, descriptor: Descriptor, first: int) -> None:
        """Status into the last descriptor, OWN last of all."""
        status = RDES0()
        status.value = held.status | first | RDES0.LS.bits
        wrong_header = status.IPHCE_TSV and status.FT and not self.dmabmr.EDFE
        status.ES = int(bool(status.DE | status.RWT | status.CE | status.OE) or bool(wrong_header))
        if held.stamp is not None:
            self._stamp(descriptor, held.stamp)
            if self.dmabmr.EDFE:
                status.IPHCE_TSV = 1
        if self.dmabmr.EDFE:
            self._memory.put(descriptor.address + RDES4.offset, held.extended)
        self._memory.put(descriptor.address, status.value)

    def _received(self, control: RDES1) -> None:
        """RS now, or with DIC when the watchdog has run off."""
        if not control.DIC:
            self.clock.cancel(self._rx_late)
            self._rx_late = None
            self._flag(SR.RS.bits)
        elif self.dmarswtr.RSWTC and self._rx_late is None:
            self._rx_late = self.clock.after(self.dmarswtr.RSWTC * WATCHDOG_UNIT_CYCLES, self._late)

    def _late(self) -> None:
        self._rx_late = None
        self._flag(SR.RS.bits)
