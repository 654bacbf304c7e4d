"""Telling the guest's echo programs what to do, in the layout of guest/programs/echo.h."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address
from pathlib import Path

from cryplab import guest
from cryplab.machine import Machine
from tls.servers import NOW

LAYOUT = struct.Struct("<IIIIH4s6s64s64sI4096s")
MAGIC = 0x4F484345
LIMIT_MS = 30_000
ANYBODY = "0.0.0.0"


def load(
    machine: Machine,
    program: str,
    pem: Path,
    port: int,
    *,
    build: str = "hardware",
    own: str = ANYBODY,
    peer: str = "",
    size: int = 0,
    number: int = 1,
) -> None:
    """Build and load `echo_client` or `echo_server`, and write its wishes."""
    machine.load(guest.build(program, machine.board, build=build))
    text = pem.read_bytes() + b"\0"
    wishes = LAYOUT.pack(
        MAGIC, int(NOW.timestamp()), LIMIT_MS, size, port, IPv4Address(own).packed, bytes((2, 0, 0, 0, 0, number)),
        peer.encode(), b"localhost" if peer else b"", len(text), text,
    )  # fmt: skip
    machine.write_memory(machine.symbol("cryplab_echo").address, wishes)


def echoed(machine: Machine) -> int:
    """Bytes that went around."""
    return machine.read_word(machine.symbol("cryplab_echoed").address)
