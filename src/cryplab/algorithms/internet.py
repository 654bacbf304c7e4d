"""The one's complement sum of the Internet protocols (RFC 1071)."""

from __future__ import annotations

import struct

__all__ = ["checksum", "pseudo_header", "total"]

WORD_MODULUS = 0xFFFF


def total(data: bytes) -> int:
    """One's complement sum of big-endian 16-bit words, 0 to 0xFFFF; an odd last byte is the high half of a word.

    0 only when every byte is 0, so a message with its right checksum in it sums to 0xFFFF.
    """
    number = int.from_bytes(data + b"\0" if len(data) & 1 else data, "big")
    return (number % WORD_MODULUS or WORD_MODULUS) if number else 0


def checksum(data: bytes) -> int:
    """What goes into a checksum field that was 0 while `data` was summed."""
    return total(data) ^ WORD_MODULUS


def pseudo_header(source: bytes, destination: bytes, protocol: int, length: int) -> bytes:
    """What TCP, UDP and ICMPv6 sum before their own bytes; addresses of 4 or 16 bytes (RFC 9293, RFC 8200)."""
    if len(source) == 4:
        return source + destination + struct.pack(">BBH", 0, protocol, length)
    return source + destination + struct.pack(">IHBB", length, 0, 0, protocol)
