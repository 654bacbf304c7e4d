"""The machine: a board that runs. Chip and bus from data, a core, loaded firmware, and what it tells.

machine = Machine("ublox-c030-u201")
machine.load("firmware.elf")
outcome = machine.run(until="done", seconds=10)
print(machine.console.text, outcome.reason, machine.clock.seconds())
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cryplab import board as boards
from cryplab.blocks import wiring_f4
from cryplab.blocks.eth_v1 import EthV1
from cryplab.blocks.phy import make_phy
from cryplab.board import Board
from cryplab.bus import Bus, Remembered, Slot
from cryplab.chip import Flash, Ram
from cryplab.clock import Clock
from cryplab.consoles import Console, Rtt, Semihosting, SemihostRequest
from cryplab.cpu.cortex_m import CortexM, Stop
from cryplab.cpu.private import Private
from cryplab.errors import FirmwareError, UsageError
from cryplab.loader import Image, check_fits, load_all
from cryplab.network import Network
from cryplab.registers import Block
from cryplab.reports import Location, NotModelled, Reports
from cryplab.symbols import Symbol

if TYPE_CHECKING:
    from cryplab.net.wire import Wire
    from cryplab.observe.api import Function
    from cryplab.observe.observer import Observer
    from cryplab.observe.taps import Taps

__all__ = ["BENCH_BASE", "BENCH_SIZE", "DEFAULT_DATE", "Machine", "Outcome", "Snapshot"]

ClockMode = Literal["fast", "exact"]
DEFAULT_DATE = datetime(2026, 1, 1, tzinfo=UTC)
PAGE = 0x1000
IO_WINDOWS = ((0x4000_0000, 0x4008_0000), (0x5000_0000, 0x5006_1000))
"Where accesses go to the bus even if nothing lives there: first address, first behind."
PRIVATE_PERIPHERALS = 0xE000_0000
BENCH_BASE, BENCH_SIZE = 0x2010_0000, 0x0008_0000
"Memory of the bench, not of the chip: stack and arguments of `call`; masters reach it."
RTT_POLL_SECONDS = 0.001
SLICE_SECONDS = 0.25
"A run comes back to Python so often, for progress."
AFTER_FAULT_SECONDS = 0.05
"A guest that faulted goes on for so long, so that its own handler can print."
CALL_STACK_BYTES = 0x1_0000
TRAP = BENCH_BASE
"Where a called function returns to."
BKPT_SEMIHOSTING = 0xAB
FINISHED_SYMBOL, EXIT_CODE_SYMBOL = "cryplab_stopped", "cryplab_exit_code"
MAX_RESETS = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    `reason`: "finished" (the guest said so), "until" (text seen), "idle" (asleep with nothing to come),
    "time" (virtual time used up), "stopped" (by the user), "fault", "lockup", "reset".
    `code`: the guest's exit code when it gave one. `exit_code`: what the command line returns.
    """

    reason: str
    code: int | None = None
    text: str = ""
    crash: str = ""

    @property
    def exit_code(self) -> int:
        """0 done, 1 the guest reported failure, 4 crashed."""
        if self.reason in ("fault", "lockup", "reset"):
            return 4
        return 1 if self.code else 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A machine's whole state; `Machine.restore` takes it back as often as wanted."""

    memories: tuple[bytes, ...]
    blocks: tuple[Any, ...]
    slots: tuple[tuple[bool, bool], ...]
    bridges: tuple[int, ...]
    clock: Any
    core: Any
    console: Any
    arena: int
    observer: Any = None


class Machine:
    """A board that runs.

    Args:
        board: a board's name, the path of a TOML board file, or a `Board`.
        seed: of the random number generator and every random choice.
        clock: "fast" (loads classed, flash data stalls learned) or "exact" (followed address by address).
        native_registers: let the core serve hot registers itself (`cryplab.served`); False asks the block each time.
        strict: the first guest error, unmapped or not modelled access raises StrictError.
        date: what the guest's clock starts at; default 2026-01-01T00:00:00Z.
        net: "user" (our NAT), "tap:NAME", a `net.Wire`, or None: nothing is plugged in, see `connect`.
        allow: with "user": destinations that the guest may reach, `HOST:PORT`; `localhost` is 10.0.2.2 for the guest.
    Raises: BoardError, ToolError (native extension missing).
    """

    def __init__(
        self,
        board: str | Path | Board,
        *,
        seed: int = 0,
        clock: ClockMode = "fast",
        strict: bool = False,
        native_registers: bool = True,
        date: datetime | None = None,
        net: str | Wire | None = None,
        allow: Iterable[str] = (),
    ) -> None:
        if clock not in ("fast", "exact"):
            raise UsageError(f"clock '{clock}': expected fast or exact")
        self.board = board if isinstance(board, Board) else boards.find(board)
        self.chip = self.board.chip
        self.seed, self.date = seed, date or DEFAULT_DATE
        self.clock_mode: ClockMode = clock
        self.native_registers = native_registers
        self.reports = Reports(strict=strict)
        self.core = CortexM(
            self.chip.core,
            interrupts=self.chip.interrupts,
            priority_bits=self.chip.priority_bits,
            exact=clock == "exact",
        )
        self.clock = Clock(source=self.core.source)
        self.core.on_deadline = self.clock.run_due
        self.reports.where = lambda: Location(self.core.pc, self.clock.now)
        self.bus = Bus(self.clock, self.reports)
        self.console = Console()
        self.blocks: dict[str, Block] = {}
        self.image: Image | None = None
        self.observer: Observer | None = None
        "Set by `observe`."
        self.taps: Taps | None = None
        "Hands the trace to several listeners; made by the first."
        self._rams: list[tuple[int, memoryview]] = []
        self._memories: list[memoryview] = []
        self._irq_sources: dict[int, dict[str, bool]] = {}
        self._irq_lines: list[tuple[int, Any]] = []
        self.stubs: dict[int, int] = {}
        "Functions that return a value at once: address -> value (see `stub`)."
        self._stop_reason = ""
        self._arena = 0
        self.calls_made = self.calls_open = 0
        self.at_pause: Callable[[], None] = lambda: None
        "Runs when a call was stopped by `core.stop` and nobody gave a reason; it may make calls of its own."
        self.access_hooks: dict[str, Callable[[], None]] = {}
        "By reason: called after each access to the crypto blocks, see `inject`."
        self._build_memory()
        self._build_blocks()
        self._wire()
        self.rtt = Rtt(self.console)
        self.semihosting = Semihosting(self.read_memory, self.write_memory, self.console, self.clock.seconds)
        self.network = Network(self)
        "The Ethernet port and its wire."
        if net is not None:
            self.connect(net, allow)

    # -- building ------------------------------------------------------------------------------
    def _build_memory(self) -> None:
        for memory in self.chip.memory:
            view = self.core.map_memory(memory.base, memory.size, "flash" if isinstance(memory, Flash) else "ram")
            self._memories.append(view)
            if isinstance(memory, Ram):
                self._rams.append((memory.base, view))
                self.bus.attach_memory(memory.base, view, dma=memory.dma)
            else:
                self.bus.attach_memory(memory.base, view.toreadonly())
                view[:] = b"\xff" * memory.size
        self.flash_view = self._memories[0]
        bench = self.core.map_memory(BENCH_BASE, BENCH_SIZE, kind="ram")
        self._memories.append(bench)
        self.bus.attach_memory(BENCH_BASE, bench)
        bench[0:2] = b"\x00\xbe"  # BKPT: a called function returns here
        flash = self.chip.flash
        self.core.map_alias(0, flash.base, flash.size)
        for first, end in self._io_windows():
            self.core.map_io(first, end - first)

    def _io_windows(self) -> list[tuple[int, int]]:
        """Whole pages for the peripherals, with holes where a memory lies among them (backup SRAM)."""
        windows = list(IO_WINDOWS)
        for thing in self.chip.peripherals:
            first, end = thing.base // PAGE * PAGE, -(-thing.end // PAGE) * PAGE
            if first < PRIVATE_PERIPHERALS and not any(lo <= first and end <= hi for lo, hi in windows):
                windows.append((first, end))
        for memory in self.chip.memory:
            holes = [(lo, hi) for lo, hi in windows if lo < memory.end and memory.base < hi]
            for lo, hi in holes:
                windows.remove((lo, hi))
                windows += [(a, b) for a, b in ((lo, memory.base), (memory.end, hi)) if a < b]
        return windows

    def _build_blocks(self) -> None:
        for at in self.chip.modelled:
            block = at.block(at.name, clock=self.clock, reports=self.reports, **at.options)
            self.blocks[at.name] = block
            slot = self.bus.attach(at.base, at.size, block, bus=at.bus, clock_bit=at.clock)
            self.bind(slot)
        for known in self.chip.not_modelled:
            remembered = Remembered(known.name, clock=self.clock, reports=self.reports)
            self.blocks[known.name] = remembered
            self.bus.attach(known.base, known.size, remembered, bus=known.bus)
        self.core.on_read, self.core.on_write = self.bus.read, self.bus.write
        self.private = Private(self.core, clock=self.clock, reports=self.reports)
        for base, size, block in self.private.slots():
            self.blocks[block.name] = block
            self.bind(self.bus.attach(base, size, block))
        self.private.itm_output = lambda data: self.console.put(data, self.clock.now)

    def bind(self, slot: Slot) -> None:
        """Let the core reach a block's registers directly."""
        for address, reader, writer in self.bus.bindings(slot):
            self.core.bind(address, reader, writer)
        if self.native_registers:
            for address, load, store, bridge in self.bus.served(slot):
                self.core.serve(address, load, store, bridge)

    def _wire(self) -> None:
        for at in self.chip.modelled:
            for line, number in at.irqs.items():
                self._wire_interrupt(getattr(self.blocks[at.name], line), number)
        for wire in self.chip.dma:
            owner, _, request = wire.request.partition(".")
            controller: Any = self.blocks[wire.controller]
            controller.connect(wire.stream, wire.channel, getattr(self.blocks[owner], request))
        for block in self.blocks.values():
            self._wire_block(block)
            if isinstance(block, EthV1) and self.board.phy:
                block.phy = make_phy(self.board.phy, self.board.phy_address)
                block.phy.interface = self.board.phy_interface
        rcc: Any = self.blocks["RCC"]
        rcc.hse_hz, rcc.lse_hz = self.board.hse_hz, self.board.lse_hz
        rcc.on_gate, rcc.on_reset_bit, rcc.on_clock = self._gate, self._reset_bit, self._clock_changed
        for at in self.chip.modelled:
            if at.clock:
                self._gate(at.clock, rcc.gate_open(at.clock))
        flash: Any = self.blocks["FLASH"]
        flash.memory = self.flash_view
        flash.on_access_control = self.core.set_flash
        flash.on_changed = self.core.flush
        self.bus.attach_flash(self.chip.flash.base, self.chip.flash.size, flash.program)
        syscfg: Any = self.blocks["SYSCFG"]
        syscfg.on_remap = self._remap
        wiring_f4.connect(self.blocks)
        self._clock_changed()
        if self.board.console:
            uart: Any = self.blocks[self.board.console]
            uart.transmit = lambda byte: self.console.put(bytes((byte,)), self.clock.now)

    def _wire_interrupt(self, line: Any, number: int) -> None:
        """Several lines may share one NVIC input: it is high while any of them is."""
        sources = self._irq_sources.setdefault(number, {})
        self._irq_lines.append((number, line))

        def follow(level: bool) -> None:
            sources[line.name] = level
            self.core.set_interrupt(number, any(sources.values()))

        line.connect(follow)

    def _wire_block(self, block: Block) -> None:
        rcc: Any = self.blocks["RCC"]
        block.frequency = rcc.frequency
        settings: dict[str, Any] = {"seed": self.seed, "date": self.date, "bus": self.bus}
        for name, value in settings.items():
            if hasattr(type(block), name) or name in vars(block):
                setattr(block, name, value)

    # -- what RCC switches ---------------------------------------------------------------------
    def _gate(self, path: str, is_open: bool) -> None:
        for slot in self.bus.slots:
            if slot.clock_bit == path:
                slot.open = is_open
                self._reachable(slot)

    def _reset_bit(self, path: str, active: bool) -> None:
        for at in self.chip.modelled:
            if at.reset == path:
                slot = self.bus.slot_of(at.name)
                slot.in_reset = active
                if active:
                    slot.block.reset()
                self._reachable(slot)

    def _reachable(self, slot: Slot) -> None:
        self.core.gate(slot.base, slot.size, open=slot.open and not slot.in_reset)

    def _remap(self, mode: int) -> None:
        """SYSCFG_MEMRMP: what address 0 shows. Only the main flash is modelled there."""
        if mode != 0:
            self.reports.not_modelled(
                NotModelled(
                    "SYSCFG", "SYSCFG.MEMRMP.MEM_MODE", f"set to {mode}; address 0 goes on showing the main flash"
                )
            )

    def _set_bridges(self) -> None:
        """Clock dividers of the APB bridges."""
        rcc: Any = self.blocks["RCC"]
        hclk = rcc.frequency("HCLK")
        for name, bridge in self.bus.bridges.items():
            bridge.divider = max(1, hclk // max(1, rcc.frequency(f"PCLK{name[-1]}")))

    def _clock_changed(self) -> None:
        rcc: Any = self.blocks["RCC"]
        hclk = rcc.frequency("HCLK")
        self.clock.set_hz(hclk)
        self._set_bridges()
        for block in self.blocks.values():
            block.clock_changed()

    # -- firmware ------------------------------------------------------------------------------
    def load(
        self,
        path: str | Path,
        *,
        also: Sequence[str | Path] = (),
        base: int | None = None,
        vectors: int | None = None,
    ) -> Image:
        """Load ELF, Intel HEX or BIN (`base`), and more images; then reset.

        Raises: FirmwareError when a file is unfit or does not fit the chip's memory.
        """
        image = load_all([path, *also], base)
        check_fits(image, self.chip.memory, self.chip.name)
        for segment in image.segments:
            self.write_memory(segment.address, segment.data)
        self.image = image
        self._vectors = vectors if vectors is not None else image.vectors
        self.reset()
        return image

    def reset(self) -> None:
        """Power-on reset; memories keep their contents."""
        if self.image is None:
            raise FirmwareError("no firmware is loaded")
        for block in self.blocks.values():
            block.reset()
        vectors = self._vectors if self._vectors is not None else self.chip.flash.base
        self.core.reset(vectors)
        if self.observer:
            self.observer.load(None)
        done = self.image.symbols.get(FINISHED_SYMBOL)
        if done:
            self.core.breakpoint(done.entry & ~1)
        self.core.breakpoint(TRAP)

    def _system_reset(self) -> None:
        """The guest asked for a reset: memories, backup domain and reset flags stay."""
        for block in self.blocks.values():
            block.system_reset()
        if self.observer:
            self.observer.load(None)
        rcc: Any = self.blocks["RCC"]
        rcc.note_reset("SFTRSTF")
        self.core.reset(self._vectors if self._vectors is not None else self.chip.flash.base)

    def symbol(self, name: str) -> Symbol:
        """A symbol of the firmware. Raises: FirmwareError naming the nearest."""
        if self.image is None:
            raise FirmwareError("no firmware is loaded")
        return self.image.symbols.find(name)

    # -- memory --------------------------------------------------------------------------------
    def read_memory(self, address: int, size: int) -> bytes:
        """Guest memory, as a debugger sees it. Raises: FirmwareError outside memory."""
        return self.core.read_memory(address, size)

    def write_memory(self, address: int, data: bytes | bytearray) -> None:
        """Write guest memory (flash too). Raises: FirmwareError outside memory."""
        self.core.write_memory(address, data)

    def read_word(self, address: int) -> int:
        """A 32-bit word of guest memory."""
        return int.from_bytes(self.read_memory(address, 4), "little")

    # -- network -------------------------------------------------------------------------------
    def connect(self, net: str | Wire, allow: Iterable[str] = ()) -> Wire:
        """Plug a wire into the Ethernet port: "user", "tap:NAME" or a `net.Wire`; returns the wire.

        Raises: UsageError for anything else, or when the board has no Ethernet; InputError for a TAP device.
        """
        return self.network.connect(net, allow)

    def disconnect(self) -> None:
        """Unplug the wire and end the capture; sockets and file are closed."""
        self.network.disconnect()

    def capture(self, path: str | Path) -> None:
        """Write every frame of the port to a pcap file from now on, with virtual time stamps from `date` on."""
        self.network.capture(path)

    # -- running -------------------------------------------------------------------------------
    def type_in(self, data: bytes) -> None:
        """Bytes arrive at the console's input."""
        self.semihosting.input += data
        if self.board.console:
            uart: Any = self.blocks[self.board.console]
            uart.receive(data)

    @property
    def input_can_wake(self) -> bool:
        """Whether a byte typed at the console would wake a guest that sleeps."""
        return bool(getattr(self.blocks.get(self.board.console), "can_wake", False))

    def stop(self) -> None:
        """Ask a run to end, from a callback."""
        self._stop_reason = "stopped"
        self.core.stop()

    def run(
        self,
        *,
        until: str | None = None,
        seconds: float = 60.0,
        on_progress: Callable[[float], None] | None = None,
    ) -> Outcome:
        """Run for so many virtual seconds at most, or until a text was printed, or the guest ends.

        `on_progress(virtual seconds)` is called now and then.
        """
        steps = self.running(until=until, seconds=seconds, on_progress=on_progress)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                outcome: Outcome = end.value
                return outcome

    def running(
        self,
        *,
        until: str | None = None,
        seconds: float = 60.0,
        on_progress: Callable[[float], None] | None = None,
    ) -> Generator[None, None, Outcome]:
        """The same as `run`, slice by slice: comes back after each, and ends with the outcome."""
        self._stop_reason = ""
        self.console.watch(until, self._until_seen)
        has_rtt = self.image is not None and self.image.symbols.get("_SEGGER_RTT") is not None
        end_seconds = self.clock.seconds() + seconds
        crash: str = ""
        fault_kind = ""
        resets = 0
        while True:
            left = end_seconds - self.clock.seconds()
            if left <= 0 or self._stop_reason == "until":
                break
            slice_seconds = min(left, RTT_POLL_SECONDS if has_rtt else SLICE_SECONDS, self.network.slice_seconds())
            stop = self.core.run(self.clock.now + max(1, self.clock.cycles_for(slice_seconds)))
            self._poll_rtt()
            if on_progress:
                on_progress(self.clock.seconds())
            if stop.reason == "cycle":
                self.network.exchange()
                yield
                continue
            if stop.reason == "host":
                if self._stop_reason:
                    break
                continue
            if stop.reason in ("bkpt", "breakpoint"):
                outcome = self._at_breakpoint(stop)
                if outcome:
                    return self._ended(outcome)
                continue
            if stop.reason == "fault":
                fault_kind, crash = "fault", crash or self.crash_report()
                end_seconds = min(end_seconds, self.clock.seconds() + AFTER_FAULT_SECONDS)
                continue
            if stop.reason == "lockup":
                return self._ended(Outcome("lockup", text="the core locked up", crash=crash or self.crash_report()))
            if stop.reason == "reset":
                resets += 1
                if crash or resets > MAX_RESETS:
                    break
                self._system_reset()
                continue
            if stop.reason == "idle":
                if not crash and self.network.wait_for_something():
                    continue
                if not crash:
                    return self._ended(Outcome("idle", text="asleep, with nothing that could wake it"))
                break
        if crash:
            return self._ended(Outcome(fault_kind, text="the guest faulted", crash=crash))
        reason = self._stop_reason or ("reset" if resets > MAX_RESETS else "time")
        return self._ended(Outcome(reason))

    def _until_seen(self) -> None:
        self._stop_reason = "until"
        self.core.stop()

    def _ended(self, outcome: Outcome) -> Outcome:
        self._poll_rtt()
        for block in self.blocks.values():
            block.finish()
        if self.observer:
            self.observer.finish(outcome.reason, self.core.pc)
        return outcome

    def _poll_rtt(self) -> None:
        """A probe polls from outside; events of the clock would keep a sleeping guest from being idle."""
        symbol = self.image.symbols.get("_SEGGER_RTT") if self.image else None
        if symbol and (self.rtt.at is not None or self.rtt.find(symbol.address, self._rams)):
            self.rtt.poll(self.clock.now)

    def _at_breakpoint(self, stop: Stop) -> Outcome | None:
        """Semihosting is served and the run goes on; the guest's own end finishes it."""
        pc = self.core.read_register("pc") & ~1
        if pc in self.stubs:
            self.core.write_register("r0", self.stubs[pc])
            self.core.write_register("pc", self.core.read_register("lr"))
            return None
        done = self.image.symbols.get(FINISHED_SYMBOL) if self.image else None
        if done and pc == done.entry & ~1:
            code_at = self.image.symbols.get(EXIT_CODE_SYMBOL) if self.image else None
            code = self.read_word(code_at.address) if code_at else 0
            return Outcome("finished", code=code)
        instruction = int.from_bytes(self.read_memory(pc, 2), "little")
        if instruction == 0xBE00 | BKPT_SEMIHOSTING:
            request = SemihostRequest(self.core.read_register("r0"), self.core.read_register("r1"))
            self.core.write_register("r0", self.semihosting.serve(request, self.clock.now))
            self.core.write_register("pc", pc + 2)
            if self.semihosting.exit_code is not None:
                code, self.semihosting.exit_code = self.semihosting.exit_code, None
                return Outcome("finished", code=code)
            return None
        if instruction & 0xFF00 == 0xBE00:
            return Outcome(
                "fault",
                text=f"BKPT #{instruction & 0xFF} with no debugger",
                crash=self.crash_report(f"BKPT #{instruction & 0xFF} at {self.where(pc)}, and no debugger is there"),
            )
        return Outcome("stopped", text=f"breakpoint at {self.where(pc)}")

    # -- watching ------------------------------------------------------------------------------
    def observe(self, *, deep: bool = False, functions: Iterable[Function] = ()) -> Observer:
        """Watch the firmware from now on by the rules O1 to O22; what they find is in `observer.findings`.

        `deep`: buffers have unique contents, so matches that would be doubtful are reported, too.
        `functions`: of an API of the firmware's own. Raises: UsageError before `load`.
        """
        from cryplab.observe.attach import observe

        return observe(self, deep=deep, functions=functions)

    # -- telling where -------------------------------------------------------------------------
    def where(self, address: int) -> str:
        """`0x08000114 (main+0x1c, main.c:12)`."""
        if self.image is None:
            return f"{address:#010x}"
        return self.image.describe(address)

    def crash_report(self, headline: str = "") -> str:
        """The first fault since reset in words: kind, source line, registers, call stack."""
        from cryplab.crash import describe_crash

        return describe_crash(self, headline)

    # -- calling a function --------------------------------------------------------------------
    def allocate(self, data: bytes | int, align: int = 8) -> int:
        """Bench memory for an argument: its bytes, or so many zero bytes. Returns the address.

        Freed by `free_all` or `restore`. Raises: UsageError when the bench memory is full.
        """
        size = data if isinstance(data, int) else len(data)
        start = (self._arena + 15 + align - 1) // align * align
        limit = BENCH_SIZE - CALL_STACK_BYTES
        if start + size > limit:
            raise UsageError(f"{size} bytes do not fit the bench memory: {limit - self._arena} of {limit} are free")
        self._arena = start + size
        address = BENCH_BASE + start
        self.write_memory(address, bytes(size) if isinstance(data, int) else data)
        return address

    def free_all(self) -> None:
        """Give back all bench memory."""
        self._arena = 0

    def call(self, function: str | int, *args: int | bytes | bytearray, seconds: float = 60.0) -> int:
        """Call a firmware function by the AAPCS and return r0.

        Args:
            function: symbol name or address.
            args: integers and pointers as int; bytes are put into bench memory and passed as pointer.
            seconds: virtual time after which LimitReached is raised.
        Raises: GuestCrash with a report, LimitReached, FirmwareError for an unknown symbol.
        """
        from cryplab.calls import call

        return call(self, function, args, seconds)

    # -- snapshots -----------------------------------------------------------------------------
    def snapshot(self) -> Snapshot:
        """The whole state: memories, registers, blocks, events, time. Reports are not part of it."""
        return Snapshot(
            memories=tuple(bytes(view) for view in self._memories),
            blocks=tuple(block.save() for block in self.blocks.values()),
            slots=tuple((slot.open, slot.in_reset) for slot in self.bus.slots),
            bridges=tuple(bridge.busy_until for bridge in self.bus.bridges.values()),
            clock=self.clock.save(),
            core=self.core.save(),
            console=self.console.save(),
            arena=self._arena,
            observer=self.observer.save() if self.observer else None,
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this machine."""
        if self.observer:
            self.observer.load(snapshot.observer)
        for view, data in zip(self._memories, snapshot.memories, strict=True):
            view[:] = data
        self.core.load(snapshot.core)
        self.clock.load(snapshot.clock)
        for block, state in zip(self.blocks.values(), snapshot.blocks, strict=True):
            block.load(state)
        for number, line in self._irq_lines:
            self._irq_sources[number][line.name] = line.level
        self._set_bridges()
        for bridge, busy in zip(self.bus.bridges.values(), snapshot.bridges, strict=True):
            bridge.busy_until = busy
        for slot, (is_open, in_reset) in zip(self.bus.slots, snapshot.slots, strict=True):
            if (slot.open, slot.in_reset) != (is_open, in_reset):
                slot.open, slot.in_reset = is_open, in_reset
                self._reachable(slot)
        self.console.load(snapshot.console)
        self._arena = snapshot.arena

    def force(self, settings: Iterable[str]) -> None:
        """`--set`: make bits of a block read as wanted, `BLOCK.REG.FIELD=VALUE`."""
        for text in settings:
            path, equals, value = text.partition("=")
            if not equals:
                raise UsageError(f"--set {text}: expected BLOCK.REG.FIELD=VALUE")
            try:
                number = int(value, 0)
            except ValueError:
                raise UsageError(f"--set {text}: '{value}' is no number") from None
            slot = self.bus.force(path, number)
            for offset in slot.forced:
                self.core.bind(slot.base + offset, None, None)

    def stub(self, settings: Iterable[str]) -> None:
        """`--stub`: a function returns a value at once, `SYMBOL=VALUE`."""
        from cryplab.calls import stub

        for text in settings:
            stub(self, text)
