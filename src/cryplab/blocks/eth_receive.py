"""The receive process of the Ethernet DMA: a FIFO behind the filter, emptied into descriptors."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from cryplab.blocks.eth_descriptors import RDES0, RDES1, RDES4, Descriptor
from cryplab.blocks.eth_dma import EBS_DESCRIPTOR, EBS_READ, FETCH_CYCLES, SR, WORD_CYCLES
from cryplab.blocks.eth_mac import Filtered
from cryplab.blocks.eth_offload import fcs, find_packet
from cryplab.blocks.eth_transmit import EthTransmit
from cryplab.blocks.eth_v1_registers import EthV1Registers
from cryplab.clock import Event
from cryplab.errors import Unreachable

__all__ = ["FIFO_BYTES", "WAITS", "EthReceive"]

FIFO_BYTES = 2048
WATCHDOG_BYTES = 2048
CRC_BYTES, HEADER = 4, 14
FIRST_TYPE, TYPE_VLAN = 0x600, 0x8100
WATCHDOG_UNIT_CYCLES = 256
WAITS, SUSPENDED = 3, 4
MFC_MAX, MFA_MAX = 0xFFFF, 0x7FF


@dataclass(slots=True)
class Held:
    """A frame in the receive FIFO with what its descriptor will say."""

    data: bytes
    status: int
    extended: int
    stamp: tuple[int, int] | None


class EthReceive(EthTransmit):
    """Frames that passed the filter, judged and stripped, then copied to memory while SR is set."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._rx_event: Event | None = None
        self._rx_late: Event | None = None
        self._fifo: deque[Held] = deque()
        self._rx_at = 0
        super().__init__(*args, **kwargs)

    def reset_receive(self) -> None:
        """Stopped, the FIFO empty."""
        for event in (self._rx_event, self._rx_late):
            self.clock.cancel(event)
        self._rx_event = self._rx_late = None
        self._fifo = deque()
        self._rx_at = 0

    @EthV1Registers.DMARDLAR.written
    def _receive_list(self) -> None:
        if self.dmaomr.SR:
            self.guest_error(f"{self.name}.DMARDLAR written while DMAOMR.SR=1")
        self._rx_at = self.dmachrdr.value = self.dmardlar.value

    @EthV1Registers.DMARPDR.written
    def _receive_demand(self) -> None:
        if self.dmaomr.SR and self.dmasr.RPS == SUSPENDED:
            self.dmasr.RPS = WAITS
        self._drain()

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
        self.dmasr.RPS = WAITS
        self._drain()

    def _no_descriptor(self) -> None:
        """The frame is lost, or waits with DFRF until a poll demand or the next frame."""
        self.dmasr.RPS = SUSPENDED
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
