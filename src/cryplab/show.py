"""Printing: tables that fit a terminal, plain text in a pipe, JSON, progress on standard error."""

from __future__ import annotations

import json
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import click
from rich.console import Console, RenderableType
from rich.table import Table

from cryplab.errors import BoardError, nearest

if TYPE_CHECKING:  # chips take long to import, and `--help` needs none
    from cryplab.board import Board
    from cryplab.chip import At, Chip
    from cryplab.registers import Block

__all__ = [
    "Showable", "StatusLine", "all_boards", "emit", "hanging", "nothing", "one_board", "plain_table", "printed",
    "progress", "registers", "width", "write", "write_raw",
]  # fmt: skip

PIPE_WIDTH = 200
"In a pipe tables take the width that they need: a row is a line."


class Showable(Protocol):
    """What `emit` prints."""

    def to_json(self) -> Any:
        """The JSON document."""

    def render(self) -> Sequence[RenderableType]:
        """What a person reads."""


@dataclass(frozen=True)
class Page:
    """A Showable made of its two forms."""

    document: Any
    parts: list[RenderableType]

    def to_json(self) -> Any:
        """The JSON document."""
        return self.document

    def render(self) -> list[RenderableType]:
        """What a person reads."""
        return self.parts


def _console() -> Console:
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)


def width() -> int:
    """Columns that a line may have."""
    return _console().width


def write(*parts: RenderableType) -> None:
    """Print for a person; in a pipe without colours and without blanks at line ends."""
    console = _console()
    with console.capture() as captured:
        for part in parts:
            console.print(part, markup=False) if isinstance(part, str) else console.print(part)
    text = captured.get()
    if not console.is_terminal:
        text = "\n".join(line.rstrip() for line in text.split("\n"))
    sys.stdout.write(text)
    sys.stdout.flush()


def write_raw(data: bytes) -> None:
    """Guest output, as it comes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def emit(thing: Showable, as_json: bool) -> None:
    """One JSON document, or the text form."""
    if as_json:
        click.echo(json.dumps(thing.to_json(), indent=2))
    else:
        write(*thing.render())


def plain_table(*columns: str, right: tuple[str, ...] = (), title: str | None = None) -> Table:
    """A table without boxes: readable in a terminal, a pipe and a log."""
    table = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), title=title, title_justify="left", header_style="bold"
    )
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def printed(consoles: dict[str, str], wanted: bool) -> None:
    """What each build printed, if it is wanted."""
    for build, text in consoles.items() if wanted else ():
        write("", f"{build} build printed:", text.rstrip("\n"))


def hanging(text: str, indent: int = 2) -> str:
    """A paragraph, indented, with the lines after the first further in; words are not broken."""
    first = " " * indent
    return textwrap.fill(
        text, width(), initial_indent=first, subsequent_indent=2 * first, break_long_words=False, break_on_hyphens=False
    )


# -- progress --------------------------------------------------------------------------------------
@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield `tick(text)`: a spinner on a terminal after it is first called, silence elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    with bar:
        task = bar.add_task("")
        yield lambda text: bar.update(task, description=text)


class StatusLine:
    """Virtual time below what a guest prints, on a terminal, once a run has taken two seconds.

    It is shown only while the guest is at the start of a line, and wiped before the guest goes on.
    """

    PATIENCE_SECONDS = 2.0
    WIPE = "\r\x1b[K"

    def __init__(self, quiet: bool) -> None:
        self.on = not quiet and sys.stderr.isatty()
        self.shown, self.line_is_empty = False, True
        self.started = time.monotonic()

    def tick(self, seconds: float) -> None:
        """Show the virtual time."""
        if self.on and self.line_is_empty and time.monotonic() - self.started > self.PATIENCE_SECONDS:
            self.shown = True
            sys.stderr.write(f"{self.WIPE}virtual time {seconds:.2f} s")
            sys.stderr.flush()

    def echo(self, data: bytes) -> None:
        """What the guest prints."""
        self.wipe()
        self.line_is_empty = data.endswith(b"\n")
        write_raw(data)

    def wipe(self) -> None:
        """Leave no trace."""
        if self.shown:
            self.shown = False
            sys.stderr.write(self.WIPE)
            sys.stderr.flush()


def nothing() -> Any:
    """A context manager that does nothing."""
    return nullcontext()


# -- boards ----------------------------------------------------------------------------------------
def _mhz(hz: int) -> str:
    if not hz:
        return "-"
    return f"{hz / 1e6:g} MHz" if hz >= 1_000_000 else f"{hz / 1e3:g} kHz"


CRYPTO = ("CRYP", "HASH", "RNG", "AES", "SAES", "PKA")


def _crypto(chip: Chip) -> list[str]:
    return [name for name in CRYPTO if chip.has(name)]


def all_boards() -> Page:
    """Every board and chip that comes with cryplab."""
    from cryplab import board as boards
    from cryplab import chips

    table = plain_table("board", "chip", "core", "HSE", "console", "crypto")
    rows = []
    for name in boards.names():
        board = boards.find(name)
        crypto = _crypto(board.chip)
        table.add_row(
            name, board.chip.name, board.chip.core, _mhz(board.hse_hz), board.console, " ".join(crypto) or "-"
        )
        rows.append({"name": name, "title": board.title, "chip": board.chip.name, "core": board.chip.core,
                     "hse_hz": board.hse_hz, "console": board.console, "crypto": crypto})  # fmt: skip
    chip_names = chips.names()
    parts: list[RenderableType] = [
        table,
        "",
        "chips (for --chip): " + ", ".join(chip_names),
        "a board of your own: --board FILE.toml (chip, hse, console; see `cryplab boards NAME`)",
    ]
    return Page({"boards": rows, "chips": chip_names}, parts)


def _ranges(numbers: list[int]) -> str:
    """`1-3, 6-10, 23`."""
    runs: list[list[int]] = []
    for n in sorted(set(numbers)):
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _state(at: At) -> str:
    unmodelled = [f for reg in at.block.registers.values() for f in reg.fields if not f.modelled]
    return "partly" if unmodelled else "modelled"


def one_board(board: Board, verbose: bool = False) -> Page:
    """Core, clocks, memories, blocks and algorithms of one board; `verbose`: addresses of what is not modelled."""
    from cryplab.chip import Flash

    chip = board.chip
    memory = plain_table("memory", "address", "KiB", "DMA", right=("KiB",))
    memories = []
    for m in chip.memory:
        dma = "-" if isinstance(m, Flash) else ("yes" if m.dma else "no")
        memory.add_row(m.name, f"{m.base:#010x}..{m.end - 1:#010x}", str(m.size // 1024), dma)
        memories.append({"name": m.name, "base": m.base, "size": m.size, "dma": dma == "yes"})
    table = plain_table("block", "address", "version", "clock", "irq", "state", right=("irq",))
    blocks: list[dict[str, Any]] = []
    for at in sorted(chip.modelled, key=lambda a: a.base):
        irqs = _ranges(list(at.irqs.values()))
        gate = at.clock.removeprefix("RCC.") or "-"
        table.add_row(at.name, f"{at.base:#010x}", at.block.__name__, gate, irqs, _state(at))
        blocks.append({"name": at.name, "base": at.base, "version": at.block.__name__, "clock": at.clock,
                       "irqs": at.irqs, "state": _state(at)})  # fmt: skip
    absent = [p.name for p in chip.not_modelled]
    if verbose:
        for known in sorted(chip.not_modelled, key=lambda p: p.base):
            table.add_row(known.name, f"{known.base:#010x}", "-", "-", "", "not modelled")
    algorithms = {
        name: list(getattr(at.block, "algorithms", ()))
        for name in _crypto(chip)
        for at in chip.modelled
        if at.name == name
    }
    head = plain_table("", "")
    head.show_header = False
    head.add_row("board", f"{board.name}: {board.title}")
    head.add_row("chip", f"{chip.name}, {chip.core}, up to {_mhz(chip.core_max_hz)} ({chip.manual})")
    head.add_row("clocks", f"HSE {_mhz(board.hse_hz)}, LSE {_mhz(board.lse_hz)}")
    head.add_row("console", board.console or "-")
    if board.sram_kib:
        head.add_row("SRAM", f"{board.sram_kib} KiB beside the chip, at {board.sram_base:#010x}")
    for name, what in algorithms.items():
        head.add_row(name, ", ".join(what) or "-")
    if board.note:
        head.add_row("note", board.note)
    rest = "not modelled (accesses are reported, words remembered): " + ", ".join(absent)
    parts: list[RenderableType] = [head, "", memory, "", table, "", rest]
    document = {
        "name": board.name, "title": board.title, "chip": chip.name, "core": chip.core, "manual": chip.manual,
        "core_max_hz": chip.core_max_hz, "hse_hz": board.hse_hz, "lse_hz": board.lse_hz, "console": board.console,
        "sram_base": board.sram_base, "sram_kib": board.sram_kib,
        "memories": memories, "blocks": blocks, "not_modelled": absent, "algorithms": algorithms,
    }  # fmt: skip
    return Page(document, parts)


# -- registers -------------------------------------------------------------------------------------
def _block_class(chip: Chip, name: str) -> tuple[str, type[Block]]:
    from cryplab.cpu.private import PRIVATE_BLOCKS

    known: dict[str, type[Block]] = {at.name: at.block for at in chip.modelled}
    known |= PRIVATE_BLOCKS
    for key, block in known.items():
        if name.lower() in (key.lower(), block.__name__.lower()):
            return key, block
    raise BoardError(
        f"{chip.name} has no modelled block '{name}'{nearest(name, known) or '.'} It has {', '.join(known)}"
    )


def registers(chip: Chip, path: str) -> Page:
    """The register table of `BLOCK` or `BLOCK.REG`."""
    block_name, _, reg_name = path.partition(".")
    name, block = _block_class(chip, block_name)
    wanted = reg_name.upper() or None
    lines: list[RenderableType] = [f"{name} ({block.__name__}): {_first_line(block)}"]
    rows = []
    table: Table | None = None
    for offset, register, reg, field in block.rows(wanted):
        if field is None:
            lines.append("")
            lines.append(
                f"{register}  offset {offset:#05x}  reset {reg.reset_value:#010x}  {_first_line(reg)}".rstrip()
            )
            table = plain_table("bits", "field", "access", "meaning")
            if reg.fields:
                lines.append(table)
            rows.append({"register": register, "offset": offset, "reset": reg.reset_value, "text": _first_line(reg),
                         "fields": []})  # fmt: skip
            continue
        text = field.text
        if field.values:
            text += ": " + ", ".join(f"{value} {meaning}" for value, meaning in field.values.items())
        if not field.modelled:
            text += " (not modelled)"
        assert table is not None
        table.add_row(field.span, field.name, field.access, text)
        fields: Any = rows[-1]["fields"]
        fields.append({"name": field.name, "hi": field.hi, "lo": field.lo, "access": field.access,
                       "text": field.text, "values": field.values, "modelled": field.modelled})  # fmt: skip
    if not rows and reg_name:
        names = [place.name for place in block.places.values()]
        raise BoardError(
            f"{name} has no register '{reg_name}'{nearest(reg_name, names) or '.'} It has {', '.join(names) or 'none'}"
        )
    return Page({"block": name, "version": block.__name__, "registers": rows}, lines)


def _first_line(thing: type) -> str:
    return (thing.__doc__ or "").strip().partition("\n")[0]
