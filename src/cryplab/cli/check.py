"""`selftest`, `check`, `faults`: is it right?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

from cryplab import show
from cryplab.cli.options import (
    BUILDS,
    InTime,
    OfLibrary,
    OnBoard,
    Output,
    builds_option,
    in_time,
    of_library,
    of_library_and_math,
    on_board,
    output,
    seed_option,
    write_sarif,
)  # fmt: skip
from cryplab.errors import UsageError

__all__ = ["APIS", "COMMANDS"]

APIS = ("auto", "mbedtls", "psa", "wolfcrypt", "hal", "hal-it", "hal-dma")
"Written out, so that help needs no machine; those of `cryplab.check.session`."


@click.command(short_help="The library's self-tests on the board.")
@on_board
@of_library_and_math
@in_time("fast")
@builds_option
@click.option("--junit", type=click.Path(path_type=Path), help="Results as JUnit XML.")
@output
def selftest(
    on: OnBoard, of: OfLibrary, when: InTime, builds: tuple[str, ...], junit: Path | None, out: Output
) -> None:
    """Run the library's self-tests on the board and print their results."""
    from cryplab.bench.selftest import selftest as run_selftest

    target = on.find()
    with show.progress(out.quiet) as tick:
        result = run_selftest(
            target,
            library=of.library,
            builds=builds or ("software", "hardware"),
            clock=when.clock,
            seed=when.seed,
            source=of.source,
            progress=tick,
            math=of.math,
        )
    if junit:
        result.write_junit(junit)
    out.emit(result)
    show.printed(result.console, out.verbose and not out.as_json)
    sys.exit(result.exit_code)


@click.command(short_help="Is the firmware's crypto right?")
@click.argument("firmware", required=False, type=click.Path(path_type=Path))
@on_board
@of_library
@click.option("--build", "build_name", type=click.Choice(BUILDS), help="The reference firmware's build, no FIRMWARE.")
@click.option("--api", type=click.Choice(APIS), default="auto", show_default=True)
@click.option("--init", multiple=True, metavar="SYMBOL", help="Call this function first; repeatable.")
@click.option("--quick", "level", flag_value="quick", help="Under a minute.")
@click.option("--thorough", "level", flag_value="thorough", help="All published vectors, many more random cases.")
@click.option("--only", metavar="GLOB", default="", help="Only these ALGORITHM/GROUP/NAME; several with commas.")
@click.option("--inject", multiple=True, metavar="NAME[=N]", help="Inject an error; repeatable.")
@click.option("-j", "jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
@seed_option("Of all random choices.")
@click.option("--no-findings", is_flag=True, help="Judge results only, without the rules of `cryplab explain`.")
@click.option("--junit", type=click.Path(path_type=Path), help="Verdicts as JUnit XML.")
@click.option("--sarif", type=click.Path(path_type=Path), help="Findings as SARIF.")
@output
def check(
    firmware: Path | None,
    on: OnBoard,
    of: OfLibrary,
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
    out: Output,
) -> None:
    """Call the crypto functions of FIRMWARE in every way that their API promises, and judge what they do."""
    from cryplab import guest
    from cryplab.check import check as run_check

    if (firmware is None) == (build_name is None):
        raise UsageError("check what? Give FIRMWARE, or --build for the reference firmware")
    target = on.find()
    with show.progress(out.quiet) as tick:
        if firmware is None:
            program = guest.CHECKED[of.library]
            firmware = guest.build(
                program, target, library=of.library, build=build_name or "", source=of.source, progress=tick
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
    write_sarif(sarif, result.findings.values())
    if out.as_json:
        out.emit(result)
    else:
        show.write(*result.render(out.verbose))
    sys.exit(result.exit_code)


@click.command()
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@on_board
@seed_option("Of the RNG and of injected errors.")
@output
def faults(cases: tuple[str, ...], on: OnBoard, seed: int, out: Output) -> None:
    """Run our drivers with one fault each, and their correct twins: is each fault found?"""
    from cryplab.guest.faulty.table import faults as run_faults

    target = on.find()
    with show.progress(out.quiet) as tick:
        result = run_faults(cases, board=target, seed=seed, progress=tick)
    out.emit(result)
    sys.exit(result.exit_code)


COMMANDS = (selftest, check, faults)
