"""The command line: parse, call, print. What a command does is one or two calls in Python."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from cryplab import board as boards
from cryplab import show
from cryplab.errors import CryplabError, GuestCrash, LimitReached, StrictError, UsageError
from cryplab.keyboard import Keyboard

if TYPE_CHECKING:
    from cryplab.machine import Machine, Outcome
    from cryplab.net import Hub

__all__ = ["cli", "main"]

ClockMode = Literal["fast", "exact"]
F = TypeVar("F", bound=Callable[..., Any])
DEFAULT_BOARD = "ublox-c030-u201"
BUILDS = ("software", "hardware", "hal-style", "faulty")
LIBRARIES = ("mbedtls", "wolfssl")
MATHS = ("heap", "fast", "sp")
LONGEST_SECONDS = 1e9
STOPPED = 128 + signal.SIGINT
"Exit code after Ctrl-C."
INTERNAL = 70
"Exit code of a fault in cryplab itself, as sysexits.h has it."
NO_READER = 128 + signal.SIGPIPE
"Exit code when what reads standard output has gone."


# -- shared options --------------------------------------------------------------------------------
def _seconds(_ctx: click.Context, _param: click.Parameter, value: str | None) -> float | None:
    """`10`, `10s`, `500ms`, `2min`."""
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


def _date(_ctx: click.Context, _param: click.Parameter, value: str | None) -> datetime | None:
    if value is None:
        return None
    try:
        date = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        raise click.BadParameter(f"'{value}' is no date; expected 2026-01-31 or 2026-01-31T12:00:00Z") from None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _number(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    try:
        return int(value, 0)
    except ValueError:
        raise click.BadParameter(f"'{value}' is no number; expected 0x08000000 or 134217728") from None


def _options(*options: Callable[[F], F]) -> Callable[[F], F]:
    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def common(function: F) -> F:
    """`--json -q -v --debug`."""
    return _options(
        click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output, nothing else."),
        click.option("-q", "--quiet", is_flag=True, help="Less: only results and what is wrong."),
        click.option("-v", "--verbose", is_flag=True, help="More: whole lists, who called, how fast."),
        click.option("--debug", is_flag=True, expose_value=False, help="Show a traceback on errors."),
    )(function)


def on_board(function: F) -> F:
    """`--board`, or `--chip` with `--hse` and `--console`."""
    return _options(
        click.option("--board", metavar="B", help=f"A board's name, or a TOML board file.  [default: {DEFAULT_BOARD}]"),
        click.option("--chip", metavar="C", help="Instead of a board: the bare chip."),
        click.option("--hse", metavar="F", help="With --chip: the crystal, such as 8MHz."),
        click.option("--console", "console_name", metavar="U", help="With --chip: the console, such as USART3."),
    )(function)


def in_time(default_clock: str) -> Callable[[F], F]:
    """`--clock --seed --date`."""
    return _options(
        click.option("--clock", type=click.Choice(["exact", "fast"]), default=default_clock, show_default=True),
        click.option("--seed", type=int, default=0, show_default=True, help="Of the RNG and all random choices."),
        click.option("--date", callback=_date, metavar="ISO", help="What the guest's clock starts at."),
    )


def of_library(function: F) -> F:
    """`--library --source`."""
    return _options(
        click.option("--library", type=click.Choice(LIBRARIES), default="mbedtls", show_default=True),
        click.option("--source", type=click.Path(path_type=Path), help="Library sources from this folder."),
    )(function)


def of_math(function: F) -> F:
    """`--math`."""
    text = "Big integers of wolfssl [those of the published rows]."
    return click.option("--math", type=click.Choice(MATHS), default=None, help=text)(function)


def on_network(function: F) -> F:
    """`--net --allow --pcap --peer --peer-board`."""
    return _options(
        click.option(
            "--net", metavar="user|hub|tap:NAME", help="At the Ethernet port: our NAT, a board, a TAP device."
        ),
        click.option(
            "--allow", multiple=True, metavar="HOST:PORT", help="The guest may reach this; localhost is its 10.0.2.2."
        ),
        click.option("--pcap", type=click.Path(path_type=Path), metavar="FILE", help="Every frame, for Wireshark."),
        click.option(
            "--peer", type=click.Path(path_type=Path), metavar="FIRMWARE", help="With --net hub: the other's."
        ),
        click.option("--peer-board", metavar="B", help="With --net hub: the other board.  [default: the same]"),
    )(function)


def _board(name: str | None, chip: str | None, hse: str | None, console: str | None, default: str) -> boards.Board:
    if name and chip:
        raise UsageError("give --board or --chip, not both")
    if chip:
        return boards.bare(chip, hse=hse or 0, console=console or "")
    if hse or console:
        raise UsageError("--hse and --console go with --chip; a board has its own")
    return boards.find(name or default)


class ReaderGone(Exception):
    """What reads standard output has gone; click would make exit code 1 of it, which means findings."""


class Commands(click.Group):
    """The group of commands."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            raise ReaderGone from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 90})
@click.version_option(package_name="cryplab")
def cli() -> None:
    """A virtual STM32 bench for hardware crypto."""


# -- boards, regs ----------------------------------------------------------------------------------
@cli.command("boards", short_help="Boards and chips, or all about one.")
@click.argument("name", required=False)
@common
def boards_command(name: str | None, as_json: bool, quiet: bool, verbose: bool) -> None:
    """List boards and chips; for one, its core, clocks, memories, blocks and algorithms."""
    if name is None:
        show.emit(show.all_boards(), as_json)
    else:
        show.emit(show.one_board(boards.find(name), verbose), as_json)


@cli.command(short_help="The register table of a block.")
@click.argument("block")
@click.option("--board", metavar="B", default=DEFAULT_BOARD, show_default=True, help="The chip's version of the block.")
@common
def regs(block: str, board: str, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Print the register table of BLOCK or BLOCK.REG, from its declaration."""
    show.emit(show.registers(boards.find(board).chip, block), as_json)


# -- build -----------------------------------------------------------------------------------------
@cli.command(short_help="Build reference firmware.")
@click.argument("program", required=False)
@on_board
@of_library
@of_math
@click.option("--build", "build_name", type=click.Choice(BUILDS), default="software", show_default=True)
@click.option("--fetch-only", is_flag=True, help="Only fetch the library's sources.")
@common
def build(
    program: str | None,
    board: str | None,
    chip: str | None,
    hse: str | None,
    console_name: str | None,
    library: str,
    source: Path | None,
    math: str | None,
    build_name: str,
    fetch_only: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Build reference firmware (benchmark, selftest, ctaocrypt); the last line is the ELF's path."""
    from cryplab import guest

    if fetch_only:
        path = guest.library(library, source)
    else:
        if program is None:
            raise UsageError(f"which program? There are {', '.join(guest.programs(library))}")
        target = _board(board, chip, hse, console_name, DEFAULT_BOARD)
        with show.progress(quiet) as tick:
            path = guest.build(program, target, library, build_name, source, tick, math or "")
    if as_json:
        click.echo(json.dumps({"path": str(path)}))
    else:
        click.echo(path)


# -- run -------------------------------------------------------------------------------------------
@cli.command(short_help="Run any firmware and tell what its crypto did.")
@click.argument("firmware", type=click.Path(path_type=Path))
@on_board
@in_time("fast")
@click.option("--also", multiple=True, type=click.Path(path_type=Path), help="One more image; repeatable.")
@click.option("--base", callback=_number, metavar="ADDR", help="Where a BIN belongs.")
@click.option("--vectors", callback=_number, metavar="ADDR", help="Where the vector table is.")
@click.option("--until", metavar="TEXT", help="End when the firmware has printed this.")
@click.option("--for", "seconds", callback=_seconds, default="60s", show_default=True, help="Virtual time at most.")
@click.option("--stub", multiple=True, metavar="SYMBOL=VALUE", help="The function returns at once; repeatable.")
@click.option("--set", "settings", multiple=True, metavar="BLOCK.REG.FIELD=VALUE", help="A bit reads so; repeatable.")
@click.option("--trace", type=click.Path(path_type=Path), help="Every register access as JSON lines.")
@click.option("--inject", "injected", multiple=True, metavar="NAME[=N]", help="Inject an error; repeatable.")
@click.option("--strict", is_flag=True, help="Stop at the first broken rule, or access to what is not modelled.")
@click.option("--sarif", "sarif_file", type=click.Path(path_type=Path), help="Findings as SARIF 2.1.0.")
@click.option("--no-findings", is_flag=True, help="Run without the rules of `cryplab explain`.")
@on_network
@common
def run(
    firmware: Path,
    board: str | None,
    chip: str | None,
    hse: str | None,
    console_name: str | None,
    clock: ClockMode,
    seed: int,
    date: datetime | None,
    also: tuple[Path, ...],
    base: int | None,
    vectors: int | None,
    until: str | None,
    seconds: float,
    stub: tuple[str, ...],
    settings: tuple[str, ...],
    trace: Path | None,
    injected: tuple[str, ...],
    strict: bool,
    sarif_file: Path | None,
    no_findings: bool,
    net: str | None,
    allow: tuple[str, ...],
    pcap: Path | None,
    peer: Path | None,
    peer_board: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run any firmware; then tell its crypto, what broke a rule, and what was not modelled."""
    from cryplab import inject
    from cryplab.machine import Machine
    from cryplab.observe.report import run_report
    from cryplab.observe.trace import TraceWriter

    target = _board(board, chip, hse, console_name, DEFAULT_BOARD)
    if allow and net != "user":
        raise UsageError("--allow goes with --net user; other wires reach whatever is at their other end")
    if (net == "hub") != bool(peer):
        raise UsageError("--net hub and --peer FIRMWARE go together: a hub joins two boards")
    wire = None if net == "hub" else net
    machine = Machine(target, seed=seed, clock=clock, strict=strict, date=date, net=wire, allow=allow)
    hub = _join(machine, peer, peer_board) if peer else None
    if pcap:
        machine.capture(pcap)
    machine.load(firmware, also=also, base=base, vectors=vectors)
    machine.stub(stub)
    machine.force(settings)
    for injection in inject.parse(injected, seed):
        injection.arm(machine)
    if not no_findings:
        machine.observe()
    status = show.StatusLine(quiet)
    if not as_json:
        machine.console.echo = status.echo
    keyboard = Keyboard()
    keyboard.start(machine)
    started = time.monotonic()
    with TraceWriter(machine, trace) if trace else show.nothing(), _until_interrupted(machine.stop):
        run_it = _through(hub, machine, quiet) if hub else machine.run
        outcome = _run_with_input(machine, keyboard, until, seconds, status.tick, run_it)
    status.wipe()
    machine.disconnect()
    report = run_report(machine, outcome, wall_seconds=time.monotonic() - started)
    report.quiet, report.verbose = quiet, verbose
    show.emit(report, as_json)
    if sarif_file:
        from cryplab.observe.sarif import write_sarif

        write_sarif(sarif_file, report.findings)
    if outcome.reason == "stopped":
        sys.exit(STOPPED)
    if outcome.reason == "strict":
        raise StrictError(outcome.text)
    if until and outcome.reason != "until" and outcome.exit_code != GuestCrash.exit_code:
        raise LimitReached(f"'{until}' was not printed: {report.end_sentence}")
    sys.exit(report.exit_code)


def _run_with_input(
    machine: Machine,
    keyboard: Keyboard,
    until: str | None,
    seconds: float,
    tick: Callable[[float], None],
    run_it: Callable[..., Outcome],
) -> Outcome:
    """Run; what is typed meanwhile goes to the console, and a person may wake a guest that sleeps.

    What `--strict` forbids ends the run with reason "strict".
    """
    from cryplab.machine import Outcome

    def progress(now: float) -> None:
        tick(now)
        keyboard.poll(machine)

    end = machine.clock.seconds() + seconds
    while True:
        try:
            outcome = run_it(until=until, seconds=end - machine.clock.seconds(), on_progress=progress)
        except StrictError as error:
            return Outcome("strict", text=str(error))
        if outcome.reason != "idle" or not machine.input_can_wake or not keyboard.wait(machine):
            return outcome


def _join(machine: Machine, firmware: Path, board: str | None) -> Hub:
    """A hub between the machine and a second one, whose random numbers are others."""
    from cryplab.machine import Machine
    from cryplab.net import Hub

    other = Machine(
        boards.find(board) if board else machine.board,
        seed=machine.seed + 1,
        clock=machine.clock_mode,
        date=machine.date,
    )
    hub = Hub()
    hub.connect(machine)
    hub.connect(other)
    other.load(firmware)
    return hub


def _through(hub: Hub, machine: Machine, quiet: bool) -> Callable[..., Outcome]:
    """Runs a machine and what is joined to it; what the other one printed goes to standard error."""

    def run_it(*, until: str | None, seconds: float, on_progress: Callable[[float], None]) -> Outcome:
        texts = {machine: until} if until else {}
        first, second = hub.run(seconds=seconds, wait_for=[machine], until=texts, on_progress=on_progress)
        other = hub.ports[1].machine
        if not quiet:
            for line in [*other.console.text.splitlines(), *second.crash.splitlines()]:
                click.echo(f"peer: {line}", err=True)
        return first

    return run_it


@contextmanager
def _until_interrupted(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls `stop`, so that the run ends with its report; the second ends the program."""

    def interrupted(_signal: int, _frame: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# -- bench, selftest -------------------------------------------------------------------------------
@cli.command(short_help="The before/after table.")
@click.argument("firmware", nargs=-1, type=click.Path(path_type=Path))
@on_board
@of_library
@of_math
@in_time("exact")
@click.option(
    "--build", "build_names", multiple=True, type=click.Choice(BUILDS), help="Builds to run [software, hardware]."
)
@click.option("--rows", metavar="GLOB", help="Only rows whose names match; several with commas.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "mbedtls", "wolfcrypt", "ctaocrypt", "markdown"]),
    default="table",
    show_default=True,
)
@click.option("--chart", type=click.Path(path_type=Path), metavar="FILE", help="Draw bars: .svg, .png or .pdf.")
@click.option("-j", "jobs", type=int, default=2, show_default=True, help="Builds run side by side.")
@common
def bench(
    firmware: tuple[Path, ...],
    board: str | None,
    chip: str | None,
    hse: str | None,
    console_name: str | None,
    library: str,
    source: Path | None,
    math: str | None,
    clock: ClockMode,
    seed: int,
    date: datetime | None,
    build_names: tuple[str, ...],
    rows: str | None,
    form: str,
    chart: Path | None,
    jobs: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Print the before/after table: software beside hardware, the limit, what was published."""
    from cryplab.bench import bench as run_bench

    target = _board(board, chip, hse, console_name, DEFAULT_BOARD)
    with show.progress(quiet) as tick:
        result = run_bench(
            target,
            firmware=firmware,
            library=library,
            builds=build_names,
            rows=rows,
            clock=clock,
            seed=seed,
            source=source,
            jobs=jobs,
            progress=tick,
            program="ctaocrypt" if form == "ctaocrypt" and library == "wolfssl" else "benchmark",
            math=math or "",
        )
    if as_json:
        click.echo(json.dumps(result.to_json(), indent=2))
    else:
        show.write(result.render(form))
        show.printed(result.console, verbose)
    if chart:
        result.draw(chart)
        click.echo(f"chart: {chart}", err=True)
    sys.exit(result.exit_code)


@cli.command(short_help="The library's self-tests on the board.")
@on_board
@of_library
@of_math
@in_time("fast")
@click.option(
    "--build", "build_names", multiple=True, type=click.Choice(BUILDS), help="Builds to run [software, hardware]."
)
@click.option("--junit", type=click.Path(path_type=Path), help="Results as JUnit XML.")
@common
def selftest(
    board: str | None,
    chip: str | None,
    hse: str | None,
    console_name: str | None,
    library: str,
    source: Path | None,
    math: str | None,
    clock: ClockMode,
    seed: int,
    date: datetime | None,
    build_names: tuple[str, ...],
    junit: Path | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run the library's self-tests on the board and print their results."""
    from cryplab.bench.selftest import selftest as run_selftest

    target = _board(board, chip, hse, console_name, DEFAULT_BOARD)
    with show.progress(quiet) as tick:
        result = run_selftest(
            target,
            library=library,
            builds=build_names or ("software", "hardware"),
            clock=clock,
            seed=seed,
            source=source,
            progress=tick,
            math=math or "",
        )
    if junit:
        result.write_junit(junit)
    show.emit(result, as_json)
    show.printed(result.console, verbose and not as_json)
    sys.exit(result.exit_code)


# -- accuracy --------------------------------------------------------------------------------------
@cli.command(short_help="Predicted against published rows.")
@click.option("--board", metavar="B", help="Only this board's published rows.")
@click.option("--library", type=click.Choice(LIBRARIES), help="Only this library's published rows.")
@click.option("--clock", type=click.Choice(["exact", "fast"]), default="exact", show_default=True)
@click.option("--chart", type=click.Path(path_type=Path), metavar="FILE", help="Predicted over published, log axes.")
@click.option("-j", "jobs", type=int, default=2, show_default=True, help="Builds run side by side.")
@common
def accuracy(
    board: str | None,
    library: str | None,
    clock: ClockMode,
    chart: Path | None,
    jobs: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Hold predicted rows against published rows of real boards."""
    from cryplab.bench.accuracy import accuracy as hold_against

    with show.progress(quiet) as tick:
        result = hold_against(board, library=library, clock=clock, jobs=jobs, progress=tick)
    show.emit(result, as_json)
    if chart:
        result.draw(chart)
        click.echo(f"chart: {chart}", err=True)
    sys.exit(result.exit_code)


# -- compare ---------------------------------------------------------------------------------------
@cli.command(short_help="Ratios of two or more benchmark logs.")
@click.argument("logs", nargs=-1, required=True, metavar="BEFORE AFTER [...]")
@click.option("--fail-below", type=float, metavar="R", help="Exit 1 when a row's ratio is below R.")
@click.option("--markdown", is_flag=True, help="A table to paste into a pull request.")
@click.option("--chart", type=click.Path(path_type=Path), metavar="FILE", help="Draw bars: .svg, .png or .pdf.")
@common
def compare(
    logs: tuple[str, ...],
    fail_below: float | None,
    markdown: bool,
    chart: Path | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Compare benchmark logs, of real boards or of cryplab; FILE#2 names the second run of a file."""
    from cryplab.bench.compare import compare as compare_logs

    result = compare_logs(logs, fail_below=fail_below)
    if not quiet:
        for note in result.notes:
            click.echo(f"note: {note}", err=True)
    if markdown and not as_json:
        show.write(result.markdown())
    else:
        show.emit(result, as_json)
    if chart:
        result.draw(chart)
        click.echo(f"chart: {chart}", err=True)
    sys.exit(result.exit_code)


# -- check -----------------------------------------------------------------------------------------
@cli.command(short_help="Is the firmware's crypto right?")
@click.argument("firmware", required=False, type=click.Path(path_type=Path))
@on_board
@of_library
@click.option("--build", "build_name", type=click.Choice(BUILDS), help="The reference self-test's build, no FIRMWARE.")
@click.option("--api", type=click.Choice(["auto", "mbedtls", "psa"]), default="auto", show_default=True)
@click.option("--init", multiple=True, metavar="SYMBOL", help="Call this function first; repeatable.")
@click.option("--quick", "level", flag_value="quick", help="Under a minute.")
@click.option("--thorough", "level", flag_value="thorough", help="All published vectors, many more random cases.")
@click.option("--only", metavar="GLOB", default="", help="Only these ALGORITHM/GROUP/NAME; several with commas.")
@click.option("--inject", multiple=True, metavar="NAME[=N]", help="Inject an error; repeatable.")
@click.option("-j", "jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of all random choices.")
@click.option("--no-findings", is_flag=True, help="Judge results only, without the rules of `cryplab explain`.")
@click.option("--junit", type=click.Path(path_type=Path), help="Verdicts as JUnit XML.")
@click.option("--sarif", type=click.Path(path_type=Path), help="Findings as SARIF.")
@common
def check(
    firmware: Path | None,
    board: str | None,
    chip: str | None,
    hse: str | None,
    console_name: str | None,
    library: str,
    source: Path | None,
    build_name: str | None,
    api: str,
    init: tuple[str, ...],
    level: Literal["quick", "thorough"] | None,
    only: str,
    inject: tuple[str, ...],
    jobs: int,
    seed: int,
    no_findings: bool,
    junit: Path | None,
    sarif: Path | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Call the crypto functions of FIRMWARE in every way that their API promises, and judge what they do."""
    from cryplab import guest
    from cryplab.check import check as run_check

    if (firmware is None) == (build_name is None):
        raise UsageError("check what? Give FIRMWARE, or --build for the reference self-test")
    target = _board(board, chip, hse, console_name, DEFAULT_BOARD)
    with show.progress(quiet) as tick:
        if firmware is None:
            firmware = guest.build(
                "selftest", target, library=library, build=build_name or "", source=source, progress=tick
            )
        result = run_check(
            firmware,
            target,
            api=api,
            init=init,
            level=level or "default",
            only=only,
            jobs=jobs,
            seed=seed,
            inject=inject,
            observe=not no_findings,
            progress=tick,
        )
    if junit:
        result.write_junit(junit)
    if sarif:
        from cryplab.observe.sarif import write_sarif

        write_sarif(sarif, result.findings.values())
    if as_json:
        show.emit(result, as_json)
    else:
        show.write(*result.render(verbose))
    sys.exit(result.exit_code)


# -- explain ---------------------------------------------------------------------------------------
@cli.command(short_help="What a rule means and how it is repaired.")
@click.argument("rule")
@common
def explain(rule: str, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Say what a rule of the observer means (O1 to O22), its public cases, and how a break is repaired."""
    from cryplab.observe.explain import explain as look_up

    show.emit(look_up(rule), as_json)


# -- faults ----------------------------------------------------------------------------------------
@cli.command("faults")
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@on_board
@click.option("--seed", type=int, default=0, show_default=True, help="Of the RNG and of injected errors.")
@common
def faults_command(
    cases: tuple[str, ...],
    board: str | None,
    chip: str | None,
    hse: str | None,
    console_name: str | None,
    seed: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run our drivers with one fault each, and their correct twins: is each fault found?"""
    from cryplab.guest.faulty.table import faults

    target = _board(board, chip, hse, console_name, DEFAULT_BOARD)
    with show.progress(quiet) as tick:
        result = faults(cases, board=target, seed=seed, progress=tick)
    show.emit(result, as_json)
    sys.exit(result.exit_code)


# -- tls-client ------------------------------------------------------------------------------------
@cli.command("tls-client", short_help="A TLS client on the board, against a real server.")
@click.argument("target", metavar="HOST:PORT[/PATH]")
@on_board
@of_library
@in_time("fast")
@click.option("--build", "build_name", type=click.Choice(BUILDS), default="hardware", show_default=True)
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="AES-GCM, or a suite's name; repeatable.")
@click.option("--ca", type=click.Path(path_type=Path), metavar="FILE", help="The CA's certificate; without: no check.")
@click.option("--server-name", default="", metavar="NAME", help="In the certificate, when it is not HOST.")
@click.option("--expect", default="", metavar="TEXT", help="Text that the answer must contain.")
@click.option("--pcap", type=click.Path(path_type=Path), metavar="FILE", help="Capture the frames, for Wireshark.")
@common
def tls_client_command(
    target: str,
    board: str | None,
    chip: str | None,
    hse: str | None,
    console_name: str | None,
    library: str,
    source: Path | None,
    clock: ClockMode,
    seed: int,
    date: datetime | None,
    build_name: str,
    suites: tuple[str, ...],
    ca: Path | None,
    server_name: str,
    expect: str,
    pcap: Path | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Fetch a page by TLS from HOST, localhost being this host; then tell times and what the accelerators did."""
    from cryplab.tls import DEFAULT_BOARD as ETHERNET_BOARD
    from cryplab.tls import tls_client

    status = show.StatusLine(quiet)

    def begin(machine: Machine) -> None:
        if not as_json:
            machine.console.echo = status.echo

    result = tls_client(
        target,
        board=_board(board, chip, hse, console_name, ETHERNET_BOARD),
        library=library,
        build=build_name,
        suites=suites,
        ca=ca,
        server_name=server_name,
        expect=expect,
        pcap=pcap,
        clock=clock,
        seed=seed,
        date=date,
        source=source,
        on_machine=begin,
        on_time=status.tick,
    )
    status.wipe()
    result.quiet, result.verbose = quiet, verbose
    show.emit(result, as_json)
    sys.exit(result.exit_code)


@cli.command("tls-bench", short_help="Handshakes and records of cipher suites, before and after.")
@on_board
@of_library
@in_time("fast")
@click.option(
    "--build", "build_names", multiple=True, type=click.Choice(BUILDS), help="Builds to run [software, hardware]."
)
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="AES-GCM, or a suite's name [128-bit keys].")
@common
def tls_bench_command(
    board: str | None,
    chip: str | None,
    hse: str | None,
    console_name: str | None,
    library: str,
    source: Path | None,
    clock: ClockMode,
    seed: int,
    date: datetime | None,
    build_names: tuple[str, ...],
    suites: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Time a handshake and the records of a page for each cipher suite, with a server of our own on this host."""
    from cryplab.tls import DEFAULT_BOARD as ETHERNET_BOARD
    from cryplab.tls import tls_bench

    target = _board(board, chip, hse, console_name, ETHERNET_BOARD)
    with show.progress(quiet) as tick:
        result = tls_bench(
            target,
            library=library,
            builds=build_names or ("software", "hardware"),
            suites=suites,
            clock=clock,
            seed=seed,
            date=date,
            source=source,
            progress=tick,
        )
    show.emit(result, as_json)
    sys.exit(result.exit_code)


# -- main ------------------------------------------------------------------------------------------
def _sentence(error: click.ClickException) -> str:
    """A usage error of the parser as one sentence, and where help is."""
    text = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "cryplab"
    return f"{text[:1].lower()}{text[1:]}; see '{command} --help'"


def _run_command(arguments: list[str]) -> int:
    """The exit code of a command line; every error becomes one sentence on standard error."""
    try:
        code = cli.main(arguments, prog_name="cryplab", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except CryplabError as error:
        if "--debug" in arguments:
            traceback.print_exc()
        click.echo(f"cryplab: {error}", err=True)
        if isinstance(error, GuestCrash) and error.report:
            click.echo(f"\n{error.report}", err=True)
        return error.exit_code
    except click.ClickException as error:
        click.echo(f"cryplab: {_sentence(error)}", err=True)
        return UsageError.exit_code
    except (ReaderGone, BrokenPipeError):
        raise
    except Exception as error:  # a fault of ours: a sentence all the same
        if "--debug" in arguments:
            traceback.print_exc()
        click.echo(f"cryplab: internal error, {type(error).__name__}: {error}; --debug shows where", err=True)
        return INTERNAL
    except (KeyboardInterrupt, click.Abort):
        click.echo("cryplab: stopped", err=True)
        return STOPPED


def main() -> None:
    """Entry point of the `cryplab` command."""
    try:
        code = _run_command(sys.argv[1:])
    except (ReaderGone, BrokenPipeError):
        # the interpreter flushes once more at its end; that must find no closed pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = NO_READER
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    sys.exit(code)


if __name__ == "__main__":
    main()
