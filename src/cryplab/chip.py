"""A chip as data: memories, blocks at addresses, interrupts, clock and reset bits, DMA wires.

Building a `Chip` checks it, so that a description that contradicts itself cannot be imported. All
sizes are bytes, all addresses are those of the core's memory map.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from cryplab.errors import BoardError, DeclarationError, nearest
from cryplab.registers import Block

__all__ = ["MHZ", "At", "Chip", "DmaWire", "Flash", "KiB", "MiB", "NotModelled", "Ram"]

KiB = 1024
MiB = 1024 * KiB
MHZ = 1_000_000

WORD_BYTES = 4
ADDRESS_END = 1 << 32


@dataclass(frozen=True, slots=True)
class Flash:
    """Flash memory that code runs from; `sectors` are the sizes of its erasable parts, in address order."""

    name: str
    base: int
    size: int
    sectors: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """First address behind it."""
        return self.base + self.size


@dataclass(frozen=True, slots=True)
class Ram:
    """Static memory. `dma=False`: no bus master but the core reaches it; `code=False`: nor do instruction fetches."""

    name: str
    base: int
    size: int
    dma: bool = True
    code: bool = True
    clock: str = ""

    @property
    def end(self) -> int:
        """First address behind it."""
        return self.base + self.size


def _bus_of(clock: str) -> str:
    """`AHB2` of `RCC.AHB2ENR.CRYPEN`."""
    parts = clock.split(".")
    return parts[1].removesuffix("ENR") if len(parts) == 3 else ""


def _reset_of(clock: str) -> str:
    """`RCC.AHB2RSTR.CRYPRST` of `RCC.AHB2ENR.CRYPEN`."""
    parts = clock.split(".")
    if len(parts) != 3:
        return ""
    return f"{parts[0]}.{parts[1].removesuffix('ENR')}RSTR.{parts[2].removesuffix('EN')}RST"


@dataclass(frozen=True, slots=True)
class At:
    """A modelled block at an address.

    Args:
        name: the instance's name, as in the manual.
        base: address of its first register.
        block: its class.
        irq: NVIC number of its line `irq`, or a number for each of several lines.
        clock: the gate, `RCC.AHB2ENR.CRYPEN`; empty when it is always clocked.
        reset: the reset bit; default that of the same name beside `clock`; empty string for none.
        bus: `AHB1`, `AHB2`, `APB1`, `APB2`; default that of `clock`.
        options: keyword arguments of the block's constructor.
    """

    name: str
    base: int
    block: type[Block]
    irq: int | Mapping[str, int] | None = None
    clock: str = ""
    reset: str | None = None
    bus: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.reset is None:
            object.__setattr__(self, "reset", _reset_of(self.clock))
        if not self.bus:
            object.__setattr__(self, "bus", _bus_of(self.clock))

    @property
    def size(self) -> int:
        """Bytes of address space."""
        return self.block.size

    @property
    def end(self) -> int:
        """First address behind it."""
        return self.base + self.size

    @property
    def irqs(self) -> dict[str, int]:
        """NVIC number of each output line that is an interrupt."""
        if self.irq is None:
            return {}
        return {"irq": self.irq} if isinstance(self.irq, int) else dict(self.irq)


@dataclass(frozen=True, slots=True)
class NotModelled:
    """A block that we know and do not do; accesses are reported by this name and words are remembered."""

    name: str
    base: int
    size: int = 0x400
    clock: str = ""
    bus: str = ""

    def __post_init__(self) -> None:
        if not self.bus:
            object.__setattr__(self, "bus", _bus_of(self.clock))

    @property
    def end(self) -> int:
        """First address behind it."""
        return self.base + self.size


@dataclass(frozen=True, slots=True)
class DmaWire:
    """One request wire: the controller's stream and channel, and the request as `CRYP.dma_in`."""

    controller: str
    stream: int
    channel: int
    request: str


Memory = Flash | Ram
Peripheral = At | NotModelled


def _span(thing: Memory | Peripheral) -> str:
    return f"{thing.name} at {thing.base:#010x}..{thing.end - 1:#010x}"


@dataclass(frozen=True)
class Chip:
    """One chip. Built from data, checked when built, derived with `without`, `plus`, `with_memory`, `renamed`.

    Args:
        name: lower case, with package and flash size: `stm32f437vg`.
        core: `cortex-m4`.
        manual: the reference manual, `RM0090`.
        interrupts: number of NVIC inputs; `priority_bits`: bits of an interrupt priority.
        core_max_hz: highest core clock of the data sheet, hertz.
    Raises: DeclarationError when two things overlap, are misaligned, or name what does not exist.
    """

    name: str
    core: str
    manual: str
    memory: tuple[Memory, ...] = field(repr=False)
    peripherals: tuple[Peripheral, ...] = field(repr=False)
    dma: tuple[DmaWire, ...] = field(default=(), repr=False)
    interrupts: int = 240
    priority_bits: int = 4
    core_max_hz: int = 0

    def __post_init__(self) -> None:
        self._check_places()
        for thing in self.peripherals:
            self._check_bit(thing.name, "clock", thing.clock)
            if isinstance(thing, At):
                self._check_bit(thing.name, "reset", thing.reset or "")
                self._check_irqs(thing)
        for memory in self.memory:
            if isinstance(memory, Ram):
                self._check_bit(memory.name, "clock", memory.clock)
        for wire in self.dma:
            self._check_wire(wire)

    # -- asking --------------------------------------------------------------------------------
    @property
    def modelled(self) -> tuple[At, ...]:
        """The peripherals that we model."""
        return tuple(p for p in self.peripherals if isinstance(p, At))

    @property
    def not_modelled(self) -> tuple[NotModelled, ...]:
        """The peripherals that we only know by name."""
        return tuple(p for p in self.peripherals if isinstance(p, NotModelled))

    @property
    def flash(self) -> Flash:
        """The memory that the chip boots from: the first flash of the description."""
        for memory in self.memory:
            if isinstance(memory, Flash):
                return memory
        raise BoardError(f"{self.name} has no flash memory")

    def has(self, name: str) -> bool:
        """Whether a peripheral of this name is modelled."""
        return any(p.name == name for p in self.modelled)

    def peripheral(self, name: str) -> Peripheral:
        """The peripheral of this name, in any case of letters. Raises: BoardError."""
        for thing in self.peripherals:
            if thing.name.lower() == name.lower():
                return thing
        raise BoardError(f"{self.name} has no peripheral '{name}'{nearest(name, [p.name for p in self.peripherals])}")

    def find(self, address: int) -> Memory | Peripheral | None:
        """What lives at an address."""
        for thing in self._all():
            if thing.base <= address < thing.end:
                return thing
        return None

    # -- deriving ------------------------------------------------------------------------------
    def without(self, *names: str) -> Chip:
        """The same chip lacking these peripherals with their wires, or memories. Raises: BoardError when unknown."""
        memories = {m.name for m in self.memory}
        gone = {name if name in memories else self.peripheral(name).name for name in names}
        return replace(
            self,
            memory=tuple(m for m in self.memory if m.name not in gone),
            peripherals=tuple(p for p in self.peripherals if p.name not in gone),
            dma=tuple(w for w in self.dma if w.request.split(".")[0] not in gone),
        )

    def plus(self, *peripherals: Peripheral) -> Chip:
        """The same chip with these peripherals; one of the same name is replaced."""
        new = {p.name: p for p in peripherals}
        kept = tuple(new.pop(p.name, p) for p in self.peripherals)
        return replace(self, peripherals=kept + tuple(new.values()))

    def with_memory(self, *memory: Memory) -> Chip:
        """The same chip with these memories; one of the same name is replaced."""
        new = {m.name: m for m in memory}
        kept = tuple(new.pop(m.name, m) for m in self.memory)
        return replace(self, memory=kept + tuple(new.values()))

    def renamed(self, name: str) -> Chip:
        """The same chip under another name."""
        return replace(self, name=name)

    # -- checking ------------------------------------------------------------------------------
    def _all(self) -> Iterator[Memory | Peripheral]:
        yield from self.memory
        yield from self.peripherals

    def _check_places(self) -> None:
        seen: set[str] = set()
        for thing in self.peripherals:
            if thing.name in seen:
                raise DeclarationError(f"{self.name}: there are two peripherals named {thing.name}")
            seen.add(thing.name)
        for place in self._all():
            self._check_place(place)
        for below, above in pairwise(sorted(self._all(), key=lambda place: place.base)):
            if above.base < below.end:
                raise DeclarationError(f"{self.name}: {_span(above)} overlaps {_span(below)}")

    def _check_place(self, thing: Memory | Peripheral) -> None:
        if thing.size <= 0 or thing.base % WORD_BYTES or thing.size % WORD_BYTES:
            raise DeclarationError(
                f"{self.name}: {thing.name} at {thing.base:#010x} with {thing.size:#x} bytes: "
                f"base and size must be multiples of {WORD_BYTES}, and the size more than 0"
            )
        if not 0 <= thing.base < thing.end <= ADDRESS_END:
            raise DeclarationError(f"{self.name}: {_span(thing)} is outside the 32-bit address space")
        if isinstance(thing, Flash) and thing.sectors and sum(thing.sectors) != thing.size:
            raise DeclarationError(
                f"{self.name}: the sectors of {thing.name} make {sum(thing.sectors):#x} bytes, "
                f"its size is {thing.size:#x}"
            )

    def _check_irqs(self, thing: At) -> None:
        for line, number in thing.irqs.items():
            if line not in thing.block.lines:
                known = thing.block.lines
                hint = nearest(line, known) or "."
                raise DeclarationError(
                    f"{self.name}: {thing.name} has no line '{line}'{hint} It has {', '.join(known) or 'none'}"
                )
            if not 0 <= number < self.interrupts:
                raise DeclarationError(
                    f"{self.name}: {thing.name}.{line} is interrupt {number}, the chip has 0 to {self.interrupts - 1}"
                )

    def _check_bit(self, owner: str, what: str, path: str) -> None:
        """`RCC.AHB2ENR.CRYPEN` must be a field of a register of a modelled block."""
        if not path:
            return
        label = f"{self.name}: {owner}: {what} {path}"
        parts = path.split(".")
        if len(parts) != 3:
            raise DeclarationError(f"{label}: expected BLOCK.REGISTER.FIELD, such as RCC.AHB2ENR.CRYPEN")
        block_name, reg_name, field_name = parts
        block = next((p.block for p in self.modelled if p.name == block_name), None)
        if block is None:
            raise DeclarationError(f"{label}: the chip has no modelled block {block_name}")
        reg = block.registers.get(reg_name)
        if reg is None:
            raise DeclarationError(
                f"{label}: {block_name} has no register {reg_name}{nearest(reg_name, block.registers)}"
            )
        fields = {f.name for f in reg.fields}
        if field_name not in fields:
            raise DeclarationError(
                f"{label}: {block_name}.{reg_name} has no field {field_name}{nearest(field_name, sorted(fields))}"
            )

    def _check_wire(self, wire: DmaWire) -> None:
        label = f"{self.name}: DMA wire {wire.controller} stream {wire.stream} channel {wire.channel}"
        if not self.has(wire.controller):
            raise DeclarationError(f"{label}: the chip has no modelled block {wire.controller}")
        owner, _, request = wire.request.partition(".")
        block = next((p.block for p in self.modelled if p.name == owner), None)
        if block is None:
            raise DeclarationError(f"{label}: {wire.request}: the chip has no modelled block {owner}")
        if request not in block.dma:
            known = ", ".join(block.dma) or "none"
            raise DeclarationError(f"{label}: {owner} has no request '{request}'; it has {known}")
