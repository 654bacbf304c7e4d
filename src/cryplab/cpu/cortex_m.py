"""The core: a Cortex-M3 or Cortex-M4F of ARMv7-M, with its memory, exceptions and cycle counter.

Instructions run in Unicorn, the run loop and exceptions in the native extension (`cryplab._native`,
native/engine.h), timing rules come from `cpu.timing`, private peripherals from `cpu.private`.

    core = CortexM("cortex-m4", interrupts=91)
    flash = core.map_memory(0x0800_0000, 0x10_0000, kind="flash")
    core.on_read, core.on_write = bus.read, bus.write
    core.reset(0x0800_0000)
    stop = core.run(1_000_000)

Departures:
- VTOR starts at the vectors given to `reset`, where silicon starts at 0.
- UDIV and SDIV by zero give 0 also with CCR.DIV_0_TRP; CCR.UNALIGN_TRP is ignored. Accesses that must be aligned
  (LDM, LDRD...) fault when they are not, but for rare cases, see `cpu.alignment`.
- The MPU only remembers its registers. An exception does not clear the exclusive monitor.
- Exception entry and exit take 12 cycles, tail-chaining 6; the floating-point frame adds nothing.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, cast

import unicorn
from unicorn import arm_const
from unicorn.unicorn_py3.unicorn import uclib

from cryplab.clock import TimeSource
from cryplab.cpu.alignment import alignment_checks
from cryplab.cpu.timing import BlockTiming, describe
from cryplab.errors import BusError, FirmwareError, ToolError, UsageError, nearest
from cryplab.served import Bridge, Served

try:
    from cryplab._native import Engine
except ImportError as _error:  # pragma: no cover
    raise ToolError(f"the native extension of cryplab is not built ({_error}); run 'pip install .'") from None

__all__ = ["BusError", "CortexM", "Fault", "Stop"]

MODELS: Final = {
    "cortex-m3": arm_const.UC_CPU_ARM_CORTEX_M3,
    "cortex-m4": arm_const.UC_CPU_ARM_CORTEX_M4,
}
TCG_BUFFER_BYTES = 32 << 20
PAGE = 4096
PRIVATE_BASE, PRIVATE_SIZE = 0xE000_0000, 0x0010_0000
BITBAND = ((0x2200_0000, 0x0200_0000), (0x4200_0000, 0x0200_0000))

FUNCTIONS = (
    "uc_emu_start", "uc_emu_stop", "uc_reg_read", "uc_reg_write",
    "uc_mem_map_ptr", "uc_mem_protect", "uc_mmio_map", "uc_hook_add", "uc_hook_del", "uc_ctl",
    "uc_context_alloc", "uc_context_save", "uc_context_restore", "uc_context_free",
)  # fmt: skip
REGISTERS = (
    *(f"R{n}" for n in range(13)), "SP", "LR", "PC", "XPSR", "XPSR_NZCVQG", "APSR_NZCV", "MSP", "PSP", "CONTROL",
    "PRIMASK", "BASEPRI", "FAULTMASK", "FPSCR", "D0", "S0",
)  # fmt: skip
"Order of the engine's own numbers."
NUMBER: Final = {
    **{name.lower(): n for n, name in enumerate(REGISTERS) if name not in ("D0", "S0")},
    **{"r13": 13, "r14": 14, "r15": 15},
    **{f"s{n}": REGISTERS.index("S0") + n for n in range(32)},
}
REASONS = ("", "cycle", "breakpoint", "idle", "bkpt", "fault", "lockup", "host", "reset")

# flags of an entry, engine.h
SELF_LOOP, SEV, FP, IT_LOADS, IT_OPEN, UNKNOWN = 1, 8, 16, 64, 128, 256
POINT = struct.Struct("<IHH")

FAULT_KINDS = {3: "HardFault", 4: "MemManage", 5: "BusFault", 6: "UsageFault", 11: "SVCall"}
CAUSES = {
    0: "instruction fetch from a region that does not execute",
    8: "instruction fetch from where nothing lives",
    9: "data access to where nothing lives",
    11: "unstacking failed on return from an exception",
    12: "stacking failed on entry of an exception",
    16: "undefined instruction",
    17: "branch to an even address (not Thumb)",
    18: "bad EXC_RETURN or stacked state",
    19: "floating-point instruction while the FPU is off",
    24: "access that is not aligned",
}


class Stop(NamedTuple):
    """Why a run came back.

    reason: "cycle" (limit reached), "breakpoint", "bkpt" (BKPT instruction, pc at it), "idle" (asleep or in `b .` and
    nothing will ever happen), "fault" (a fault was taken; its handler is next), "lockup", "host" (`stop` was
    called), "reset" (the guest asked for a system reset).
    """

    reason: str
    pc: int
    cycle: int


@dataclass(frozen=True, slots=True)
class Fault:
    """The first fault since reset: what, where, and the registers before the exception was taken.

    `address` is that of the data access, None for other causes; `number` the exception it asked for.
    """

    number: int
    cfsr: int
    hfsr: int
    address: int | None
    cycle: int
    registers: dict[str, int]

    @property
    def pc(self) -> int:
        """Address of the instruction at fault (of the target for a failed fetch)."""
        return self.registers["pc"]

    @property
    def kind(self) -> str:
        """`BusFault`, `UsageFault`..."""
        return FAULT_KINDS.get(self.number, f"exception {self.number}")

    @property
    def cause(self) -> str:
        """In words, with the address of a data access."""
        found = [text for bit, text in CAUSES.items() if self.cfsr >> bit & 1]
        if self.number == 11:
            found.append("SVC at a priority that does not allow it")
        words = ", ".join(found) or "unknown cause"
        return words if self.address is None else f"{words}, address {self.address:#010x}"


class _Memory(NamedTuple):
    base: int
    size: int
    host: int
    flash: bool
    view: memoryview


class CortexM:
    """One core.

    Args:
        model: "cortex-m4" (with FPU) or "cortex-m3".
        interrupts: number of NVIC inputs.
        priority_bits: implemented bits of a priority, from bit 7 down.
        exact: follow data reads of the flash address by address; otherwise means are learned.
    Raises: UsageError for an unknown model.
    """

    def __init__(
        self, model: str = "cortex-m4", *, interrupts: int = 240, priority_bits: int = 4, exact: bool = True
    ) -> None:
        if model not in MODELS:
            known = ", ".join(MODELS)
            raise UsageError(f"no core '{model}'{nearest(model, MODELS)}; there are {known}")
        self.model, self.exact = model, exact
        self.interrupts, self.priority_bits = interrupts, priority_bits
        self.describe: Callable[..., BlockTiming] = describe
        self._memories: list[_Memory] = []
        self._windows: list[tuple[int, int]] = []
        # not MCLASS: with it Unicorn would ignore the model
        self._uc: Any = cast(Any, unicorn).Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB)
        self._uc.ctl_set_tcg_buffer_size(TCG_BUFFER_BYTES)
        self._uc.ctl_set_cpu_model(MODELS[model])
        functions = {name: ctypes.cast(getattr(uclib, name), ctypes.c_void_p).value or 0 for name in FUNCTIONS}
        registers = {name: int(getattr(arm_const, f"UC_ARM_REG_{name}")) for name in REGISTERS}
        self.engine = Engine(self._uc, self._uc._uch.value, functions, registers, BusError)
        self.engine.describe = self._describe
        self.on_read = self._nothing_to_read
        self.on_write = self._nothing_to_write
        self.source: TimeSource = cast(TimeSource, self.engine)
        for base, size in ((PRIVATE_BASE, PRIVATE_SIZE), *BITBAND):
            self.map_io(base, size)

    # -- memory --------------------------------------------------------------------------------
    def map_memory(self, base: int, size: int, kind: Literal["flash", "ram"] = "ram") -> memoryview:
        """Memory of the guest; the view is the host's. Size is rounded up to pages of 4096 bytes.

        Stores of the guest to flash go to `on_write`. Code that the host changes needs `flush`.
        """
        store = mmap.mmap(-1, -(-size // PAGE) * PAGE)
        view = memoryview(store)
        host = ctypes.addressof(ctypes.c_char.from_buffer(store))
        self._map(_Memory(base, len(view), host, kind == "flash", view), base)
        return view[:size]

    def map_alias(self, base: int, target: int, size: int) -> None:
        """The memory at `target` once more, at `base`."""
        size = -(-size // PAGE) * PAGE
        memory = self._memory(target, size)
        offset = target - memory.base
        view = memory.view[offset : offset + size]
        self._map(_Memory(base, size, memory.host + offset, memory.flash, view), target)

    def _map(self, memory: _Memory, canonical: int) -> None:
        self.engine.map_memory(memory.base, memory.size, memory.host, memory.flash, canonical)
        self._memories.append(memory)
        if memory.flash and self.exact:
            self.engine.follow_reads()

    def _memory(self, address: int, size: int) -> _Memory:
        for memory in self._memories:
            if memory.base <= address and address + size <= memory.base + memory.size:
                return memory
        raise FirmwareError(f"{address:#010x}..{address + size - 1:#010x} is not in the chip's memory")

    def read_memory(self, address: int, size: int) -> bytes:
        """Bytes of guest memory. Raises: FirmwareError outside memory."""
        memory = self._memory(address, size)
        return bytes(memory.view[address - memory.base : address - memory.base + size])

    def write_memory(self, address: int, data: bytes | bytearray) -> None:
        """Write guest memory, flash too; code there is translated anew. Raises: FirmwareError outside memory."""
        memory = self._memory(address, len(data))
        memory.view[address - memory.base : address - memory.base + len(data)] = data
        if data:
            self.flush(address, len(data))

    def flush(self, base: int, size: int) -> None:
        """The host changed code in this range; what was translated of it is dropped."""
        self.engine.flush(base, size)

    # -- input and output ----------------------------------------------------------------------
    def map_io(self, base: int, size: int) -> None:
        """Accesses to this window go to bound callables, or to `on_read` and `on_write`."""
        if (base, size) not in self._windows:
            self.engine.map_io(base, size)
            self._windows.append((base, size))

    def bind(self, address: int, read: Callable[[], int] | None, write: Callable[[int], None] | None) -> None:
        """Callables for word accesses to one aligned word; None leaves it to `on_read` or `on_write`."""
        self.engine.bind(address, read, write)

    def serve(self, address: int, load: Served, store: Served, bridge: Bridge | None = None) -> None:
        """Serve word accesses without the callables bound to this word wherever `cryplab.served` says that it can be.

        `bridge`: what loads wait for; its word has no `store`. A new `bind` ends it.
        """
        self.engine.serve(address, load, store, bridge)

    def gate(self, base: int, size: int, open: bool) -> None:
        """While closed, bound callables of the range are bypassed."""
        self.engine.gate(base, size, open)

    @staticmethod
    def _nothing_to_read(address: int, width: int) -> int:
        raise BusError

    @staticmethod
    def _nothing_to_write(address: int, value: int, width: int) -> None:
        raise BusError

    @property
    def on_read(self) -> Callable[[int, int], int]:
        """Called as (address, width in bytes) -> value for loads that nothing is bound to."""
        return cast(Callable[[int, int], int], self.engine.on_read)

    @on_read.setter
    def on_read(self, callback: Callable[[int, int], int]) -> None:
        self.engine.on_read = callback

    @property
    def on_write(self) -> Callable[[int, int, int], None]:
        """Called as (address, value, width in bytes) for stores that nothing is bound to."""
        return cast(Callable[[int, int, int], None], self.engine.on_write)

    @on_write.setter
    def on_write(self, callback: Callable[[int, int, int], None]) -> None:
        self.engine.on_write = callback

    @property
    def on_deadline(self) -> Callable[[], int] | None:
        """Called when the deadline of `source` has come; returns the next one (`Clock.run_due`)."""
        return self.engine.on_deadline

    @on_deadline.setter
    def on_deadline(self, callback: Callable[[], int] | None) -> None:
        self.engine.on_deadline = callback

    def set_interrupt(self, number: int, level: bool) -> None:
        """Drive an NVIC input."""
        if number >= self.interrupts:
            raise UsageError(f"interrupt {number}: this core has 0 to {self.interrupts - 1}")
        self.engine.set_level(16 + number, level)

    # -- running -------------------------------------------------------------------------------
    def reset(self, vectors: int) -> None:
        """Reset the core; SP and PC come from the vector table. Cycles go on."""
        self.engine.reset(vectors)

    def run(self, until_cycle: int | None = None) -> Stop:
        """Run until something ends it, see `Stop`. An exception raised in a callback ends it and comes out here."""
        number = self.engine.run() if until_cycle is None else self.engine.run(until_cycle)
        return Stop(REASONS[number], self.engine.pc, self.engine.cycles)

    @property
    def asleep(self) -> bool:
        """Whether the guest waits for an interrupt or event (WFI, WFE, sleep on exit)."""
        return bool(self.engine.sleeping)

    def stop(self) -> None:
        """From a callback: return at the next block start."""
        self.engine.stop()

    def request_reset(self) -> None:
        """The guest asks for a system reset: `run` returns with reason "reset"."""
        self.engine.stop(REASONS.index("reset"))

    def breakpoint(self, address: int, on: bool = True) -> None:
        """Stop before the instruction at an address; not at the one where a run starts."""
        self.engine.breakpoint(address & ~1, on)

    def set_flash(self, wait_states: int, prefetch: bool, icache: bool, dcache: bool) -> None:
        """FLASH_ACR as far as time is concerned."""
        self.engine.set_flash(wait_states, prefetch, icache, dcache)

    # -- looking -------------------------------------------------------------------------------
    @property
    def pc(self) -> int:
        """Address of the access in progress, or of the next instruction."""
        return self.engine.pc

    @property
    def cycles(self) -> int:
        """Cycles since power-on; `source.now()` is exact to the access in progress."""
        return self.engine.cycles

    def read_register(self, name: str) -> int:
        """A register by name: r0 to r15, sp, lr, pc, xpsr, msp, psp, control, primask..., fpscr, s0 to s31."""
        if name in ("pc", "r15"):
            return self.engine.pc
        return self.engine.read_register(self._number(name))

    def write_register(self, name: str, value: int) -> None:
        """Write a register; the core must not be running."""
        if name in ("pc", "r15"):
            self.engine.pc = value
        else:
            self.engine.write_register(self._number(name), value)

    @staticmethod
    def _number(name: str) -> int:
        if name not in NUMBER:
            raise UsageError(f"no register '{name}'{nearest(name, NUMBER)}")
        return NUMBER[name]

    @property
    def fault(self) -> Fault | None:
        """The first fault since reset; set it to None to wait for the next."""
        found = self.engine.first_fault()
        if found is None:
            return None
        number, cfsr, hfsr, address, cycle, values = found
        registers = dict(zip((*(f"r{n}" for n in range(13)), "sp", "lr", "pc", "xpsr"), values, strict=True))
        return Fault(number, cfsr, hfsr, address, cycle, registers)

    @fault.setter
    def fault(self, nothing: None) -> None:
        self.engine.forget_fault()

    def profile(self) -> dict[int, tuple[int, int, int]]:
        """By block address: instructions executed, times the block ran, cycles spent in it."""
        found: dict[int, tuple[int, int, int]] = {}
        for address, _size, instructions, times, cycles in self.engine.profile():
            before = found.get(address, (0, 0, 0))
            found[address] = (before[0] + instructions * times, before[1] + times, before[2] + cycles)
        return found

    def clear_profile(self) -> None:
        """Count from 0 again."""
        self.engine.clear_profile()

    @property
    def instructions(self) -> int:
        """Instructions since power-on or `clear_profile`, skipped ones of IT blocks included."""
        return sum(count * times for _, _, count, times, _ in self.engine.profile())

    def trace(self, on: bool, addresses: Iterable[int] = ()) -> None:
        """Record loads and stores outside memory; only in the pages (4 KiB) of these addresses, if any are given."""
        pages = sorted({address // PAGE for address in addresses})
        self.engine.trace(on, b"".join(page.to_bytes(4, "little") for page in pages))

    def take_trace(self) -> bytes:
        """Records `<QIIIBB2x`: cycle, pc, address, value, width, kind; and forget them.

        Kinds: 0 load, 1 store, 4 exception entry, 5 exception exit (value: its number, address: the frame).
        """
        return self.engine.take_trace()

    @property
    def on_trace(self) -> Callable[[], None] | None:
        """Called when about a MiB of records waits to be taken."""
        return self.engine.on_trace

    @on_trace.setter
    def on_trace(self, callback: Callable[[], None] | None) -> None:
        self.engine.on_trace = callback

    @property
    def on_watch(self) -> Callable[..., None] | None:
        """Called as (address, cycle, sp, lr, r0, r1, r2, r3, r7, r11) before a watched block begins."""
        return self.engine.on_watch

    @on_watch.setter
    def on_watch(self, callback: Callable[..., None] | None) -> None:
        self.engine.on_watch = callback

    def watch(self, address: int) -> None:
        """Watch an address where a block starts: the entry of a function, or where a call returns to."""
        self.engine.watch(address)

    def unwatch(self) -> None:
        """Watch nothing any more."""
        self.engine.unwatch()

    def save(self) -> Any:
        """Registers, exceptions, caches, cycles; not memory. For this core only."""
        return self.engine.save()

    def load(self, state: Any) -> None:
        """Take back what `save` gave."""
        self.engine.load(state)

    # -- timing of blocks ----------------------------------------------------------------------
    def _describe(self, address: int, size: int) -> tuple[Any, ...]:
        """Called by the engine once per block; the answer's layout is in native/blocks.h."""
        code = self.read_memory(address, size)
        registers = {f"r{n}": self.engine.read_register(n) for n in range(13)}
        registers["lr"] = self.engine.read_register(NUMBER["lr"])
        timing = self.describe(self.model, code, address, registers)
        flags, before_fp = self._flags(code, timing)
        checks = alignment_checks(self.model, code, [halfword for halfword, _ in timing.offsets])
        offsets = bytearray(size & ~1)
        for halfword, cycles in timing.offsets:
            struct.pack_into("<H", offsets, 2 * halfword, cycles)
        points = [(cycles, 0, line) for at, cycles in timing.lines if (line := self._flash_line(at)) is not None]
        points += [(cycles, 1, line) for at, cycles in timing.literals if (line := self._flash_line(at)) is not None]
        packed = b"".join(POINT.pack(line, cycles, data) for cycles, data, line in sorted(points))
        return (
            timing.cost, timing.taken, timing.fall_through, timing.entry_extra, timing.instructions,
            timing.unknown_loads, flags, before_fp, bytes(offsets), packed, checks,
        )  # fmt: skip

    def _flash_line(self, address: int) -> int | None:
        """The flash line of an address, aliases resolved; None when it is no flash."""
        for memory in self._memories:
            if memory.flash and memory.base <= address < memory.base + memory.size:
                original = next(m for m in self._memories if m.host <= memory.host < m.host + m.size)
                return (original.base + memory.host - original.host + address - memory.base) & ~15
        return None

    @staticmethod
    def _flags(code: bytes, timing: BlockTiming) -> tuple[int, int]:
        """The engine's flags of a block, and how many instructions come before its first floating-point one."""
        flags, before_fp = 0, 0
        flags |= SELF_LOOP * timing.self_loop | IT_LOADS * bool(timing.it_loads) | UNKNOWN * bool(timing.unknown_loads)
        governed = 0
        for index, (halfword, _) in enumerate(timing.offsets):
            word = int.from_bytes(code[2 * halfword : 2 * halfword + 4], "little")
            first, second = word & 0xFFFF, word >> 16
            governed = max(0, governed - 1)
            if first & 0xFF00 == 0xBF00 and first & 0xF:
                governed = 4 - ((first & 0xF & -(first & 0xF)).bit_length() - 1) + 1
            elif first == 0xBF40:
                flags |= SEV
            elif first & 0xEC00 == 0xEC00 and second >> 8 & 0xE == 0xA and not flags & FP:
                flags, before_fp = flags | FP, index
        return flags | (IT_OPEN if governed > 1 else 0), before_fp
