"""The bus: which block lives where, whether its clock runs, how long an access takes.

The processor's accesses arrive here from the core (`read`, `write`); hot registers are bound to
the core directly and skip this module as long as the block's clock is on. DMA controllers use
`master_read` and `master_write`, which reach memory too, as far as the chip's bus matrix goes.

Access times (core-timing facts, section 5): AHB blocks cost what SRAM costs. An APB load waits for
the bridge: 2·d + 1 cycles more plus the phase of the divided clock; an APB store is posted, and the
bridge is busy for 2·d + 2 cycles, for which a following access to that bus waits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from cryplab.clock import Clock
from cryplab.errors import BoardError, BusError, Unreachable
from cryplab.registers import Block, Reg
from cryplab.reports import NotModelled, Reports
from cryplab.served import Bridge, Served

__all__ = ["Bus", "Remembered", "Slot", "Unreachable"]


class Remembered(Block):
    """A block of the chip that is not modelled: registers keep what was written, nothing happens.

    Its first use is reported by name. Bits can be forced (`--set`) to let a firmware pass a wait.
    """

    size = 1 << 30
    saved = ("words",)

    def on_reset(self) -> None:
        """Forget what was written."""
        self.words: dict[int, int] = {}

    def read(self, offset: int, width: int = 4) -> int:
        """What was last written there, 0 at first."""
        self._use(offset, "read")
        word = self.words.get(offset & ~3, 0)
        return (word >> 8 * (offset & 3)) & ((1 << 8 * width) - 1)

    def write(self, offset: int, value: int, width: int = 4) -> None:
        """Remember."""
        self._use(offset, "written")
        shift = 8 * (offset & 3)
        mask = ((1 << 8 * width) - 1) << shift
        self.words[offset & ~3] = self.words.get(offset & ~3, 0) & ~mask | (value << shift) & mask

    def peek(self, offset: int) -> int:
        """The word remembered."""
        return self.words.get(offset & ~3, 0)

    def _use(self, offset: int, verb: str) -> None:
        self.reports.not_modelled(NotModelled(self.name, f"{self.name}+{offset & ~3:#05x}", f"{verb}; remembered only"))


@dataclass(slots=True)
class Slot:
    """A block at an address."""

    base: int
    size: int
    block: Block
    bridge: Bridge | None = None
    clock_bit: str = ""
    open: bool = True
    in_reset: bool = False
    forced: dict[int, tuple[int, int]] = field(default_factory=dict)
    "Bits that read as set by the user: offset -> (mask, value)."

    @property
    def end(self) -> int:
        """First address behind the block."""
        return self.base + self.size


Memory = tuple[int, int, memoryview, bool]


class Bus:
    """Address decoding for one chip.

    Args:
        clock: virtual time; stalls are added to the access in progress.
        reports: where guest errors and unmapped accesses go.
    """

    def __init__(self, clock: Clock, reports: Reports) -> None:
        self.clock, self.reports = clock, reports
        self.slots: list[Slot] = []
        self._bases: list[int] = []
        self.memories: list[Memory] = []
        self._flashes: list[tuple[int, int, Callable[[int, int, int], None]]] = []
        self.bridges: dict[str, Bridge] = {"APB1": Bridge(), "APB2": Bridge()}
        self.on_master_write: Callable[[int, int], None] | None = None
        "Called with address and length when a master wrote memory."

    # -- building ------------------------------------------------------------------------------
    def attach(self, base: int, size: int, block: Block, *, bus: str = "", clock_bit: str = "") -> Slot:
        """Put a block at an address; `bus` names its bus ("AHB2", "APB1"...)."""
        block.base = base
        slot = Slot(base, size, block, self.bridges.get(bus), clock_bit)
        at = bisect_right(self._bases, base)
        self.slots.insert(at, slot)
        self._bases.insert(at, base)
        return slot

    def attach_memory(self, base: int, view: memoryview, *, dma: bool = True) -> None:
        """Let bus masters reach a memory; `dma` False for core-coupled memory."""
        self.memories.append((base, base + len(view), view, dma))

    def attach_flash(self, base: int, size: int, store: Callable[[int, int, int], None]) -> None:
        """Where stores by the processor are programming: `store(address, value, width)`."""
        self._flashes.append((base, base + size, store))

    def slot_at(self, address: int) -> Slot | None:
        """The block at an address, or None."""
        index = bisect_right(self._bases, address) - 1
        if index < 0:
            return None
        slot = self.slots[index]
        return slot if address < slot.end else None

    def slot_of(self, name: str) -> Slot:
        """The slot of a block by name; raises BoardError naming the nearest."""
        for slot in self.slots:
            if slot.block.name == name:
                return slot
        from cryplab.errors import nearest

        names = [s.block.name for s in self.slots]
        raise BoardError(f"the chip has no peripheral '{name}'{nearest(name, names) or '; cryplab boards lists them'}")

    # -- the processor -------------------------------------------------------------------------
    def read(self, address: int, width: int) -> int:
        """A load by the processor; unmapped reads as 0."""
        slot = self.slot_at(address)
        if slot is None:
            self.reports.unmapped(address, write=False)
            return 0
        if slot.bridge is not None:
            self._load_wait(slot.bridge)
        offset = address - slot.base
        if not self._alive(slot, offset, "read"):
            return 0
        value = slot.block.read(offset, width)
        if slot.forced:
            mask, bits = slot.forced.get(offset & ~3, (0, 0))
            shift = 8 * (offset & 3)
            value = (value & ~(mask >> shift) | bits >> shift) & ((1 << 8 * width) - 1)
        return value

    def write(self, address: int, value: int, width: int) -> None:
        """A store by the processor; unmapped is ignored."""
        slot = self.slot_at(address)
        if slot is None:
            for base, end, store in self._flashes:
                if base <= address < end:
                    store(address, value, width)
                    return
            self.reports.unmapped(address, write=True)
            return
        if slot.bridge is not None:
            self._store_wait(slot.bridge)
        offset = address - slot.base
        if self._alive(slot, offset, "written"):
            slot.block.write(offset, value, width)

    def _alive(self, slot: Slot, offset: int, verb: str) -> bool:
        if slot.open and not slot.in_reset:
            return True
        place = slot.block.place(offset)
        name = f"{slot.block.name}.{place.name}" if place else f"{slot.block.name}+{offset:#05x}"
        why = f"its clock is off ({slot.clock_bit}=0)" if not slot.open else "it is held in reset"
        effect = "reads as 0" if verb == "read" else "ignored"
        slot.block.guest_error(f"{name} {verb} while {why}; {effect}", rule="O12")
        return False

    def _load_wait(self, bridge: Bridge) -> None:
        now, d = self.clock.now, bridge.divider
        start = max(now, bridge.busy_until)
        phase = -start % d
        self.clock.stall(start - now + phase + 2 * d + 1)

    def _store_wait(self, bridge: Bridge) -> None:
        now, d = self.clock.now, bridge.divider
        start = max(now, bridge.busy_until)
        if start > now:
            self.clock.stall(start - now)
        bridge.busy_until = start + -start % d + 2 * d + 2

    # -- direct access for the core ------------------------------------------------------------
    def bindings(self, slot: Slot) -> Iterable[tuple[int, Callable[[], int] | None, Callable[[int], None] | None]]:
        """Address, reader and writer of every register of a block, for `core.bind` (32-bit accesses)."""
        for offset in slot.block.places:
            if offset in slot.forced:
                continue
            reader, writer = slot.block.reader(offset), slot.block.writer(offset)
            if slot.bridge is not None:
                reader, writer = self._bridged(slot.bridge, reader, writer)
            yield slot.base + offset, reader, writer

    def served(self, slot: Slot) -> Iterable[tuple[int, Served, Served, Bridge | None]]:
        """Address, source of loads, target of stores and bridge of the registers for `core.serve`."""
        for offset, load, store in slot.block.served():
            if offset not in slot.forced:
                yield slot.base + offset, load, store if slot.bridge is None else None, slot.bridge

    def _bridged(
        self, bridge: Bridge, reader: Callable[[], int], writer: Callable[[int], None]
    ) -> tuple[Callable[[], int], Callable[[int], None]]:
        def read() -> int:
            self._load_wait(bridge)
            return reader()

        def write(value: int) -> None:
            self._store_wait(bridge)
            writer(value)

        return read, write

    # -- other masters -------------------------------------------------------------------------
    def master_read(self, address: int, width: int, master: str) -> int:
        """A read by a bus master such as DMA2; raises Unreachable."""
        for base, end, view, dma in self.memories:
            if base <= address and address + width <= end:
                if not dma:
                    raise Unreachable(address, master)
                return int.from_bytes(view[address - base : address - base + width], "little")
        slot = self.slot_at(address)
        if slot is None:
            raise Unreachable(address, master)
        if not slot.open or slot.in_reset:
            return 0
        try:
            return slot.block.read(address - slot.base, width)
        except BusError:
            raise Unreachable(address, master) from None

    def master_write(self, address: int, value: int, width: int, master: str) -> None:
        """A write by a bus master; raises Unreachable (flash cannot be written)."""
        for base, end, view, dma in self.memories:
            if base <= address and address + width <= end:
                if not dma or view.readonly:
                    raise Unreachable(address, master)
                view[address - base : address - base + width] = value.to_bytes(width, "little")
                if self.on_master_write:
                    self.on_master_write(address, width)
                return
        slot = self.slot_at(address)
        if slot is None:
            raise Unreachable(address, master)
        if slot.open and not slot.in_reset:
            try:
                slot.block.write(address - slot.base, value, width)
            except BusError:
                raise Unreachable(address, master) from None

    def master_read_bytes(self, address: int, size: int, master: str) -> bytes:
        """Bytes of memory for a bus master that copies many (Ethernet); raises Unreachable, blocks too."""
        view = self._memory_of(address, size, master)
        return bytes(view)

    def master_write_bytes(self, address: int, data: bytes, master: str) -> None:
        """Many bytes into memory; raises Unreachable."""
        view = self._memory_of(address, len(data), master)
        if view.readonly:
            raise Unreachable(address, master)
        view[:] = data
        if self.on_master_write:
            self.on_master_write(address, len(data))

    def _memory_of(self, address: int, size: int, master: str) -> memoryview:
        for base, end, view, dma in self.memories:
            if base <= address and address + size <= end and dma:
                return view[address - base : address - base + size]
        raise Unreachable(address, master)

    # -- what a debugger does ------------------------------------------------------------------
    def force(self, path: str, value: int) -> Slot:
        """Make bits read as wanted: `BLOCK.REG.FIELD`, or `BLOCK.0x04.3` for a block without a model.

        Raises: BoardError naming what there is.
        """
        parts = path.split(".")
        if len(parts) != 3:
            raise BoardError(f"'{path}': expected BLOCK.REG.FIELD, such as RCC.CR.HSERDY or ADC.0x00.1")
        slot = self.slot_of(parts[0])
        offset, mask, low = self._bits(slot.block, parts[1], parts[2], path)
        if value & ~(mask >> low):
            bits = (mask >> low).bit_length()
            raise BoardError(f"{path}={value:#x}: the field has {bits} bit{'s' if bits > 1 else ''}")
        old_mask, old = slot.forced.get(offset, (0, 0))
        slot.forced[offset] = (old_mask | mask, old & ~mask | value << low)
        return slot

    @staticmethod
    def _bits(block: Block, reg_name: str, field_name: str, path: str) -> tuple[int, int, int]:
        """Offset, mask and lowest bit; a field may also be named by its bits, `13` or `15:8`."""
        from cryplab.errors import nearest

        numbered = re.fullmatch(r"(\d+)(?::(\d+))?", field_name)
        for offset, place in block.places.items():
            if place.name == reg_name.upper():
                reg: type[Reg] = place.reg
                for f in reg.fields:
                    if f.name == field_name.upper():
                        return offset, f.bits, f.lo
                if numbered:
                    break
                names = [f.name for f in reg.fields]
                raise BoardError(
                    f"{path}: {block.name}.{place.name} has no field '{field_name}'"
                    f"{nearest(field_name, names) or '.'} It has {', '.join(names)}; a bit number will do too"
                )
        else:
            if not re.fullmatch(r"0x[0-9a-fA-F]{1,4}", reg_name) or not numbered:
                names = [p.name for p in block.places.values()]
                raise BoardError(
                    f"{path}: {block.name} has no register '{reg_name}'{nearest(reg_name, names)}"
                    + ("" if names else "; it is not modelled: name an offset and a bit, such as "
                       f"{block.name}.0x00.1")
                )  # fmt: skip
            offset = int(reg_name, 16) & ~3
        hi = int(numbered[1])
        lo = int(numbered[2] or hi)
        if not 31 >= hi >= lo:
            raise BoardError(f"{path}: bits {field_name} are none of a register; expected 31 down to 0")
        return offset, ((1 << (hi - lo + 1)) - 1) << lo, lo
