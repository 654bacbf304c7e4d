"""`bench`, `accuracy`, `compare`: tables of rows."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from cryplab import show
from cryplab.cli.options import (
    LIBRARIES,
    ClockMode,
    Decorator,
    InTime,
    OfLibrary,
    OnBoard,
    Output,
    builds_option,
    in_time,
    jobs_option,
    of_library_and_math,
    on_board,
    output,
)  # fmt: skip

__all__ = ["COMMANDS"]

FORMATS = ("table", "mbedtls", "wolfcrypt", "ctaocrypt", "markdown")


def _chart_option(text: str) -> Decorator:
    return click.option("--chart", type=click.Path(path_type=Path), metavar="FILE", help=text)


def _draw(result: Any, chart: Path | None) -> None:
    if chart:
        result.draw(chart)
        click.echo(f"chart: {chart}", err=True)


@click.command(short_help="The before/after table.")
@click.argument("firmware", nargs=-1, type=click.Path(path_type=Path))
@on_board
@of_library_and_math
@in_time("exact")
@builds_option
@click.option("--rows", metavar="GLOB", help="Only rows whose names match; several with commas.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@_chart_option("Draw bars: .svg, .png or .pdf.")
@jobs_option
@output
def bench(
    firmware: tuple[Path, ...],
    on: OnBoard,
    of: OfLibrary,
    when: InTime,
    builds: tuple[str, ...],
    rows: str | None,
    form: str,
    chart: Path | None,
    jobs: int,
    out: Output,
) -> None:
    """Print the before/after table: software beside hardware, the limit, what was published."""
    from cryplab.bench import bench as run_bench

    target = on.find()
    with show.progress(out.quiet) as tick:
        result = run_bench(
            target,
            firmware=firmware,
            library=of.library,
            builds=builds,
            rows=rows,
            clock=when.clock,
            seed=when.seed,
            source=of.source,
            jobs=jobs,
            progress=tick,
            program="ctaocrypt" if form == "ctaocrypt" and of.library == "wolfssl" else "benchmark",
            math=of.math,
        )
    if out.as_json:
        click.echo(json.dumps(result.to_json(), indent=2))
    else:
        show.write(result.render(form))
        show.printed(result.console, out.verbose)
    _draw(result, chart)
    sys.exit(result.exit_code)


@click.command(short_help="Predicted against published rows.")
@click.option("--board", metavar="B", help="Only this board's published rows.")
@click.option("--library", type=click.Choice(LIBRARIES), help="Only this library's published rows.")
@click.option("--clock", type=click.Choice(["exact", "fast"]), default="exact", show_default=True)
@click.option("--source", type=click.Path(path_type=Path), help="Library sources from this folder.")
@_chart_option("Predicted over published, log axes.")
@jobs_option
@output
def accuracy(
    board: str | None,
    library: str | None,
    clock: ClockMode,
    source: Path | None,
    chart: Path | None,
    jobs: int,
    out: Output,
) -> None:
    """Hold predicted rows against published rows of real boards."""
    from cryplab.bench.accuracy import accuracy as hold_against

    with show.progress(out.quiet) as tick:
        result = hold_against(board, library=library, clock=clock, source=source, jobs=jobs, progress=tick)
    out.emit(result)
    _draw(result, chart)
    sys.exit(result.exit_code)


@click.command(short_help="Ratios of two or more benchmark logs.")
@click.argument("logs", nargs=-1, required=True, metavar="BEFORE AFTER [...]")
@click.option("--fail-below", type=float, metavar="R", help="Exit 1 when a row's ratio is below R.")
@click.option("--markdown", is_flag=True, help="A table to paste into a pull request.")
@_chart_option("Draw bars: .svg, .png or .pdf.")
@output
def compare(logs: tuple[str, ...], fail_below: float | None, markdown: bool, chart: Path | None, out: Output) -> None:
    """Compare benchmark logs, of real boards or of cryplab; FILE#2 names the second run of a file."""
    from cryplab.bench.compare import compare as compare_logs

    result = compare_logs(logs, fail_below=fail_below)
    if not out.quiet:
        for note in result.notes:
            click.echo(f"note: {note}", err=True)
    if markdown and not out.as_json:
        show.write(result.markdown())
    else:
        out.emit(result)
    _draw(result, chart)
    sys.exit(result.exit_code)


COMMANDS = (bench, accuracy, compare)
