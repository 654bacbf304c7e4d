"""Thumb instructions as the timing rules see them: class, registers, address, cost in isolation.

`decode` looks at one encoding, whatever its address, and remembers the answer: a firmware of some
thousand blocks uses far fewer different encodings than instructions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import capstone
from capstone import arm_const as arm

__all__ = ["BRANCH", "IT", "LOAD", "MANY", "OTHER", "PC", "SP", "STORE", "Decoded", "decode", "size_of"]

# Classes: a single load, a single store, an access that pairs with nothing, a branch, IT, all else.
OTHER, LOAD, STORE, MANY, BRANCH, IT = range(6)
SP, LR, PC = 13, 14, 15
NONE = -1

# -- costs as tables -----------------------------------------------------------------------------
# Cycles with zero wait states where they are neither 1 nor those of a load or store.
# Cortex-M4 TRM, instruction set summary and FPU instruction set summary.
COST_M4: Final = {
    "sdiv": 8, "udiv": 8,  # 2 to 12; measured: 5 + quotient bits / 4, here for 16 bits (docs/timing.md)
    "mrs": 2, "msr": 2,  # 1 to 2
    "dmb": 2, "dsb": 2,  # 1 + outstanding accesses: one
    "isb": 4,  # 1 + refill
    "fmstat": 2,  # VMRS to the flags
    "vdiv": 14, "vsqrt": 14,
    "vmla": 3, "vmls": 3, "vfma": 3, "vfms": 3, "vnmla": 3, "vnmls": 3, "vfnma": 3, "vfnms": 3,
}  # fmt: skip
# Cortex-M3 TRM: MLA and MLS 2; UMULL and SMULL 3 to 5, UMLAL and SMLAL 4 to 7 with early termination. Measured on two
# chips: the most of it when no half of either operand is zero, as in 97 % of those that rows meet (docs/timing.md).
COST_M3: Final = COST_M4 | {"mla": 2, "mls": 2, "umull": 5, "smull": 5, "umlal": 7, "smlal": 7}
COST: Final = {"cortex-m4": COST_M4, "cortex-m3": COST_M3}

COST_ACCESS: Final = 2  # LDR, STR with register offset, LDREX, STREX, TBB, VLDR and VSTR of one word

# Refill of a taken branch beside its own cycle. Both TRMs give 1 to 3 "depending on the alignment and width of
# the target"; these are the values that fitted measurements best (docs/timing.md).
REFILL_NEAR: Final = 1  # B, BL; a conditional branch whose flags were set earlier
REFILL_COMPARE: Final = 2  # CBZ, CBNZ
REFILL_REGISTER: Final = 2  # BX, BLX, and data processing with PC as destination
REFILL_LOAD: Final = 3  # LDR, LDM and POP to PC
REFILL_TABLE: Final = 3  # TBB, TBH

LOADS: Final = {"ldr", "ldrb", "ldrh", "ldrsb", "ldrsh", "ldrt", "ldrbt", "ldrht", "ldrsbt", "ldrsht"}
STORES: Final = {"str", "strb", "strh", "strt", "strbt", "strht"}
EXCLUSIVES: Final = {"ldrex", "ldrexb", "ldrexh", "strex", "strexb", "strexh"}
STACK: Final = {"push", "pop", "vpush", "vpop"}
MULTIPLES: Final = STACK | {"ldm", "ldmdb", "stm", "stmdb", "vldmia", "vldmdb", "vstmia", "vstmdb"}
READERS: Final = LOADS | {
    "ldrd", "ldrex", "ldrexb", "ldrexh", "ldm", "ldmdb", "pop", "vldr", "vldmia", "vldmdb", "vpop", "tbb", "tbh",
}  # fmt: skip
COMPARES: Final = {"cmp", "cmn", "tst", "teq"}
ADDERS: Final = {"add", "addw", "sub", "subw", "mov", "movw"}


class Decoded(NamedTuple):
    """One instruction, independent of its address. Masks have bit n for core register n."""

    kind: int = OTHER
    size: int = 2  # bytes
    cost: int = 1  # cycles in isolation, a branch not taken
    refill: int = 0  # more when it branches; 0 when it never does
    conditional: bool = False  # a branch with a condition of its own
    on_flags: bool = False  # that condition is of the flags
    writes: int = 0  # mask of registers written
    address: int = 0  # mask of registers that make the address of its access
    computes: int = 0  # mask of registers written by the ALU or the multiplier
    sets_flags: bool = False
    compare: bool = False  # sets flags inside an IT block too
    reads: bool = False  # reads data memory
    register_offset: bool = False
    write_back: bool = False
    base: int = NONE  # of an access: base register
    indexed: int = NONE  # register added to it
    shift: int = 0  # left shift of that register
    offset: int = 0  # displacement, bytes
    sum: tuple[int, int, int] | None = None  # (target, source or NONE, constant) of MOV, ADD, SUB with a constant
    follows: int = 0  # IT: how many instructions it governs


def size_of(halfword: int) -> int:
    """Bytes of the instruction that starts with a halfword (ARMv7-M, A5.1)."""
    return 4 if halfword >= 0xE800 else 2


def _core_numbers() -> dict[int, int]:
    ids = [getattr(arm, f"ARM_REG_R{n}") for n in range(13)] + [arm.ARM_REG_SP, arm.ARM_REG_LR, arm.ARM_REG_PC]
    return {number: n for n, number in enumerate(ids)}


_NUMBER: Final = _core_numbers()
_DISASSEMBLER: Final = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
_DISASSEMBLER.detail = True


def _mask(registers: list[int]) -> int:
    mask = 0
    for register in registers:
        if register in _NUMBER:
            mask |= 1 << _NUMBER[register]
    return mask


@lru_cache(maxsize=65536)
def decode(code: bytes, core: str) -> Decoded:
    """Decode one encoding of 2 or 4 bytes, little-endian halfwords as in memory.

    Encodings that the disassembler does not know cost 1 and touch nothing.
    """
    first = int.from_bytes(code[:2], "little")
    if first >> 8 == 0xBF and first & 15:
        return Decoded(IT, follows=4 - ((first & -first).bit_length() - 1))
    found = next(_DISASSEMBLER.disasm(code, 0, 1), None)
    if found is None or found.size != len(code):
        return Decoded(size=len(code))
    return _classify(found, _DISASSEMBLER.insn_name(found.id), COST[core])


def _classify(found: Any, name: str, costs: dict[str, int]) -> Decoded:
    operands = found.operands
    writes = _mask(found.regs_access()[1])
    made = Decoded(
        size=found.size,
        cost=costs.get(name, 1),
        writes=writes,
        sets_flags=bool(found.update_flags),
        compare=name in COMPARES,
        reads=name in READERS,
    )
    if name in LOADS or name in STORES:
        return _single(made, operands, name, bool(found.writeback))
    if name in MULTIPLES:
        return _multiple(made, operands, name)
    if name in ("ldrd", "strd"):
        return _access(made._replace(kind=MANY, cost=3), operands)
    if name in EXCLUSIVES:
        return _access(made._replace(kind=MANY, cost=COST_ACCESS), operands)
    if name in ("vldr", "vstr"):
        return _access(made._replace(kind=MANY, cost=1 + _words(operands[:1])), operands)
    if name in ("tbb", "tbh"):
        table = _access(made._replace(kind=MANY, cost=COST_ACCESS), operands)
        return table._replace(refill=REFILL_TABLE)
    if name == "vmov" and sum(o.type == arm.ARM_OP_REG and o.reg in _NUMBER for o in operands) == 2:
        return made._replace(cost=2)
    if name in ("b", "bl", "bx", "blx", "cbz", "cbnz"):
        return _branch(made, found, operands, name)
    refill = REFILL_REGISTER if writes >> PC & 1 else 0
    return made._replace(computes=writes, refill=refill, sum=_sum(operands, name))


def _branch(made: Decoded, found: Any, operands: Any, name: str) -> Decoded:
    if name in ("cbz", "cbnz"):
        return made._replace(kind=BRANCH, refill=REFILL_COMPARE, conditional=True)
    near = operands[0].type == arm.ARM_OP_IMM
    flags = name == "b" and found.cc != arm.ARM_CC_AL
    refill = REFILL_NEAR if near else REFILL_REGISTER
    return made._replace(kind=BRANCH, refill=refill, conditional=flags, on_flags=flags)


def _access(made: Decoded, operands: Any) -> Decoded:
    for operand in operands:
        if operand.type == arm.ARM_OP_MEM:
            base, index = _NUMBER.get(operand.mem.base, NONE), _NUMBER.get(operand.mem.index, NONE)
            address = sum(1 << n for n in (base, index) if n not in (NONE, PC))
            offset, shift = operand.mem.disp, operand.shift.value if index != NONE else 0
            return made._replace(base=base, indexed=index, address=address, offset=offset, shift=shift)
    return made


def _single(made: Decoded, operands: Any, name: str, write_back: bool) -> Decoded:
    made = _access(made, operands)._replace(write_back=write_back)
    indexed = made.indexed != NONE
    if name in STORES:
        return made._replace(kind=STORE, cost=COST_ACCESS if indexed else 1, register_offset=indexed)
    refill = REFILL_LOAD if made.writes >> PC & 1 else 0
    return made._replace(kind=LOAD, cost=COST_ACCESS, register_offset=indexed, refill=refill)


def _multiple(made: Decoded, operands: Any, name: str) -> Decoded:
    stack = name in STACK
    base = SP if stack else _NUMBER.get(operands[0].reg, NONE)
    moved = operands if stack else operands[1:]
    refill = REFILL_LOAD if made.reads and made.writes >> PC & 1 else 0
    return made._replace(kind=MANY, cost=1 + _words(moved), base=base, address=1 << base, refill=refill)


def _words(registers: Any) -> int:
    """Words that a list of registers moves: two for each double-precision register."""
    return sum(2 if arm.ARM_REG_D0 <= o.reg <= arm.ARM_REG_D31 else 1 for o in registers)


def _sum(operands: Any, name: str) -> tuple[int, int, int] | None:
    """The constant sum that MOV, ADD and SUB make, as far as it needs no second register."""
    if name not in ADDERS or not operands or operands[0].type != arm.ARM_OP_REG:
        return None
    if any(o.shift.type != arm.ARM_SFT_INVALID for o in operands):
        return None
    target, source, constant = _NUMBER.get(operands[0].reg, NONE), NONE, 0
    sources = operands[1:] if name.startswith("mov") or len(operands) == 3 else operands
    for operand in sources:
        if operand.type == arm.ARM_OP_IMM:
            constant = operand.imm
        elif source == NONE and operand.reg in _NUMBER:
            source = _NUMBER[operand.reg]
        else:
            return None
    if target == NONE or source == PC:
        return None
    return target, source, -constant if name.startswith("sub") else constant
