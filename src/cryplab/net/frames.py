"""Frames and packets, encoded and decoded: Ethernet, ARP, IPv4, ICMP, UDP, TCP. Numbers are big-endian on the wire.

`decode` returns None for what is cut short or belongs to another protocol, it raises nothing; checksums are
judged by `good`.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field

from cryplab.algorithms.internet import checksum, pseudo_header, total

__all__ = [
    "ACK", "BROADCAST", "FIN", "ICMP", "PSH", "RST", "SYN", "TCP", "TYPE_ARP", "TYPE_IPV4", "UDP",
    "Arp", "Ethernet", "Icmp", "Ipv4", "Tcp", "Udp", "address", "dotted",
]  # fmt: skip

BROADCAST = b"\xff" * 6
TYPE_IPV4, TYPE_ARP = 0x0800, 0x0806
ICMP, TCP, UDP = 1, 6, 17
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
GOOD = 0xFFFF
ETHERNET_HEADER, IPV4_HEADER, UDP_HEADER, TCP_HEADER, ARP_BYTES = 14, 20, 8, 20, 28
HARDWARE_ETHERNET = 1
MAX_SEGMENT_OPTION, WINDOW_SCALE_OPTION = 2, 3
DO_NOT_FRAGMENT = 0x4000
FRAGMENT = 0x3FFF


def address(text: str) -> bytes:
    """Four bytes of `10.0.2.2`."""
    return socket.inet_aton(text)


def dotted(raw: bytes) -> str:
    """`10.0.2.2` of four bytes."""
    return socket.inet_ntoa(raw)


@dataclass(slots=True)
class Ethernet:
    """A frame without CRC."""

    destination: bytes
    source: bytes
    kind: int
    payload: bytes

    def encode(self) -> bytes:
        """As on the wire, padded to 60 bytes."""
        return (self.destination + self.source + struct.pack(">H", self.kind) + self.payload).ljust(60, b"\0")

    @classmethod
    def decode(cls, raw: bytes) -> Ethernet | None:
        """Padding stays part of the payload."""
        if len(raw) < ETHERNET_HEADER:
            return None
        return cls(raw[:6], raw[6:12], int.from_bytes(raw[12:14], "big"), raw[ETHERNET_HEADER:])


@dataclass(slots=True)
class Arp:
    """ARP for IPv4 on Ethernet; operation 1 asks, 2 answers."""

    operation: int
    sender_mac: bytes
    sender: bytes
    target_mac: bytes
    target: bytes

    def encode(self) -> bytes:
        """28 bytes."""
        head = struct.pack(">HHBBH", HARDWARE_ETHERNET, TYPE_IPV4, 6, 4, self.operation)
        return head + self.sender_mac + self.sender + self.target_mac + self.target

    @classmethod
    def decode(cls, raw: bytes) -> Arp | None:
        """The request or answer."""
        if len(raw) < ARP_BYTES or raw[:6] != struct.pack(">HHBB", HARDWARE_ETHERNET, TYPE_IPV4, 6, 4):
            return None
        return cls(int.from_bytes(raw[6:8], "big"), raw[8:14], raw[14:18], raw[18:24], raw[24:28])


@dataclass(slots=True)
class Ipv4:
    """A packet that is no fragment; options are dropped."""

    source: bytes
    destination: bytes
    protocol: int
    payload: bytes
    ttl: int = 64
    ident: int = 0

    def encode(self) -> bytes:
        """Header of 20 bytes and payload."""
        head = struct.pack(
            ">BBHHHBBH4s4s", 0x45, 0, IPV4_HEADER + len(self.payload), self.ident, DO_NOT_FRAGMENT, self.ttl,
            self.protocol, 0, self.source, self.destination,
        )  # fmt: skip
        return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + self.payload

    @classmethod
    def decode(cls, raw: bytes) -> Ipv4 | None:
        """None also for fragments and a wrong header checksum."""
        if len(raw) < IPV4_HEADER or raw[0] >> 4 != 4:
            return None
        size, length = 4 * (raw[0] & 15), int.from_bytes(raw[2:4], "big")
        fragment = int.from_bytes(raw[6:8], "big") & FRAGMENT
        if not IPV4_HEADER <= size <= length <= len(raw) or fragment or total(raw[:size]) != GOOD:
            return None
        return cls(raw[12:16], raw[16:20], raw[9], raw[size:length], raw[8], int.from_bytes(raw[4:6], "big"))


@dataclass(slots=True)
class Icmp:
    """ICMP; kind 8 is an echo request, 0 its answer, 3 unreachable."""

    kind: int
    code: int
    rest: bytes

    def encode(self) -> bytes:
        """With checksum."""
        raw = bytes((self.kind, self.code, 0, 0)) + self.rest
        return raw[:2] + struct.pack(">H", checksum(raw)) + raw[4:]

    @classmethod
    def decode(cls, raw: bytes) -> Icmp | None:
        """None for a wrong checksum."""
        return cls(raw[0], raw[1], raw[4:]) if len(raw) >= 8 and total(raw) == GOOD else None


@dataclass(slots=True)
class Udp:
    """A datagram."""

    source: int
    destination: int
    payload: bytes

    def encode(self, source: bytes, destination: bytes) -> bytes:
        """With checksum over the pseudo header of these addresses."""
        head = struct.pack(">HHHH", self.source, self.destination, UDP_HEADER + len(self.payload), 0)
        raw = head + self.payload
        value = checksum(pseudo_header(source, destination, UDP, len(raw)) + raw) or GOOD
        return raw[:6] + struct.pack(">H", value) + raw[8:]

    @classmethod
    def decode(cls, packet: Ipv4) -> Udp | None:
        """None for a wrong checksum; none at all is right."""
        raw = packet.payload
        if len(raw) < UDP_HEADER or not UDP_HEADER <= int.from_bytes(raw[4:6], "big") <= len(raw):
            return None
        raw = raw[: int.from_bytes(raw[4:6], "big")]
        if raw[6:8] != b"\0\0" and total(pseudo_header(packet.source, packet.destination, UDP, len(raw)) + raw) != GOOD:
            return None
        return cls(int.from_bytes(raw[:2], "big"), int.from_bytes(raw[2:4], "big"), raw[UDP_HEADER:])


@dataclass(slots=True)
class Tcp:
    """A segment; `mss` is the option of a SYN, 0 when there is none. Other options are not sent and not kept."""

    source: int
    destination: int
    seq: int
    ack: int
    flags: int
    window: int
    payload: bytes = b""
    mss: int = 0
    options: bytes = field(default=b"", repr=False)

    def encode(self, source: bytes, destination: bytes) -> bytes:
        """With checksum over the pseudo header of these addresses."""
        options = struct.pack(">BBH", MAX_SEGMENT_OPTION, 4, self.mss) if self.mss else b""
        offset = (TCP_HEADER + len(options)) // 4
        raw = struct.pack(
            ">HHIIBBHHH", self.source, self.destination, self.seq, self.ack, offset << 4, self.flags, self.window, 0, 0
        )  # fmt: skip
        raw += options + self.payload
        value = checksum(pseudo_header(source, destination, TCP, len(raw)) + raw)
        return raw[:16] + struct.pack(">H", value) + raw[18:]

    @classmethod
    def decode(cls, packet: Ipv4) -> Tcp | None:
        """None for a wrong checksum."""
        raw = packet.payload
        if len(raw) < TCP_HEADER or not TCP_HEADER <= 4 * (raw[12] >> 4) <= len(raw):
            return None
        if total(pseudo_header(packet.source, packet.destination, TCP, len(raw)) + raw) != GOOD:
            return None
        source, destination, seq, ack, offset, flags, window = struct.unpack(">HHIIBBH", raw[:16])
        size = 4 * (offset >> 4)
        options = raw[TCP_HEADER:size]
        return cls(source, destination, seq, ack, flags, window, raw[size:], _mss(options), options)


def _mss(options: bytes) -> int:
    """The maximum segment size option, 0 when there is none."""
    at = 0
    while at < len(options) and options[at]:
        if options[at] == 1:
            at += 1
            continue
        size = options[at + 1] if at + 1 < len(options) else 0
        if size < 2:
            break
        if options[at] == MAX_SEGMENT_OPTION and size == 4:
            return int.from_bytes(options[at + 2 : at + 4], "big")
        at += size
    return 0
