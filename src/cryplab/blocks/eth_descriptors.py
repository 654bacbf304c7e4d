"""Descriptors of the Ethernet DMA: words in memory, rings and chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cryplab.errors import Unreachable
from cryplab.registers import Reg, rw

__all__ = ["RDES0", "RDES1", "RDES4", "TDES0", "TDES1", "BusMaster", "Descriptor", "Memory"]

WORD = 4
NORMAL_WORDS, ENHANCED_WORDS = 4, 8


class TDES0(Reg, at=0x00):
    """transmit descriptor word 0"""

    OWN = rw(31, "belongs to the DMA")
    IC = rw(30, "TS rises when the frame was sent")
    LS = rw(29, "last segment")
    FS = rw(28, "first segment")
    DC = rw(27, "no CRC is added")
    DP = rw(26, "no pad is added")
    TTSE = rw(25, "take a time stamp")
    CIC = rw(23, 22, "checksums", values={0: "none", 1: "header", 2: "payload, pseudo header given", 3: "all"})
    TER = rw(21, "end of ring")
    TCH = rw(20, "chained: word 3 is the next descriptor")
    TTSS = rw(17, "time stamp taken")
    IHE = rw(16, "IP header error")
    ES = rw(15, "error summary")
    JT = rw(14, "jabber")
    FF = rw(13, "flushed")
    IPE = rw(12, "payload error")
    LCA = rw(11, "carrier lost")
    NC = rw(10, "no carrier")
    LCO = rw(9, "late collision")
    EC = rw(8, "too many collisions")
    VF = rw(7, "VLAN frame")
    CC = rw(6, 3, "collisions")
    ED = rw(2, "deferred too long")
    UF = rw(1, "underflow")
    DB = rw(0, "deferred")


class TDES1(Reg, at=0x04):
    """transmit descriptor word 1"""

    TBS2 = rw(28, 16, "bytes in buffer 2")
    TBS1 = rw(12, 0, "bytes in buffer 1")


class RDES0(Reg, at=0x00):
    """receive descriptor word 0"""

    OWN = rw(31, "belongs to the DMA")
    AFM = rw(30, "destination address did not match")
    FL = rw(29, 16, "bytes of the frame, CRC included")
    ES = rw(15, "error summary")
    DE = rw(14, "frame cut: the next descriptor was not free")
    SAF = rw(13, "source address did not match")
    LE = rw(12, "length field wrong")
    OE = rw(11, "overflow")
    VLAN = rw(10, "VLAN frame")
    FS = rw(9, "first descriptor of the frame")
    LS = rw(8, "last descriptor of the frame")
    IPHCE_TSV = rw(7, "normal: IP header error; enhanced: time stamp valid")
    LCO = rw(6, "late collision")
    FT = rw(5, "the frame has a type, not a length")
    RWT = rw(4, "receive watchdog")
    RE = rw(3, "receive error")
    DBE = rw(2, "dribble bits")
    CE = rw(1, "CRC error")
    PCE_ESA = rw(0, "normal: payload checksum error; enhanced: extended status in word 4")


class RDES1(Reg, at=0x04):
    """receive descriptor word 1"""

    DIC = rw(31, "RS does not rise at once")
    RBS2 = rw(28, 16, "bytes of buffer 2")
    RER = rw(15, "end of ring")
    RCH = rw(14, "chained: word 3 is the next descriptor")
    RBS1 = rw(12, 0, "bytes of buffer 1")


class RDES4(Reg, at=0x10):
    """receive descriptor word 4, extended status"""

    PV = rw(13, "PTP version 2")
    PFT = rw(12, "PTP over Ethernet")
    PMT = rw(11, 8, "PTP message type")
    IPV6PR = rw(7, "IPv6 packet")
    IPV4PR = rw(6, "IPv4 packet")
    IPCB = rw(5, "checksum not looked at")
    IPPE = rw(4, "payload checksum wrong")
    IPHE = rw(3, "header wrong")
    IPPT = rw(2, 0, "payload", values={1: "UDP", 2: "TCP", 3: "ICMP"})


class BusMaster(Protocol):
    """What the DMA needs of the bus; both raise `errors.Unreachable`."""

    def master_read_bytes(self, address: int, size: int, master: str) -> bytes:
        """Read so many bytes."""

    def master_write_bytes(self, address: int, data: bytes, master: str) -> None:
        """Write bytes."""


@dataclass(slots=True)
class Descriptor:
    """Where a descriptor lies, and its words as they were read."""

    address: int
    words: list[int]


class Memory:
    """Descriptors and buffers, through the bus.

    Args:
        bus: the bus, or None when nothing is wired.
        master: the block's name, for errors.
    """

    def __init__(self, bus: BusMaster | None, master: str) -> None:
        self.bus, self.master = bus, master

    def load(self, address: int, size: int) -> bytes:
        """Bytes of memory."""
        if self.bus is None:
            raise Unreachable(address, self.master)
        return self.bus.master_read_bytes(address, size, self.master) if size else b""

    def store(self, address: int, data: bytes) -> None:
        """Write bytes."""
        if self.bus is None:
            raise Unreachable(address, self.master)
        if data:
            self.bus.master_write_bytes(address, data, self.master)

    def fetch(self, address: int, enhanced: bool) -> Descriptor:
        """A descriptor of 4 or 8 words."""
        raw = self.load(address, WORD * (ENHANCED_WORDS if enhanced else NORMAL_WORDS))
        return Descriptor(address, [int.from_bytes(raw[at : at + WORD], "little") for at in range(0, len(raw), WORD)])

    def put(self, address: int, word: int) -> None:
        """Write one word."""
        self.store(address, word.to_bytes(WORD, "little"))
