"""What a basic block costs on Cortex-M3 and Cortex-M4: one rule set for both clocks.

`describe` turns the instructions of one translated block into the numbers that the native engine adds
up: the sum of its instructions' costs, where its flash lines and literals lie, and what a taken branch
at its end adds. The flash is `native/flash.h`; costs by instruction are tables in `thumb.py`.

Sources: Cortex-M4 Technical Reference Manual (Arm 100166, DDI0439), Cortex-M3 Technical Reference Manual
(DDI0337): instruction set summary, load and store timings; values of refill and the groups of unaligned wide
instructions from measurements (docs/timing.md).

Rules, all per instruction, so that a block cut in two costs what the whole does:

- a single load costs 2; directly after a single load whose result does not make its address, 1;
- a store with immediate offset costs 1; with register offset 2, or 1 directly after a single load;
- a load with write-back neither pairs with the load before nor lets the next one pair;
- LDRD, STRD, LDM, STM, PUSH, POP, VLDR and the like cost 1 + words and pair with nothing;
- an address made by the data-processing instruction directly before costs 1 more; a store with immediate
  offset also when a load directly before made its address;
- the third of consecutive 32-bit instructions that are not word aligned costs 1 more, once per run (when the
  third is a store, the fourth);
- a taken branch adds its refill, and 1 more when it lands on a 32-bit instruction that is not word aligned.

Departures:

- What a cut loses: pairing, address after data processing, runs of unaligned wide instructions and the flag
  setter before a branch do not reach back across the start of a block, at a page end or where the core resumed.
- Instructions skipped by IT cost what they cost when executed, except one that ends the block, of which the
  engine knows whether it branched: a skipped load counts 1 too much, a skipped LDM its registers.
- Operands are not looked at: division takes a mean, long multiplies of the M3 those of full operands (what looking
  at them is worth: docs/timing.md), and data that is not aligned costs nothing more.
- IT costs 1 and never folds. The write buffer never fills.
- Results of floating-point instructions have no further latency.
- Code in RAM is fetched without a wait (the system bus would add one for each fetch).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from cryplab.cpu.thumb import IT, LOAD, PC, SP, STORE, Decoded, decode, size_of
from cryplab.errors import UsageError, nearest

__all__ = ["CORES", "BlockTiming", "describe"]

CORES: Final = ("cortex-m4", "cortex-m3")
LINE_BYTES: Final = 16  # a flash read is 128 bits (RM0090, RM0033: embedded flash memory)

FLAGS_JUST_SET: Final = 1  # further refill of a conditional branch directly after the setter of its flags
WIDE_RUN: Final = 3  # unaligned 32-bit instructions in a row that cost one more
WIDE_RUN_STORE: Final = 4
UNALIGNED_TARGET: Final = 1
BRANCH_TO_SELF: Final = (bytes.fromhex("fee7"), bytes.fromhex("fff7febf"))  # B and B.W

# Addresses that the flash answers on F2 and F4 (RM0090, memory map): main memory with its alias at 0, and
# system memory. CCM, SRAM and peripherals lie elsewhere.
FLASH_END: Final = 0x1000_0000
SYSTEM_MEMORY: Final = range(0x1FFF_0000, 0x2000_0000)
SOMEWHERE_IN_RAM: Final = 0x2000_8000  # the stack pointer, without asking

RegisterFile = Callable[[str], int] | Mapping[str, int] | None
_NAMES: Final = (*(f"r{n}" for n in range(13)), "sp", "lr", "pc")


@dataclass(slots=True)
class BlockTiming:
    """The cost of one translated block, for the native engine.

    Attributes:
        cost: cycles of all its instructions, the branch at its end not taken, no stalls.
        offsets: of each instruction (halfwords from the block's start, cycles before it).
        taken: cycles more when the next block is not at `fall_through`.
        conditional: ends in a branch that may fall through.
        fall_through: address after the block.
        entry_extra: cycles more when a taken branch leads here.
        lines: (address of a 16-byte line, cycles before its first instruction), in order.
        literals: (address, cycles before the load) of loads relative to PC.
        unknown_loads: loads that may be of flash: neither literals nor known to be of RAM or I/O.
        instructions: their number, skipped ones included.
        self_loop: nothing but `b .`.
        it_loads: addresses of the loads and stores inside IT blocks.
    """

    cost: int = 0
    offsets: list[tuple[int, int]] = field(default_factory=list)
    taken: int = 0
    conditional: bool = False
    fall_through: int = 0
    entry_extra: int = 0
    lines: list[tuple[int, int]] = field(default_factory=list)
    literals: list[tuple[int, int]] = field(default_factory=list)
    unknown_loads: int = 0
    instructions: int = 0
    self_loop: bool = False
    it_loads: list[int] = field(default_factory=list)


def describe(core: str, code: bytes, address: int, registers: RegisterFile = None) -> BlockTiming:
    """Time one basic block.

    Args:
        core: "cortex-m4" or "cortex-m3".
        code: the block's bytes, whole instructions.
        address: of its first instruction, even.
        registers: the core registers when the block is first met, by name ("r0" to "r12", "lr"); without them only
            loads relative to SP and PC are known.
    Raises: UsageError for a core without rules.
    """
    if core not in CORES:
        raise UsageError(f"no timing rules for core '{core}'{nearest(core, CORES) or '.'} There are {', '.join(CORES)}")
    walk = _Walk(address, registers)
    at = 0
    while at < len(code):
        size = size_of(code[at] | code[at + 1] << 8)
        walk.step(decode(code[at : at + size], core), at)
        at += size
    timing = walk.timing
    timing.fall_through = address + at
    timing.self_loop = code in BRANCH_TO_SELF
    return timing


_NOTHING: Final = Decoded(cost=0)


class _Walk:
    """State between one instruction and the next."""

    def __init__(self, address: int, registers: RegisterFile) -> None:
        self.timing = BlockTiming()
        self.start = address
        self.before = _NOTHING
        self.before_in_it = False
        self.governed = 0  # instructions still governed by IT
        self.wide_run = 0
        self.wide_charged = False
        self.values = _Values(registers)

    def step(self, now: Decoded, at: int) -> None:
        """Count one instruction, `at` bytes from the block's start."""
        timing = self.timing
        address = self.start + at
        in_it = self.governed > 0
        timing.offsets.append((at >> 1, timing.cost))
        timing.instructions += 1
        if at == 0 and self._unaligned_wide(now, address):
            timing.entry_extra = UNALIGNED_TARGET
        self._lines(address, now.size)
        if now.reads:
            self._read(now, address)
        if in_it and (now.address or now.reads):
            timing.it_loads.append(address)
        cost = self._cost(now) + self._wide(now, address)
        if now.refill:
            self._branch(now, cost, in_it)
        else:
            timing.cost += cost
        self.values.follow(now, in_it)
        self.before, self.before_in_it = now, in_it
        self.governed = now.follows if now.kind == IT else max(0, self.governed - 1)

    def _cost(self, now: Decoded) -> int:
        before = self.before
        cost = now.cost
        if not now.address and now.kind != LOAD:
            return cost
        made_by_load = before.kind == LOAD and before.writes & now.address
        if before.kind == LOAD and not before.write_back and not made_by_load and not now.write_back:
            if now.kind == LOAD or (now.kind == STORE and now.register_offset):
                cost = 1
        elif made_by_load and now.kind == STORE and not now.register_offset:
            cost += 1
        return cost + (before.computes & now.address != 0)

    @staticmethod
    def _unaligned_wide(now: Decoded, address: int) -> bool:
        return now.size == 4 and address & 2 != 0

    def _wide(self, now: Decoded, address: int) -> int:
        if not self._unaligned_wide(now, address):
            self.wide_run, self.wide_charged = 0, False
            return 0
        self.wide_run += 1
        needed = WIDE_RUN_STORE if now.kind == STORE else WIDE_RUN
        if self.wide_charged or self.wide_run < needed:
            return 0
        self.wide_charged = True
        return 1

    def _branch(self, now: Decoded, cost: int, in_it: bool) -> None:
        timing = self.timing
        timing.conditional = now.conditional or in_it
        timing.taken = now.refill
        setter = self.before.sets_flags and (self.before.compare or not self.before_in_it or self.before.size == 4)
        if now.on_flags and setter:
            timing.taken += FLAGS_JUST_SET
        if in_it:  # skipped, it takes one cycle
            timing.taken += cost - 1
            cost = 1
        timing.cost += cost

    def _lines(self, address: int, size: int) -> None:
        lines, cost = self.timing.lines, self.timing.cost
        for line in {address & -LINE_BYTES: None, (address + size - 2) & -LINE_BYTES: None}:
            if not lines or lines[-1][0] != line:
                lines.append((line, cost))

    def _read(self, now: Decoded, address: int) -> None:
        timing = self.timing
        if now.base == PC and now.indexed < 0:
            timing.literals.append(((address & ~3) + 4 + now.offset, timing.cost))
        elif self.values.may_be_flash(now):
            timing.unknown_loads += 1


class _Values:
    """Register contents as far as a block's own constants and its first meeting tell."""

    def __init__(self, registers: RegisterFile) -> None:
        self._ask = registers.get if isinstance(registers, Mapping) else registers
        self._known: dict[int, int | None] = {SP: SOMEWHERE_IN_RAM, PC: None}

    def get(self, number: int) -> int | None:
        """A register's value, or None."""
        if number not in self._known:
            self._known[number] = self._ask(_NAMES[number]) if self._ask else None
        return self._known[number]

    def may_be_flash(self, load: Decoded) -> bool:
        """Whether a load can touch the flash, so far as is known."""
        base = self.get(load.base) if load.base >= 0 else None
        index = self.get(load.indexed) if load.indexed >= 0 else 0
        if base is None or index is None:
            return True
        where = (base + (index << load.shift) + load.offset) & 0xFFFF_FFFF
        return where < FLASH_END or where in SYSTEM_MEMORY

    def follow(self, now: Decoded, in_it: bool) -> None:
        """Take over what an instruction writes."""
        writes = now.writes & ~(1 << SP)
        if not writes:
            return
        value = None
        if now.sum and not in_it:
            _, source, constant = now.sum
            start = self.get(source) if source >= 0 else 0
            value = None if start is None else (start + constant) & 0xFFFF_FFFF
        for number in range(16):
            if writes >> number & 1:
                self._known[number] = value
