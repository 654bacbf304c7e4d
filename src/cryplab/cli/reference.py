"""`boards`, `regs`, `explain`, `build`: what cryplab knows and ships."""

from __future__ import annotations

import json

import click

from cryplab import show
from cryplab.cli.options import (
    BUILDS,
    DEFAULT_BOARD,
    OfLibrary,
    OnBoard,
    Output,
    of_library_and_math,
    on_board,
    output,
)  # fmt: skip
from cryplab.errors import UsageError

__all__ = ["COMMANDS"]


@click.command("boards", short_help="Boards and chips, or all about one.")
@click.argument("name", required=False)
@output
def boards_command(name: str | None, out: Output) -> None:
    """List boards and chips; for one, its core, clocks, memories, blocks and algorithms."""
    from cryplab.board import find

    if name is None:
        out.emit(show.all_boards())
    else:
        out.emit(show.one_board(find(name), out.verbose))


@click.command(short_help="The register table of a block.")
@click.argument("block")
@click.option("--board", metavar="B", default=DEFAULT_BOARD, show_default=True, help="The chip's version of the block.")
@output
def regs(block: str, board: str, out: Output) -> None:
    """Print the register table of BLOCK or BLOCK.REG, from its declaration."""
    from cryplab.board import find

    out.emit(show.registers(find(board).chip, block))


@click.command(short_help="What a rule means and how it is repaired.")
@click.argument("rule")
@output
def explain(rule: str, out: Output) -> None:
    """Say what a rule of the observer means (O1 to O22), its public cases, and how a break is repaired."""
    from cryplab.observe.explain import explain as look_up

    out.emit(look_up(rule))


@click.command(short_help="Build reference firmware.")
@click.argument("program", required=False)
@on_board
@of_library_and_math
@click.option("--build", "build_name", type=click.Choice(BUILDS), default="software", show_default=True)
@click.option("--tasks", is_flag=True, help="Programs with network: under a small preemptive kernel.")
@click.option("--fetch-only", is_flag=True, help="Only fetch the library's sources.")
@output
def build(
    program: str | None, on: OnBoard, of: OfLibrary, build_name: str, tasks: bool, fetch_only: bool, out: Output
) -> None:
    """Build reference firmware (benchmark, selftest, ctaocrypt); the last line is the ELF's path."""
    from cryplab import guest

    if fetch_only:
        path = guest.library(of.library, of.source)
    else:
        if program is None:
            raise UsageError(f"which program? There are {', '.join(guest.programs(of.library))}")
        target = on.find()
        with show.progress(out.quiet) as tick:
            path = guest.build(program, target, of.library, build_name, of.source, tick, of.math, tasks)
    if out.as_json:
        click.echo(json.dumps({"path": str(path)}))
    else:
        click.echo(path)


COMMANDS = (boards_command, regs, explain, build)
