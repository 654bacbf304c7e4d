"""What the Ethernet MAC computes over frames: checksums to insert, checksums to judge, the address filter's hash.

Frames are bytes from destination address to the last byte before the CRC, as on the wire.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from cryplab.algorithms.internet import checksum, pseudo_header, total

__all__ = ["Packet", "address_hash", "fcs", "find_packet", "insert_checksums"]

TYPE_IPV4, TYPE_IPV6, TYPE_VLAN = 0x0800, 0x86DD, 0x8100
ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58
CHECKSUM_AT = {ICMP: 2, TCP: 16, UDP: 6, ICMPV6: 2}
PAYLOAD_TYPE = {UDP: 1, TCP: 2, ICMP: 3, ICMPV6: 3}
ADDRESSES, VLAN_TAG, IPV4_MIN, IPV6_HEADER = 12, 4, 20, 40
GOOD = 0xFFFF
CIC_HEADER, CIC_PAYLOAD, CIC_FULL = 1, 2, 3


def fcs(frame: bytes) -> bytes:
    """The four CRC bytes in the order of the wire."""
    return zlib.crc32(frame).to_bytes(4, "little")


def address_hash(address: bytes) -> int:
    """Which of the 64 hash table bits an address selects: the upper 6 bits of the bit-reversed CRC-32."""
    return int(f"{zlib.crc32(address):032b}"[::-1][:6], 2)


@dataclass(slots=True)
class Packet:
    """The IP packet in a frame: version 4 or 6, where it starts, where its payload starts and ends."""

    version: int
    start: int
    payload: int
    end: int
    protocol: int
    fragment: bool
    header_good: bool = True
    "Version, length and (IPv4) header checksum fit."
    payload_good: bool = True
    "TCP, UDP or ICMP checksum fits; true when it was not looked at."

    @property
    def covered(self) -> bool:
        """Whether the MAC knows the payload's checksum."""
        return self.protocol in CHECKSUM_AT and not self.fragment

    @property
    def payload_type(self) -> int:
        """IPPT of the extended status: 1 UDP, 2 TCP, 3 ICMP, 0 other."""
        return PAYLOAD_TYPE.get(self.protocol, 0) if not self.fragment else 0


def find_packet(frame: bytes, *, judge: bool = True) -> Packet | None:
    """The IP packet of a frame, judged; None when its type is neither IPv4 nor IPv6."""
    at = ADDRESSES + (VLAN_TAG if frame[ADDRESSES : ADDRESSES + 2] == TYPE_VLAN.to_bytes(2, "big") else 0)
    kind, start = int.from_bytes(frame[at : at + 2], "big"), at + 2
    if kind == TYPE_IPV4:
        packet = _ipv4(frame, start)
    elif kind == TYPE_IPV6:
        packet = _ipv6(frame, start)
    else:
        return None
    if judge and packet.header_good and packet.covered:
        packet.payload_good = _payload_good(frame, packet)
    return packet


def _ipv4(frame: bytes, start: int) -> Packet:
    header = frame[start : start + IPV4_MIN]
    if len(header) < IPV4_MIN:
        return Packet(4, start, len(frame), len(frame), 0, fragment=False, header_good=False)
    size, length = 4 * (header[0] & 15), int.from_bytes(header[2:4], "big")
    good = header[0] >> 4 == 4 and size >= IPV4_MIN and size <= length <= len(frame) - start
    fragment = bool(int.from_bytes(header[6:8], "big") & 0x3FFF)
    summed = total(frame[start : start + size]) == GOOD
    return Packet(4, start, start + size, start + length, header[9], fragment, header_good=good and summed)


def _ipv6(frame: bytes, start: int) -> Packet:
    header = frame[start : start + IPV6_HEADER]
    if len(header) < IPV6_HEADER:
        return Packet(6, start, len(frame), len(frame), 0, fragment=False, header_good=False)
    end = start + IPV6_HEADER + int.from_bytes(header[4:6], "big")
    good = header[0] >> 4 == 6 and end <= len(frame)
    return Packet(6, start, start + IPV6_HEADER, end, header[6], fragment=False, header_good=good)


def _pseudo(frame: bytes, packet: Packet) -> bytes:
    """The pseudo header; ICMP of IPv4 has none."""
    if packet.protocol == ICMP:
        return b""
    first, size = (12, 4) if packet.version == 4 else (8, 16)
    at = packet.start + first
    source, destination = frame[at : at + size], frame[at + size : at + 2 * size]
    return pseudo_header(source, destination, packet.protocol, packet.end - packet.payload)


def _payload_good(frame: bytes, packet: Packet) -> bool:
    payload = frame[packet.payload : packet.end]
    at = CHECKSUM_AT[packet.protocol]
    if len(payload) < at + 2:
        return False
    if packet.protocol == UDP and payload[at : at + 2] == b"\0\0":
        return packet.version == 4
    return total(_pseudo(frame, packet) + payload) == GOOD


def insert_checksums(frame: bytes, mode: int) -> tuple[bytes, bool, bool]:
    """What CIC asks: 1 the IPv4 header checksum, 2 the payload's too, its field holding the pseudo header's sum,
    3 all.

    Returns: the frame, whether the header was wrong (IHE), whether the payload was (IPE); what is wrong stays.
    """
    packet = find_packet(frame, judge=False)
    if packet is None or not mode:
        return frame, False, False
    out = bytearray(frame)
    if packet.version == 4 and len(frame) >= packet.start + IPV4_MIN:
        at = packet.start + 10
        out[at : at + 2] = b"\0\0"
        out[at : at + 2] = checksum(bytes(out[packet.start : packet.payload])).to_bytes(2, "big")
        checked = _ipv4(bytes(out), packet.start)
        if not checked.header_good:
            return frame, True, False
    elif not packet.header_good:
        return frame, True, False
    if mode == CIC_HEADER or not packet.covered:
        return bytes(out), False, False
    at = packet.payload + CHECKSUM_AT[packet.protocol]
    if at + 2 > packet.end:
        return bytes(out), False, True
    before = b""
    if mode == CIC_FULL:
        out[at : at + 2] = b"\0\0"
        before = _pseudo(bytes(out), packet)
    value = checksum(before + bytes(out[packet.payload : packet.end]))
    if packet.protocol == UDP and value == 0:
        value = GOOD
    out[at : at + 2] = value.to_bytes(2, "big")
    return bytes(out), False, False
