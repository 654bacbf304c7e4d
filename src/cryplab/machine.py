"""The machine: a board that runs. Chip and bus from data, a core, loaded firmware, and what it tells.

machine = Machine("ublox-c030-u201")
machine.load("firmware.elf")
outcome = machine.run(until="done", seconds=10)
print(machine.console.text, outcome.reason, machine.clock.seconds())
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cryplab import board as boards
from cryplab.bench_memory import BENCH_BASE, BENCH_SIZE, TRAP, BenchMemory
from cryplab.board import Board
from cryplab.calls import call
from cryplab.consoles import Console, Rtt, Semihosting
from cryplab.errors import FirmwareError, UsageError
from cryplab.forcing import force, stub
from cryplab.hardware import Hardware
from cryplab.loader import Image, check_fits, load_all
from cryplab.network import Network
from cryplab.reports import Reports
from cryplab.running import FINISHED_SYMBOL, Outcome, running
from cryplab.snapshots import Snapshot, put_back, take
from cryplab.symbols import Symbol

if TYPE_CHECKING:
    from cryplab.net.wire import Wire
    from cryplab.observe.api import Function
    from cryplab.observe.observer import Observer
    from cryplab.observe.taps import Taps

__all__ = ["BENCH_BASE", "BENCH_SIZE", "DEFAULT_DATE", "Machine", "Outcome", "Snapshot"]

ClockMode = Literal["fast", "exact"]
DEFAULT_DATE = datetime(2026, 1, 1, tzinfo=UTC)


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
        self.reports = Reports(strict=strict)
        self.hardware = Hardware(
            self.board,
            self.reports,
            exact=clock == "exact",
            native_registers=native_registers,
            seed=seed,
            date=self.date,
        )
        self.core, self.clock = self.hardware.core, self.hardware.clock
        self.bus, self.blocks = self.hardware.bus, self.hardware.blocks
        self.console = Console()
        self.rtt = Rtt(self.console)
        self.semihosting = Semihosting(self.read_memory, self.write_memory, self.console, self.clock.seconds)
        self._listen()
        self.image: Image | None = None
        self.observer: Observer | None = None
        "Set by `observe`."
        self.taps: Taps | None = None
        "Hands the trace to several listeners; made by the first."
        self.bench_memory = BenchMemory(self.write_memory)
        self.at_entry: dict[int, Callable[[], int | None]] = {}
        "Breakpoints of the bench at functions' entries: address -> what is done there; a number is the new r0."
        self.stubs: dict[int, int] = {}
        "Functions that return a value at once: address -> value (see `stub`)."
        self.stop_reason = ""
        "Why somebody asked the core to stop; empty: nobody did."
        self.calls_made = self.calls_open = 0
        self.at_pause: Callable[[], None] = lambda: None
        "Runs when a call was stopped by `core.stop` and nobody gave a reason; it may make calls of its own."
        self.access_hooks: dict[str, Callable[[], None]] = {}
        "By reason: called after each access to the crypto blocks, see `inject`."
        self.network = Network(self)
        "The Ethernet port and its wire."
        if net is not None:
            self.connect(net, allow)

    def _listen(self) -> None:
        """What the board's console and the core's ITM send is the machine's console."""
        self.hardware.private.itm_output = lambda data: self.console.put(data, self.clock.now)
        if self.board.console:
            uart: Any = self.blocks[self.board.console]
            uart.transmit = lambda byte: self.console.put(bytes((byte,)), self.clock.now)

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

    def system_reset(self) -> None:
        """The guest asked for a reset: memories, backup domain and reset flags stay."""
        for block in self.blocks.values():
            block.system_reset()
        if self.observer:
            self.observer.load(None)
        self.hardware.rcc.note_reset("SFTRSTF")
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
        self.stop_reason = "stopped"
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
        return running(self, until, seconds, on_progress)

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
        return self.bench_memory.allocate(data, align)

    def free_all(self) -> None:
        """Give back all bench memory."""
        self.bench_memory.used = 0

    def call(self, function: str | int, *args: int | bytes | bytearray, seconds: float = 60.0) -> int:
        """Call a firmware function by the AAPCS and return r0.

        Args:
            function: symbol name or address.
            args: integers and pointers as int; bytes are put into bench memory and passed as pointer.
            seconds: virtual time after which LimitReached is raised.
        Raises: GuestCrash with a report, LimitReached, FirmwareError for an unknown symbol.
        """
        return call(self, function, args, seconds)

    # -- snapshots -----------------------------------------------------------------------------
    def snapshot(self) -> Snapshot:
        """The whole state: memories, registers, blocks, events, time. Reports are not part of it."""
        return take(self)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this machine."""
        put_back(self, snapshot)

    # -- forcing -------------------------------------------------------------------------------
    def force(self, settings: Iterable[str]) -> None:
        """`--set`: make bits of a block read as wanted, `BLOCK.REG.FIELD=VALUE`."""
        for text in settings:
            force(self, text)

    def stub(self, settings: Iterable[str]) -> None:
        """`--stub`: a function returns a value at once, `SYMBOL=VALUE`."""
        for text in settings:
            stub(self, text)
