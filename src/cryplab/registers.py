"""The declaration language: a register block is a class that reads like the manual's page.

    class RngV1(Block):
        \"\"\"True random number generator, version 1.\"\"\"

        class CR(Reg, at=0x00):
            \"\"\"control register\"\"\"
            IE    = rw(3, "interrupt enable")
            RNGEN = rw(2, "generator enable")

        cr: CR

        @CR.written
        def start_or_stop(self) -> None: ...

One line per field, from bit 31 down. The same lines are the access rules, the documentation
(``cryplab regs``) and the trace decoder. A block needs no core: `Block.read` and `Block.write`
are what the bus calls, and what a test calls.

Access words are the manual's: `r` read only, `w` write only (an action: reads as 0), `rw`,
`rc_w0` (cleared by writing 0), `rc_w1` (cleared by writing 1), `rs` (set by writing 1, cleared
by hardware). What is not declared is reserved: it keeps its reset value.

Hooks hang on the register, so a misspelt one fails at import:

* ``@REG.being_read``: before a read; returns the whole word, or None for the stored one.
* ``@REG.being_written``: takes the raw word, returns the word that the access rules see, or
  None to ignore the write.
* ``@REG.written``: after the rules were applied; `w` fields can be read here, then they fall to 0.

Hooks of a register array take the index as their first argument. What a register does by itself is in `fields`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from cryplab.clock import Clock
from cryplab.errors import DeclarationError
from cryplab.fields import Field, Place, Reg, RegArray, r, rc_w0, rc_w1, rs, rw, w
from cryplab.reports import GuestError, NotModelled, Operation, Reports
from cryplab.served import Fifo, Served, Status
from cryplab.wires import DmaRequest, Line

__all__ = [
    "Block", "DmaRequest", "Field", "Line", "Reg", "RegArray",
    "r", "rc_w0", "rc_w1", "rs", "rw", "w",
]  # fmt: skip


def _declared(hook: Callable[..., Any], result: str) -> bool:
    """The hook says in its signature that it always gives the word, or always ignores the write: it can stand alone."""
    return getattr(hook, "__annotations__", {}).get("return") == result


def _alone_hz(name: str) -> int:
    """Every clock of a block that stands alone: 16 MHz."""
    return 16_000_000


class Block:
    """One peripheral version. Subclass it, declare registers, hang hooks on them.

    Args:
        name: instance name as the chip calls it (`CRYP`); default the class's.
        clock: virtual time; a block alone gets a clock of its own.
        reports: where guest errors, operations and the rest go; default a collection of its own.
    """

    size: ClassVar[int] = 0x400
    "Bytes of address space."
    widths: ClassVar[tuple[int, ...]] = (1, 2, 4)
    "Legal access widths in bytes; others are ignored and reported as guest errors."
    lines: ClassVar[tuple[str, ...]] = ()
    "Names of output wires; each is an attribute of class Line."
    dma: ClassVar[tuple[str, ...]] = ()
    "Names of DMA requests; each is an attribute of class DmaRequest."
    saved: ClassVar[tuple[str, ...]] = ()
    "Attributes beside registers that make up the block's state (snapshot; copied deep)."
    loads: ClassVar[dict[str, str]] = {}
    "Hot registers: name -> the attribute, a `Status` or `Fifo`, from which the core may serve a load itself."
    stores: ClassVar[dict[str, str]] = {}
    "Hot registers: name -> the `Fifo`, or the `Status` with it, into which the core may put a store itself."
    lacks: ClassVar[tuple[str, ...]] = ()
    "Registers of the version it derives from that this one has not; their state stays at its reset value."
    algorithms: ClassVar[tuple[str, ...]] = ()
    "What a crypto block computes, as operations are named, without key size: `AES-CBC`, `SHA-256`, `RNG`."
    registers: ClassVar[dict[str, type[Reg]]] = {}
    absent: ClassVar[dict[str, type[Reg]]] = {}
    places: ClassVar[dict[int, Place]] = {}
    hooks: ClassVar[dict[tuple[str, str], str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        registers: dict[str, type[Reg]] = {}
        hooks: dict[tuple[str, str], str] = {}
        for klass in reversed(cls.__mro__):
            for name, thing in vars(klass).items():
                if isinstance(thing, type) and issubclass(thing, Reg):
                    registers[name] = thing
        for klass in reversed(cls.__mro__):
            for name, thing in vars(klass).items():
                for reg, kind in getattr(thing, "_cryplab_hooks", ()):
                    if reg not in registers:
                        raise DeclarationError(f"{cls.__name__}.{name} hangs on {reg}, which {cls.__name__} has not")
                    hooks[reg, kind] = name
        cls.absent = {name: registers.pop(name) for name in cls.lacks}
        places: dict[int, Place] = {}
        for reg in registers.values():
            for index in range(reg.count):
                offset = reg.offset + index * reg.step
                if offset in places:
                    raise DeclarationError(
                        f"{cls.__name__}: {reg.names[index]} and {places[offset].name} are both at {offset:#05x}"
                    )
                if offset >= cls.size:
                    raise DeclarationError(f"{cls.__name__}: {reg.names[index]} at {offset:#05x} is outside the block")
                places[offset] = Place(reg, index, offset)
        cls.registers = dict(sorted(registers.items(), key=lambda item: item[1].offset))
        cls.places = dict(sorted(places.items()))
        cls.hooks = hooks

    def __init__(
        self,
        name: str | None = None,
        *,
        clock: Clock | None = None,
        reports: Reports | None = None,
    ) -> None:
        self.name = name or type(self).__name__
        self.clock = clock or Clock()
        self.reports = reports or Reports()
        self.base = 0
        self.frequency: Callable[[str], int] = _alone_hz
        "Hertz of a clock of the chip's clock tree by name; set by the machine."
        self._stored: dict[int, Reg] = {}
        for reg_name, reg in self.registers.items():
            copies = [reg() for _ in range(reg.count)]
            for index, state in enumerate(copies):
                self._stored[reg.offset + index * reg.step] = state
            setattr(self, reg_name.lower(), RegArray(copies) if reg.is_array else copies[0])
        for reg_name, reg in self.absent.items():
            setattr(self, reg_name.lower(), RegArray(reg() for _ in range(reg.count)) if reg.is_array else reg())
        for line in self.lines:
            setattr(self, line, Line(f"{self.name}.{line}"))
        for request in self.dma:
            setattr(self, request, DmaRequest(f"{self.name}.{request}"))
        self._readers: dict[int, Callable[[], int]] = {o: self._reader(p) for o, p in self.places.items()}
        self._writers: dict[int, Callable[[int], None]] = {o: self._writer(p) for o, p in self.places.items()}
        self.on_reset()

    # -- compiled access -----------------------------------------------------------------------
    def _bound(self, place: Place, kind: str) -> Callable[..., Any] | None:
        name = self.hooks.get((place.reg.__name__, kind))
        if name is None:
            return None
        method: Callable[..., Any] = getattr(self, name)
        if not place.reg.is_array:
            return method
        index = place.index
        return lambda *args: method(index, *args)

    def _reader(self, place: Place) -> Callable[[], int]:
        state, readable = self._stored[place.offset], place.reg.readable
        hook = self._bound(place, "being_read")
        label = f"{self.name}.{place.name}"
        if hook is not None and _declared(hook, "int"):
            return hook
        if hook is not None:

            def read_hooked() -> int:
                word: int | None = hook()
                return state.value & readable if word is None else word

            return read_hooked
        if place.reg.fields and all(f.access == "w" for f in place.reg.fields):

            def read_write_only() -> int:
                self.guest_error(f"{label} read, but it is write only; reads as 0")
                return 0

            return read_write_only
        return lambda: state.value & readable

    def _writer(self, place: Place) -> Callable[[int], None]:
        state, reg = self._stored[place.offset], place.reg
        before, after = self._bound(place, "being_written"), self._bound(place, "written")
        label = f"{self.name}.{place.name}"
        action, unmodelled = reg.action, reg.unmodelled
        if before is None and after is None and all(f.access == "r" for f in reg.fields):

            def write_read_only(value: int) -> None:
                self.guest_error(f"{label} written ({value:#010x}), but it is read only; ignored")

            return write_read_only

        if before is not None and after is None and not unmodelled and _declared(before, "None"):
            return before

        def write(value: int) -> None:
            if before is not None:
                word: int | None = before(value)
                if word is None:
                    return
                value = word
            state.apply(value)
            if unmodelled and value & unmodelled & ~reg.reset_value:
                self._report_unmodelled(reg, label, value)
            if after is not None:
                after()
            if action:
                state.value &= ~action

        return write

    def _report_unmodelled(self, reg: type[Reg], label: str, value: int) -> None:
        for f in reg.fields:
            if not f.modelled and f.of(value) != f.of(reg.reset_value):
                self.reports.not_modelled(
                    NotModelled(self.name, f"{label}.{f.name}", f"set to {f.of(value):#x}: {f.text}")
                )

    # -- what the bus calls --------------------------------------------------------------------
    def read(self, offset: int, width: int = 4) -> int:
        """Software reads `width` bytes at byte `offset`; returns them as a little-endian number."""
        reader = self._readers.get(offset & ~3)
        if reader is None:
            return self.read_reserved(offset, width)
        if width == 4:
            return reader()
        if width not in self.widths:
            self.guest_error(f"{self.name}+{offset:#05x} read with {8 * width} bits; {self._legal_widths()}")
            return 0
        return (reader() >> 8 * (offset & 3)) & ((1 << 8 * width) - 1)

    def write(self, offset: int, value: int, width: int = 4) -> None:
        """Software writes `width` bytes at byte `offset`."""
        writer = self._writers.get(offset & ~3)
        if writer is None:
            self.write_reserved(offset, value, width)
        elif width == 4:
            writer(value)
        elif width not in self.widths:
            self.guest_error(
                f"{self.name}+{offset:#05x} written with {8 * width} bits; {self._legal_widths()}; ignored"
            )
        else:
            shift = 8 * (offset & 3)
            lanes = ((1 << 8 * width) - 1) << shift
            writer(self._stored[offset & ~3].neutral(value << shift, lanes))

    def reader(self, offset: int) -> Callable[[], int]:
        """The compiled 32-bit read of the register at a byte offset."""
        return self._readers[offset]

    def writer(self, offset: int) -> Callable[[int], None]:
        """The compiled 32-bit write of the register at a byte offset."""
        return self._writers[offset]

    def served(self) -> Iterator[tuple[int, Served, Served]]:
        """Byte offset, source of loads and target of stores of each register that the core may serve itself."""
        for name in {**self.loads, **self.stores}:
            load, store = self.loads.get(name), self.stores.get(name)
            yield (
                self.registers[name].offset,
                getattr(self, load) if load else None,
                getattr(self, store) if store else None,
            )

    def read_reserved(self, offset: int, width: int) -> int:
        """An offset with no register was read; reads as 0. Reported once per place."""
        self.guest_error(f"{self.name}+{offset:#05x} read, no register is there; reads as 0")
        return 0

    def write_reserved(self, offset: int, value: int, width: int) -> None:
        """An offset with no register was written; ignored and reported."""
        self.guest_error(f"{self.name}+{offset:#05x} written ({value:#010x}), no register is there; ignored")

    def peek(self, offset: int) -> int:
        """The stored word, as a debugger would see it without side effects; hooks do not run."""
        state = self._stored.get(offset & ~3)
        return 0 if state is None else state.value & state.readable

    def _legal_widths(self) -> str:
        return "only " + ", ".join(str(8 * n) for n in self.widths) + " bits are legal"

    # -- life ----------------------------------------------------------------------------------
    def reset(self) -> None:
        """Back to the reset state, as RCC's reset bit does."""
        for state in self._stored.values():
            state.value = state.reset_value
        self.on_reset()

    def system_reset(self) -> None:
        """A reset of the whole chip; overridden by what keeps something over it (backup domain, reset flags)."""
        self.reset()

    def on_reset(self) -> None:
        """Overridden by blocks with state beside registers; also called once at construction."""

    def clock_changed(self) -> None:
        """Some frequency has changed just now. Overridden by blocks that count with a bus or kernel clock."""

    def finish(self) -> None:
        """The run has ended: close operations still open. Overridden where there are any."""

    def save(self) -> Any:
        """State for a snapshot: registers, wires and the attributes named in `saved`."""
        words = [state.value for state in self._stored.values()]
        wires = [getattr(self, name).level for name in self.lines], [getattr(self, name).words for name in self.dma]
        kept = [getattr(self, name) for name in self.saved]
        kept = [thing.state if isinstance(thing, Fifo | Status) else thing for thing in kept]
        return words, wires, copy.deepcopy(kept)

    def load(self, state: Any) -> None:
        """Take back what `save` gave. Levels of wires come back without telling who is connected."""
        words, (levels, requested), attributes = state
        for name, level in zip(self.lines, levels, strict=True):
            getattr(self, name).level = level
        for name, count in zip(self.dma, requested, strict=True):
            getattr(self, name).words = count
        for stored, word in zip(self._stored.values(), words, strict=True):
            stored.value = word
        for name, value in zip(self.saved, copy.deepcopy(attributes), strict=True):
            thing = getattr(self, name, None)
            if isinstance(thing, Fifo | Status):
                thing.state = value
            else:
                setattr(self, name, value)

    # -- reports -------------------------------------------------------------------------------
    def guest_error(self, text: str, rule: str = "") -> None:
        """The firmware broke a rule of the manual: one sentence; `rule` is an observer rule, O1 to O22."""
        self.reports.guest_error(GuestError(self.name, text, rule))

    def operation(self, operation: Operation) -> None:
        """A crypto job has ended."""
        self.reports.operation(operation)

    # -- documentation and decoding ------------------------------------------------------------
    @classmethod
    def place(cls, offset: int) -> Place | None:
        """The register at a byte offset, if there is one."""
        return cls.places.get(offset & ~3)

    @classmethod
    def rows(cls, reg: str | None = None) -> Iterator[tuple[int, str, type[Reg], Field | None]]:
        """Offset, name, register and field of every line of the register table."""
        for offset, place in cls.places.items():
            if reg in (None, place.name, place.reg.__name__):
                yield offset, place.name, place.reg, None
                for f in place.reg.fields:
                    yield offset, place.name, place.reg, f
