"""Which accesses of a block need an aligned address, and of which registers that depends.

LDM, STM, LDRD, STRD, LDREX, STREX and the loads and stores of the FPU fault when their address is no multiple of 4,
whatever CCR.UNALIGN_TRP says (ARMv7-M Architecture Reference Manual, A3.2.1). Compilers make them of neighbouring word
accesses, so a byte pointer used as a word pointer works on one buffer and faults on the next. Unicorn does not notice;
the native engine tests the registers when a block starts.

Departures: an access whose base register is computed in its own block from more than a register and constants, and
one under an IT condition, is not tested. SP is not tested.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from cryplab.cpu.thumb import NONE, PC, SP, decode, size_of

__all__ = ["alignment_checks"]

CHECK = struct.Struct("<BBH")  # engine.h, struct check: register, constant added, instructions before


def base_of(first: int, second: int) -> int:
    """Base register of an access that must be aligned, or NONE. The halfwords are those of the instruction."""
    if first >> 12 == 0xC:  # STM, LDM, 16 bits
        return first >> 8 & 7
    if first & 0xFE40 == 0xE800:  # STM, LDM
        return first & 15
    if first & 0xFE40 == 0xE840:  # STRD, LDRD, exclusives, table branches
        return NONE if first & 0xFFE0 == 0xE8C0 else first & 15
    fpu = first & 0xEE00 == 0xEC00 and second >> 8 & 0xE == 0xA
    return first & 15 if fpu and first & 0xFFE0 != 0xEC40 else NONE  # 0xEC40: VMOV of two core registers


def loads_base(first: int, second: int, base: int) -> bool:
    """The access overwrites its own base register with what it loads."""
    if first >> 12 == 0xC:
        return bool(first & 0x800 and first >> base & 1)
    if first & 0xFE40 == 0xE800:
        return bool(first & 0x10 and second >> base & 1)
    return bool(first & 0x10) and first < 0xEC00 and base in (second >> 12, second >> 8 & 15)


def step_of(first: int, second: int) -> int | None:
    """What a single load or store with write-back adds to its base register; None when it is no such access."""
    if first & 0xFE00 != 0xF800 or second & 0x900 != 0x900 or first & 15 == PC:
        return None
    return second & 0xFF if second & 0x200 else -(second & 0xFF)


def alignment_checks(core: str, code: bytes, halfwords: Iterable[int]) -> bytes:
    """Checks for the engine: registers whose value at the block's start, plus a constant, must be a multiple of 4.

    Args:
        core: "cortex-m4" or "cortex-m3".
        code: of one block.
        halfwords: where its instructions start, in halfwords.
    Returns: packed `CHECK`s in order of the instructions that need them, each pair of register and constant once.
    """
    origin: dict[int, tuple[int, int]] = {n: (n, 0) for n in range(13)} | {14: (14, 0)}
    found: dict[tuple[int, int], int] = {}
    governed = 0
    for before, halfword in enumerate(halfwords):
        at = 2 * halfword
        first = int.from_bytes(code[at : at + 2], "little")
        second = int.from_bytes(code[at + 2 : at + 4], "little")
        now = decode(code[at : at + size_of(first)], core)
        conditional, governed = governed > 0, now.follows or max(0, governed - 1)
        base = base_of(first, second)
        if base in origin and not conditional:
            register, added = origin[base]
            found.setdefault((register, added & 3), before)
        written = now.writes
        if base not in (NONE, SP, PC) and not loads_base(first, second, base):
            written &= ~(1 << base)  # write-back by a multiple of 4
        step = step_of(first, second)
        moved = now.sum or (None if step is None else (first & 15, first & 15, step))
        source = origin.get(moved[1]) if moved else None
        for register in range(15):
            if written >> register & 1:
                origin.pop(register, None)
        if moved and source and not conditional and written >> moved[0] & 1 and now.writes >> moved[0] & 1:
            loaded = step is not None and first & 0x10 and second >> 12 == moved[0]
            if not loaded and moved[0] < 15 and moved[0] != SP:
                origin[moved[0]] = (source[0], source[1] + moved[2])
    return b"".join(CHECK.pack(register, added, before) for (register, added), before in found.items())
