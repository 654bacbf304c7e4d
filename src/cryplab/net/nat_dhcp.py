"""The NAT's DHCP server: one lease."""

from __future__ import annotations

import struct
from dataclasses import dataclass

__all__ = ["Lease", "answer", "is_discover"]

REQUEST, REPLY = 1, 2
DISCOVER, OFFER, ASK, DECLINE, ACK, NAK, RELEASE, INFORM = range(1, 9)
COOKIE = b"\x63\x82\x53\x63"
FIXED_BYTES = 236
BROADCAST_FLAG = 0x8000
MIN_BYTES = 300
PAD, MASK, ROUTER, DNS, REQUESTED, LEASE_TIME, TYPE, SERVER, END = 0, 1, 3, 6, 50, 51, 53, 54, 255
LEASE_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Lease:
    """What the server gives: four bytes each."""

    guest: bytes
    server: bytes
    dns: bytes
    mask: bytes = b"\xff\xff\xff\x00"


def _options(raw: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while at < len(raw) and raw[at] != END:
        if raw[at] == PAD:
            at += 1
            continue
        size = raw[at + 1] if at + 1 < len(raw) else 0
        found[raw[at]] = raw[at + 2 : at + 2 + size]
        at += 2 + size
    return found


def _option(code: int, value: bytes) -> bytes:
    return bytes((code, len(value))) + value


def is_discover(message: bytes) -> bool:
    """Whether a client begins anew: it has no address, and no connection."""
    return message[FIXED_BYTES : FIXED_BYTES + 4] == COOKIE and _options(message[FIXED_BYTES + 4 :]).get(TYPE) == (
        bytes((DISCOVER,))
    )


def answer(message: bytes, lease: Lease) -> tuple[bytes, bool] | None:
    """The answer to a client's message (RFC 2131) and whether it must be broadcast; None when there is none."""
    if len(message) < FIXED_BYTES + 4 or message[0] != REQUEST or message[FIXED_BYTES : FIXED_BYTES + 4] != COOKIE:
        return None
    options = _options(message[FIXED_BYTES + 4 :])
    kind = options.get(TYPE, b"\0")[:1]
    client = message[12:16]
    given = lease.guest
    if kind == bytes((DISCOVER,)):
        reply = OFFER
    elif kind == bytes((ASK,)):
        if options.get(SERVER, lease.server) != lease.server:
            return None
        wanted = options.get(REQUESTED) or client
        reply = ACK if wanted == lease.guest else NAK
    elif kind == bytes((INFORM,)):
        reply, given = ACK, b"\0\0\0\0"
    else:
        return None
    body = _option(TYPE, bytes((reply,))) + _option(SERVER, lease.server)
    if reply == NAK:
        given = b"\0\0\0\0"
    else:
        body += _option(MASK, lease.mask) + _option(ROUTER, lease.server) + _option(DNS, lease.dns)
        if given != b"\0\0\0\0":
            body += _option(LEASE_TIME, struct.pack(">I", LEASE_SECONDS))
    flags = int.from_bytes(message[10:12], "big")
    head = bytes((REPLY, 1, 6, 0)) + message[4:8] + b"\0\0" + message[10:12] + client + given
    head += lease.server + message[24:28] + message[28:44]
    packet = head.ljust(FIXED_BYTES, b"\0") + COOKIE + body + bytes((END,))
    return packet.ljust(MIN_BYTES, b"\0"), bool(flags & BROADCAST_FLAG) or reply == NAK
