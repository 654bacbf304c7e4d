"""Options that several commands share, gathered into one small object each, and how their values are read."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from cryplab import show
from cryplab.errors import UsageError

if TYPE_CHECKING:
    from cryplab.board import Board
    from cryplab.observe.findings import Finding

__all__ = [
    "BUILDS", "DEFAULT_BOARD", "LIBRARIES", "STOPPED", "ClockMode", "Decorator", "InTime", "Network", "OfLibrary",
    "OnBoard", "Output", "address", "builds_option", "gathered", "impair_option", "in_time", "jobs_option",
    "of_library", "of_library_and_math", "on_board", "on_board_or", "on_network", "output", "seed_option",
    "virtual_time", "write_sarif",
]  # fmt: skip

ClockMode = Literal["fast", "exact"]
Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
DEFAULT_BOARD = "ublox-c030-u201"
BUILDS = ("software", "hardware", "hal-style", "faulty")
LIBRARIES = ("mbedtls", "wolfssl")
MATHS = ("heap", "fast", "sp")
LONGEST_SECONDS = 1e9
STOPPED = 128 + signal.SIGINT
"Exit code after Ctrl-C."


# -- values ----------------------------------------------------------------------------------------
def virtual_time(_ctx: click.Context, _param: click.Parameter, value: str | None) -> float | None:
    """Seconds, from `10`, `10s`, `500ms`, `2min`."""
    if value is None:
        return None
    for unit, factor in (("ms", 1e-3), ("us", 1e-6), ("min", 60.0), ("s", 1.0), ("", 1.0)):
        if value.endswith(unit):
            try:
                seconds = float(value[: len(value) - len(unit)]) * factor
            except ValueError:
                break
            if 0 < seconds < LONGEST_SECONDS:
                return seconds
            raise click.BadParameter(f"'{value}': expected more than 0 and less than {LONGEST_SECONDS:g} s")
    raise click.BadParameter(f"'{value}' is no time; expected 10s, 500ms or 2min")


def address(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """A number, from `0x08000000` or `134217728`."""
    if value is None:
        return None
    try:
        return int(value, 0)
    except ValueError:
        raise click.BadParameter(f"'{value}' is no number; expected 0x08000000 or 134217728") from None


def _date(_ctx: click.Context, _param: click.Parameter, value: str | None) -> datetime | None:
    if value is None:
        return None
    try:
        date = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        raise click.BadParameter(f"'{value}' is no date; expected 2026-01-31 or 2026-01-31T12:00:00Z") from None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _impairment(_ctx: click.Context, _param: click.Parameter, value: str) -> dict[str, float]:
    from cryplab.net import parse_impairment

    return parse_impairment(value)


def _names(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    from cryplab.net import parse_name

    return dict(map(parse_name, values))


# -- gathering -------------------------------------------------------------------------------------
def gathered(name: str, kind: type[Any], *options: Decorator) -> Decorator:
    """Adds options to a command, which gets them as one object.

    Args:
        name: the command's parameter.
        kind: a dataclass whose fields have the names of the options' values; one that the command
            has no option for keeps the field's default.
        options: what `click.option` gives, in the order of `--help`.
    """
    names = [field.name for field in fields(kind)]

    def add(command: Command) -> Command:
        @functools.wraps(command)
        def gathering(*args: Any, **values: Any) -> Any:
            values[name] = kind(**{one: values.pop(one) for one in names if one in values})
            return command(*args, **values)

        return _with(gathering, *options)

    return add


def _with(command: Command, *options: Decorator) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


# -- groups ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Output:
    """`--json -q -v`."""

    as_json: bool
    quiet: bool
    verbose: bool

    def emit(self, thing: show.Showable) -> None:
        """One JSON document, or the text form."""
        show.emit(thing, self.as_json)


output = gathered(
    "out",
    Output,
    click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output, nothing else."),
    click.option("-q", "--quiet", is_flag=True, help="Less: only results and what is wrong."),
    click.option("-v", "--verbose", is_flag=True, help="More: whole lists, who called, how fast."),
    click.option("--debug", is_flag=True, expose_value=False, help="Show a traceback on errors."),
)


@dataclass(frozen=True)
class OnBoard:
    """`--board`, or `--chip` with `--hse` and `--console`."""

    board: str | None
    chip: str | None
    hse: str | None
    console_name: str | None

    def find(self, default: str = DEFAULT_BOARD) -> Board:
        """The board. Raises: UsageError when options contradict each other, BoardError when there is none such."""
        from cryplab import board as boards

        if self.board and self.chip:
            raise UsageError("give --board or --chip, not both")
        if self.chip:
            return boards.bare(self.chip, hse=self.hse or 0, console=self.console_name or "")
        if self.hse or self.console_name:
            raise UsageError("--hse and --console go with --chip; a board has its own")
        return boards.find(self.board or default)


def on_board_or(default: str) -> Decorator:
    """`--board`, or `--chip` with `--hse` and `--console`; `default` is what the command passes to `OnBoard.find`."""
    return gathered(
        "on",
        OnBoard,
        click.option("--board", metavar="B", help=f"A board's name, or a TOML board file.  [default: {default}]"),
        click.option("--chip", metavar="C", help="Instead of a board: the bare chip."),
        click.option("--hse", metavar="F", help="With --chip: the crystal, such as 8MHz."),
        click.option("--console", "console_name", metavar="U", help="With --chip: the console, such as USART3."),
    )


on_board = on_board_or(DEFAULT_BOARD)


@dataclass(frozen=True)
class InTime:
    """`--clock --seed --date`."""

    clock: ClockMode
    seed: int
    date: datetime | None


def in_time(default_clock: ClockMode) -> Decorator:
    """`--clock --seed --date`."""
    return gathered(
        "when",
        InTime,
        click.option("--clock", type=click.Choice(["exact", "fast"]), default=default_clock, show_default=True),
        click.option("--seed", type=int, default=0, show_default=True, help="Of the RNG and all random choices."),
        click.option("--date", callback=_date, metavar="ISO", help="What the guest's clock starts at."),
    )


@dataclass(frozen=True)
class OfLibrary:
    """`--library --source`, and `--math` of commands that have it too."""

    library: str
    source: Path | None
    math: str = ""


LIBRARY_OPTIONS = (
    click.option("--library", type=click.Choice(LIBRARIES), default="mbedtls", show_default=True),
    click.option("--source", type=click.Path(path_type=Path), help="Library sources from this folder."),
)
of_library = gathered("of", OfLibrary, *LIBRARY_OPTIONS)
of_library_and_math = gathered(
    "of",
    OfLibrary,
    *LIBRARY_OPTIONS,
    click.option(
        "--math",
        type=click.Choice(MATHS),
        callback=lambda _ctx, _param, value: value or "",
        help="Big integers of wolfssl [those of the published rows].",
    ),
)


impair_option = click.option(
    "--impair",
    callback=_impairment,
    default="",
    metavar="loss=P,...",
    help="The wire loses frames with probability P; also duplicate=P, reorder=P.",
)


@dataclass(frozen=True)
class Network:
    """`--net --allow --name --impair --pcap --peer --peer-board`."""

    net: str | None
    allow: tuple[str, ...]
    names: dict[str, str]
    impair: dict[str, float]
    pcap: Path | None
    peer: Path | None
    peer_board: str | None


on_network = gathered(
    "network",
    Network,
    click.option("--net", metavar="user|hub|tap:NAME", help="At the Ethernet port: our NAT, a board, a TAP device."),
    click.option(
        "--allow", multiple=True, metavar="HOST:PORT", help="The guest may reach this; localhost is its 10.0.2.2."
    ),
    click.option(
        "--name",
        "names",
        multiple=True,
        callback=_names,
        metavar="HOST=ADDRESS",
        help="What the guest is told when it asks for HOST: localhost, an address, another name.",
    ),
    impair_option,
    click.option("--pcap", type=click.Path(path_type=Path), metavar="FILE", help="Every frame, for Wireshark."),
    click.option("--peer", type=click.Path(path_type=Path), metavar="FIRMWARE", help="With --net hub: the other's."),
    click.option("--peer-board", metavar="B", help="With --net hub: the other board.  [default: the same]"),
)


# -- single options --------------------------------------------------------------------------------
builds_option = click.option(
    "--build", "builds", multiple=True, type=click.Choice(BUILDS), help="Builds to run [software, hardware]."
)
jobs_option = click.option("-j", "jobs", type=int, default=2, show_default=True, help="Builds run side by side.")


def seed_option(text: str) -> Decorator:
    """`--seed` alone; `text` says of what."""
    return click.option("--seed", type=int, default=0, show_default=True, help=text)


def write_sarif(path: Path | None, findings: Iterable[Finding]) -> None:
    """Findings as SARIF, when the option asks for it."""
    if path:
        from cryplab.observe import sarif

        sarif.write_sarif(path, findings)
