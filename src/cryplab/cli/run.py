"""`run`: any firmware, with what is typed, joined and watched meanwhile."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cryplab import show
from cryplab.cli.options import (
    STOPPED,
    InTime,
    Network,
    OnBoard,
    Output,
    address,
    gathered,
    in_time,
    on_board,
    on_network,
    output,
    virtual_time,
    write_sarif,
)  # fmt: skip
from cryplab.errors import GuestCrash, LimitReached, StrictError, UsageError
from cryplab.keyboard import Keyboard

if TYPE_CHECKING:
    from cryplab.machine import Machine, Outcome
    from cryplab.net import Hub, Wire

__all__ = ["COMMANDS"]


@dataclass(frozen=True)
class Images:
    """`--also --base --vectors`."""

    also: tuple[Path, ...]
    base: int | None
    vectors: int | None


with_images = gathered(
    "images",
    Images,
    click.option("--also", multiple=True, type=click.Path(path_type=Path), help="One more image; repeatable."),
    click.option("--base", callback=address, metavar="ADDR", help="Where a BIN belongs."),
    click.option("--vectors", callback=address, metavar="ADDR", help="Where the vector table is."),
)


@dataclass(frozen=True)
class Limits:
    """`--until --for`."""

    until: str | None
    seconds: float


with_limits = gathered(
    "limits",
    Limits,
    click.option("--until", metavar="TEXT", help="End when the firmware has printed this."),
    click.option(
        "--for", "seconds", callback=virtual_time, default="60s", show_default=True, help="Virtual time at most."
    ),
)


@dataclass(frozen=True)
class Conditions:
    """`--stub --set --trace --inject --strict --sarif --no-findings`: what is forced, and what is watched."""

    stub: tuple[str, ...]
    settings: tuple[str, ...]
    trace: Path | None
    injected: tuple[str, ...]
    strict: bool
    sarif: Path | None
    no_findings: bool


under_conditions = gathered(
    "given",
    Conditions,
    click.option("--stub", multiple=True, metavar="SYMBOL=VALUE", help="The function returns at once; repeatable."),
    click.option(
        "--set", "settings", multiple=True, metavar="BLOCK.REG.FIELD=VALUE", help="A bit reads so; repeatable."
    ),
    click.option("--trace", type=click.Path(path_type=Path), help="Every register access as JSON lines."),
    click.option("--inject", "injected", multiple=True, metavar="NAME[=N]", help="Inject an error; repeatable."),
    click.option("--strict", is_flag=True, help="Stop at the first broken rule, or access to what is not modelled."),
    click.option("--sarif", type=click.Path(path_type=Path), help="Findings as SARIF 2.1.0."),
    click.option("--no-findings", is_flag=True, help="Run without the rules of `cryplab explain`."),
)


@click.command(short_help="Run any firmware and tell what its crypto did.")
@click.argument("firmware", type=click.Path(path_type=Path))
@on_board
@in_time("fast")
@with_images
@with_limits
@under_conditions
@on_network
@output
def run(
    firmware: Path,
    on: OnBoard,
    when: InTime,
    images: Images,
    limits: Limits,
    given: Conditions,
    network: Network,
    out: Output,
) -> None:
    """Run any firmware; then tell its crypto, what broke a rule, and what was not modelled."""
    from cryplab.observe.report import run_report
    from cryplab.observe.trace import TraceWriter

    machine = _machine(on, when, given, network)
    hub = _join(machine, network) if network.peer else None
    if network.pcap:
        machine.capture(network.pcap)
    machine.load(firmware, also=images.also, base=images.base, vectors=images.vectors)
    _prepare(machine, given)
    status = show.StatusLine(out.quiet)
    if not out.as_json:
        machine.console.echo = status.echo
    keyboard = Keyboard()
    keyboard.start(machine)
    started = time.monotonic()
    with TraceWriter(machine, given.trace) if given.trace else show.nothing(), _until_interrupted(machine.stop):
        run_it = _through(hub, machine, out.quiet) if hub else machine.run
        outcome = _run_with_input(machine, keyboard, limits, status.tick, run_it)
    status.wipe()
    machine.disconnect()
    report = run_report(machine, outcome, wall_seconds=time.monotonic() - started)
    report.quiet, report.verbose = out.quiet, out.verbose
    out.emit(report)
    write_sarif(given.sarif, report.findings)
    if outcome.reason == "stopped":
        sys.exit(STOPPED)
    if outcome.reason == "strict":
        raise StrictError(outcome.text)
    if limits.until and outcome.reason != "until" and outcome.exit_code != GuestCrash.exit_code:
        raise LimitReached(f"'{limits.until}' was not printed: {report.end_sentence}")
    sys.exit(report.exit_code)


def _machine(on: OnBoard, when: InTime, given: Conditions, network: Network) -> Machine:
    """The board, with its wire if it has one."""
    from cryplab.machine import Machine
    from cryplab.network import make_wire

    target = on.find()
    if network.allow and network.net != "user":
        raise UsageError("--allow goes with --net user; other wires reach whatever is at their other end")
    if network.names and network.net != "user":
        raise UsageError("--name goes with --net user; other wires have name servers of their own")
    if (network.net == "hub") != bool(network.peer):
        raise UsageError("--net hub and --peer FIRMWARE go together: a hub joins two boards")
    if network.impair and not network.net:
        raise UsageError("--impair goes with --net; without it there is no wire")
    machine = Machine(target, seed=when.seed, clock=when.clock, strict=given.strict, date=when.date)
    if network.net and network.net != "hub":
        machine.connect(_impaired(make_wire(network.net, network.allow, network.names), network, machine))
    return machine


def _impaired(wire: Wire, network: Network, machine: Machine) -> Wire:
    """The wire, as bad as `--impair` wants it."""
    from cryplab.net import Impaired

    return Impaired(wire, seed=machine.seed, **network.impair) if network.impair else wire


def _prepare(machine: Machine, given: Conditions) -> None:
    """Stubs, forced bits, injected errors and the rules, once firmware is loaded."""
    from cryplab import inject

    machine.stub(given.stub)
    machine.force(given.settings)
    for injection in inject.parse(given.injected, machine.seed):
        injection.arm(machine)
    if not given.no_findings:
        machine.observe()


def _run_with_input(
    machine: Machine, keyboard: Keyboard, limits: Limits, tick: Callable[[float], None], run_it: Callable[..., Outcome]
) -> Outcome:
    """Run; what is typed meanwhile goes to the console, and a person may wake a guest that sleeps.

    What `--strict` forbids ends the run with reason "strict".
    """
    from cryplab.machine import Outcome

    def progress(now: float) -> None:
        tick(now)
        keyboard.poll(machine)

    end = machine.clock.seconds() + limits.seconds
    while True:
        try:
            outcome = run_it(until=limits.until, seconds=end - machine.clock.seconds(), on_progress=progress)
        except StrictError as error:
            return Outcome("strict", text=str(error))
        if outcome.reason != "idle" or not machine.input_can_wake or not keyboard.wait(machine):
            return outcome


def _join(machine: Machine, network: Network) -> Hub:
    """A hub between the machine and a second one, whose random numbers are others."""
    from cryplab.machine import Machine
    from cryplab.net import Hub

    other = Machine(
        network.peer_board or machine.board,
        seed=machine.seed + 1,
        clock=machine.clock_mode,
        date=machine.date,
    )
    hub = Hub()
    hub.connect(machine, lambda wire: _impaired(wire, network, machine))
    hub.connect(other)
    assert network.peer is not None
    other.load(network.peer)
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


COMMANDS = (run,)
