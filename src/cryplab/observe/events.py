"""What the observer hears: raw register accesses from the core, and calls of crypto functions.

The core writes one record of 24 bytes per access; nothing is decoded before somebody looks. Records of kind
EXCEPTION_ENTRY and EXCEPTION_EXIT carry the exception's number as value and the stack pointer of the interrupted
code (its frame) as address. Calls come from a hook on the function's address, in order with the accesses:
whoever delivers a call drains the accesses before it first.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

__all__ = [
    "ENTRY_BYTES", "EXCEPTION_ENTRY", "EXCEPTION_EXIT", "READ", "RECORD", "WRITE",
    "Access", "CallEntry", "pack",
]  # fmt: skip

RECORD = struct.Struct("<QIIIBB2x")
"cycle, pc, address, value, width in bytes, kind"
READ, WRITE, EXCEPTION_ENTRY, EXCEPTION_EXIT = 0, 1, 4, 5
ENTRY_BYTES = RECORD.size
WORD_BYTES = 4


class Access(NamedTuple):
    """One record."""

    cycle: int
    pc: int
    address: int
    value: int
    width: int = WORD_BYTES
    kind: int = READ


def pack(*accesses: Access) -> bytes:
    """Records as the core writes them."""
    return b"".join(RECORD.pack(*access) for access in accesses)


@dataclass(frozen=True, slots=True)
class CallEntry:
    """A known function begins: registers as the AAPCS has them at its first instruction.

    `arguments` are the words of r0 to r3 and then of the stack, as many as the function's table entry needs;
    `frame_registers` those that a call stack needs beside sp and lr (r7, r11).
    """

    cycle: int
    function: str
    address: int
    sp: int
    lr: int
    arguments: tuple[int, ...]
    frame_registers: tuple[tuple[str, int], ...] = ()

    def __deepcopy__(self, memo: object) -> CallEntry:
        return self
