"""`tls-client`, `tls-bench`, `tls-echo`: TLS on the board, over its Ethernet port."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cryplab import show
from cryplab.cli.options import (
    BUILDS,
    LIBRARIES,
    InTime,
    OfLibrary,
    OnBoard,
    Output,
    builds_option,
    impair_option,
    in_time,
    of_library,
    on_board_or,
    output,
)  # fmt: skip

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["COMMANDS"]

BOARD = "nucleo-f439zi"
"The default of all three; cryplab.tls.DEFAULT_BOARD, which is slower to import."
build_option = click.option("--build", "build_name", type=click.Choice(BUILDS), default="hardware", show_default=True)
suites_option = click.option(
    "--suite", "suites", multiple=True, metavar="NAME", help="AES-GCM, or a suite's name; repeatable."
)
SIZE_UNITS = {"MiB": 1 << 20, "KiB": 1 << 10, "B": 1, "": 1}


def _size(_ctx: click.Context, _param: click.Parameter, value: str) -> int:
    """Bytes, from `65536`, `64KiB`, `1MiB`."""
    for unit, factor in SIZE_UNITS.items():
        number = value.removesuffix(unit)
        if value.endswith(unit) and number.isdigit():
            return int(number) * factor
    raise click.BadParameter(f"'{value}' is no size; expected 65536, 64KiB or 1MiB")


@click.command("tls-client", short_help="A TLS client on the board, against a real server.")
@click.argument("target", metavar="HOST:PORT[/PATH]")
@on_board_or(BOARD)
@of_library
@in_time("fast")
@build_option
@suites_option
@click.option("--ca", type=click.Path(path_type=Path), metavar="FILE", help="The CA's certificate; without: no check.")
@click.option("--server-name", default="", metavar="NAME", help="In the certificate, when it is not HOST.")
@click.option("--expect", default="", metavar="TEXT", help="Text that the answer must contain.")
@impair_option
@click.option("--pcap", type=click.Path(path_type=Path), metavar="FILE", help="Capture the frames, for Wireshark.")
@click.option("--tasks", is_flag=True, help="Under a small preemptive kernel, with a task that ciphers beside.")
@output
def client(
    target: str,
    on: OnBoard,
    of: OfLibrary,
    when: InTime,
    build_name: str,
    suites: tuple[str, ...],
    ca: Path | None,
    server_name: str,
    expect: str,
    impair: dict[str, float],
    pcap: Path | None,
    tasks: bool,
    out: Output,
) -> None:
    """Fetch a page by TLS from HOST, localhost being this host; then tell times and what the accelerators did."""
    from cryplab.tls import tls_client

    status = show.StatusLine(out.quiet)

    def begin(machine: Machine) -> None:
        if not out.as_json:
            machine.console.echo = status.echo

    result = tls_client(
        target,
        board=on.find(BOARD),
        library=of.library,
        build=build_name,
        suites=suites,
        ca=ca,
        server_name=server_name,
        expect=expect,
        impair=impair,
        pcap=pcap,
        tasks=tasks,
        clock=when.clock,
        seed=when.seed,
        date=when.date,
        source=of.source,
        on_machine=begin,
        on_time=status.tick,
    )
    status.wipe()
    result.quiet, result.verbose = out.quiet, out.verbose
    out.emit(result)
    sys.exit(result.exit_code)


@click.command("tls-bench", short_help="Handshakes and records of cipher suites, before and after.")
@click.option(
    "--board", "board_names", multiple=True, metavar="B", help="A board; repeatable.  [default: nucleo-f439zi]"
)
@click.option("--library", "libraries", multiple=True, type=click.Choice(LIBRARIES), help="Repeatable [mbedtls].")
@click.option("--source", type=click.Path(path_type=Path), help="Library sources from this folder.")
@in_time("fast")
@builds_option
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="AES-GCM, or a suite's name [128-bit keys].")
@click.option("-j", "jobs", type=int, default=2, show_default=True, help="Sessions at the same time.")
@click.option("--markdown", "as_markdown", is_flag=True, help="The tables in Markdown.")
@output
def bench(
    board_names: tuple[str, ...],
    libraries: tuple[str, ...],
    source: Path | None,
    when: InTime,
    builds: tuple[str, ...],
    suites: tuple[str, ...],
    jobs: int,
    as_markdown: bool,
    out: Output,
) -> None:
    """Time a handshake and the records of a page for each cipher suite, with a server of our own on this host."""
    from cryplab.tls import tls_bench

    with show.progress(out.quiet) as tick:
        result = tls_bench(
            board_names or [BOARD],
            library=libraries or ["mbedtls"],
            builds=builds or ("software", "hardware"),
            suites=suites,
            clock=when.clock,
            seed=when.seed,
            date=when.date,
            source=source,
            jobs=jobs,
            progress=tick,
        )
    result.as_markdown = as_markdown
    out.emit(result)
    sys.exit(result.exit_code)


@click.command("tls-echo", short_help="Long TLS conversations: two boards, or a board and this host.")
@click.argument("size", metavar="BYTES", callback=_size)
@click.option(
    "--net",
    type=click.Choice(["hub", "user"]),
    default="hub",
    show_default=True,
    help="The server: a second board, all virtual, or this host through our NAT.",
)
@on_board_or(BOARD)
@click.option("--peer-board", metavar="B", help="With --net hub: the server's [the same].")
@of_library
@in_time("fast")
@build_option
@click.option(
    "--peer-build", type=click.Choice(BUILDS), help="With --net hub: the server's build.  [default: the same]"
)
@suites_option
@impair_option
@click.option("--pcap", type=click.Path(path_type=Path), metavar="FILE", help="The client's frames, for Wireshark.")
@click.option(
    "--tasks",
    type=int,
    default=0,
    metavar="N",
    help="So many conversations at once, each in a task of a small preemptive kernel; findings are told.",
)
@output
def echo(
    size: int,
    net: str,
    on: OnBoard,
    peer_board: str | None,
    of: OfLibrary,
    when: InTime,
    build_name: str,
    peer_build: str | None,
    suites: tuple[str, ...],
    impair: dict[str, float],
    pcap: Path | None,
    tasks: int,
    out: Output,
) -> None:
    """Send BYTES (such as 64KiB, 1MiB) by TLS, have them back, compare; with --net hub each run is the same."""
    from cryplab.tls import tls_echo

    status = show.StatusLine(out.quiet)
    result = tls_echo(
        size,
        net=net,
        board=on.find(BOARD),
        peer_board=peer_board,
        library=of.library,
        build=build_name,
        peer_build=peer_build,
        suites=suites,
        impair=impair,
        pcap=pcap,
        tasks=tasks,
        clock=when.clock,
        seed=when.seed,
        date=when.date,
        source=of.source,
        on_time=status.tick,
    )
    status.wipe()
    result.quiet = out.quiet
    out.emit(result)
    sys.exit(result.exit_code)


COMMANDS = (client, bench, echo)
