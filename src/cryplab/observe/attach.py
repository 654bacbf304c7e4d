"""Put an observer on a machine: trace, hooks on known crypto functions, guest errors, source lines.

    machine = Machine("ublox-c030-u201")
    machine.load("firmware.elf")
    observer = machine.observe()
    machine.run()
    print(machine.findings.show())

Hooks cost something only at the entries of known functions and where they return to.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cryplab.bench_memory import BENCH_BASE, BENCH_SIZE, TRAP
from cryplab.chip import At, Flash
from cryplab.errors import FirmwareError, UsageError
from cryplab.layout import Layout, layouts
from cryplab.loader import Image
from cryplab.observe.api import Function, known_functions
from cryplab.observe.contexts import Call
from cryplab.observe.events import CallEntry
from cryplab.observe.findings import Place
from cryplab.observe.observer import Observer, Region, Watched
from cryplab.observe.taps import taps_of
from cryplab.registers import Block
from cryplab.unwind import call_stack

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["Attachment", "observe"]

KINDS = {"Cryp": "cryp", "Hash": "hash", "Rng": "rng", "Dma": "dma"}
"Kind of a block by how its class's name begins."
VTOR = 0xE000_ED08
REGISTER_ARGUMENTS = 4
STACK_WORDS_MOST = 8
TASK_OF_CALLS = 1000
"Threads numbered from here are calls that `Machine.call` makes while another one pauses."
WATCHED_RETURNS_MOST = 20_000
FRAMES_SHOWN = 12


def observe(machine: Machine, *, deep: bool = False, functions: Iterable[Function] = ()) -> Observer:
    """Watch a machine from now on.

    Args:
        deep: buffers have unique contents, see `Observer`.
        functions: of an API of the firmware's own, beside the libraries' tables.
    Raises: UsageError without firmware.
    """
    if machine.image is None:
        raise UsageError("load the firmware before observing: its symbols tell which functions to watch")
    if machine.observer is None:
        machine.observer = Attachment(machine, machine.image, deep, functions).observer
    return machine.observer


class Attachment:
    """Connects one machine and its observer."""

    def __init__(self, machine: Machine, image: Image, deep: bool, more: Iterable[Function]) -> None:
        self.machine, self.image = machine, image
        functions = known_functions(more)
        self.observer = Observer(
            watched_blocks(machine),
            read_memory=self._read_memory,
            memories=memories(machine),
            rcc=next((at.base for at in machine.chip.modelled if at.name == "RCC"), None),
            functions=functions,
            layout=self._layout,
            place=self._place,
            unwind=self._unwind,
            frequency=self._frequency,
            hz=lambda: machine.clock.hz,
            handler=self._handler,
            deep=deep,
        )
        self._layouts: dict[str, Layout | None] = {}
        self._recent: tuple[int, int, memoryview] = (0, 0, memoryview(b""))
        "Memory read last."
        self._taps = taps_of(machine)
        self._taps.add(self.observer.accesses, self.observer.addresses)
        self.observer.drain = self._taps.drain
        machine.reports.on_guest_error = self.observer.guest_error
        self._entries: dict[int, Function] = {}
        self._returns: set[int] = set()
        self._tasks: list[int] = []
        machine.core.on_watch = self._watched
        for name, function in functions.items():
            symbol = image.symbols.get(name) if name in image.symbols else None
            if symbol is not None and symbol.kind == "function":
                self._entries[symbol.address] = function
                machine.core.watch(symbol.address)

    # -- calls ---------------------------------------------------------------------------------
    def _watched(
        self, address: int, cycle: int, sp: int, lr: int, r0: int, r1: int, r2: int, r3: int, r7: int, r11: int
    ) -> None:
        """A watched block starts: a known function's first, or one that it returns to."""
        self._taps.drain()
        if address in self._returns:
            self.observer.leave(address, sp, r0, cycle)
            if self._tasks and address == TRAP:
                self._back_from_task()
        function = self._entries.get(address)
        if function is None:
            return
        given = self.machine.at_entry[address]() if address in self.machine.at_entry else None
        r0 = r0 if given is None else given  # the core is told when it stops there
        if lr & ~1 == TRAP and self.machine.calls_open > 1:
            self._as_task()
        back = lr & ~1
        if back not in self._returns and len(self._returns) < WATCHED_RETURNS_MOST:
            self._returns.add(back)
            self.machine.core.watch(back)
        self.observer.enter(
            CallEntry(
                cycle,
                function.name,
                address,
                sp,
                lr,
                (r0, r1, r2, r3, *self._stack_words(sp, len(function.arguments))),
                (("r7", r7), ("r11", r11)),
            )
        )

    def _as_task(self) -> None:
        """The bench calls a function while another call pauses: that is another task's work."""
        self._tasks.append(self.observer.contexts.thread)
        self.observer.contexts.switch(TASK_OF_CALLS + self.machine.calls_open)

    def _back_from_task(self) -> None:
        self.observer.contexts.switch(self._tasks.pop())

    def _stack_words(self, sp: int, arguments: int) -> tuple[int, ...]:
        count = min(arguments - REGISTER_ARGUMENTS, STACK_WORDS_MOST)
        if count <= 0:
            return ()
        data = self._read_memory(sp, 4 * count)
        return struct.unpack(f"<{count}I", data) if data is not None else ()

    # -- what the observer asks ----------------------------------------------------------------
    def _layout(self, name: str) -> Layout | None:
        if name not in self._layouts:
            self._layouts[name] = layouts(self.image.path, {name}).get(name)
        return self._layouts[name]

    def _read_memory(self, address: int, size: int) -> bytes | None:
        base, end, view = self._recent
        if base <= address and address + size <= end:
            return bytes(view[address - base : address - base + size])
        for base, end, view, _dma in self.machine.bus.memories:
            if base <= address and address + size <= end:
                self._recent = (base, end, view)
                return bytes(view[address - base : address - base + size])
        try:
            return self.machine.read_memory(address, size)
        except FirmwareError:
            return None

    def _place(self, pc: int, cycle: int) -> Place:
        line = self.image.debug.line(pc)
        name = self.image.symbols.describe(pc)
        return Place(
            pc, cycle, "" if name.startswith("0x") else name, line.path if line else "", line.line if line else 0
        )

    def _unwind(self, call: Call) -> list[str]:
        """Callers of a call in progress, innermost first; empty when it has returned."""
        if not call.open:
            return []
        registers = dict(call.entry.frame_registers)
        registers |= {"sp": call.entry.sp, "lr": call.entry.lr, "pc": call.entry.address}
        frames = call_stack(self.image, registers, self._word)
        return [str(frame) for frame in frames[:FRAMES_SHOWN]]

    def _word(self, address: int) -> int | None:
        data = self._read_memory(address, 4)
        return None if data is None else int.from_bytes(data, "little")

    def _handler(self, number: int) -> int:
        """What the vector table says."""
        return (self._word(int(self.machine.bus.read(VTOR, 4)) + 4 * number) or 0) & ~1

    def _frequency(self, name: str) -> int | None:
        rcc: Any = self.machine.blocks.get("RCC")
        if rcc is None:
            return None
        try:
            return int(rcc.frequency(name))
        except (KeyError, AttributeError):
            return None


def watched_blocks(machine: Machine) -> list[Watched]:
    """CRYP, HASH, RNG and DMA controllers of the chip."""
    found = []
    for at in machine.chip.modelled:
        kind = next((kind for start, kind in KINDS.items() if at.block.__name__.startswith(start)), None)
        if kind is not None:
            found.append(
                Watched(
                    at.name,
                    at.base,
                    kind,
                    at.size,
                    declared_bits(at.block),
                    tuple(at.irqs.values()),
                    _rcc_bit(machine, at.reset),
                    _rcc_bit(machine, at.clock),
                )
            )
    return found


def declared_bits(block: type[Block]) -> dict[int, int]:
    """Bits of every register that the part has."""
    return {offset: sum(f.bits for f in place.reg.fields) for offset, place in block.places.items()}


def _rcc_bit(machine: Machine, path: str | None) -> tuple[int, int] | None:
    """Offset in RCC and mask of `RCC.AHB2RSTR.CRYPRST`."""
    parts = (path or "").split(".")
    if len(parts) != 3 or parts[0] != "RCC":
        return None
    rcc: At | None = next((at for at in machine.chip.modelled if at.name == "RCC"), None)
    register = rcc.block.registers.get(parts[1]) if rcc else None
    field = next((f for f in register.fields if f.name == parts[2]), None) if register else None
    return (register.offset, field.bits) if register and field else None


def memories(machine: Machine) -> list[Region]:
    """The chip's memories, and the bench's own."""
    regions = [Region("the bench's memory", BENCH_BASE, BENCH_SIZE)]
    for memory in machine.chip.memory:
        flash = isinstance(memory, Flash)
        regions.append(
            Region(memory.name, memory.base, memory.size, dma=flash or getattr(memory, "dma", True), writable=not flash)
        )
    return regions
