"""`tls-client`, `tls-bench`: TLS on the board, over its Ethernet port."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

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
    on_board,
    output,
)  # fmt: skip

if TYPE_CHECKING:
    from cryplab.machine import Machine

__all__ = ["COMMANDS"]


@click.command("tls-client", short_help="A TLS client on the board, against a real server.")
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
    pcap: Path | None,
    out: Output,
) -> None:
    """Fetch a page by TLS from HOST, localhost being this host; then tell times and what the accelerators did."""
    from cryplab.tls import DEFAULT_BOARD, tls_client

    status = show.StatusLine(out.quiet)

    def begin(machine: Machine) -> None:
        if not out.as_json:
            machine.console.echo = status.echo

    result = tls_client(
        target,
        board=on.find(DEFAULT_BOARD),
        library=of.library,
        build=build_name,
        suites=suites,
        ca=ca,
        server_name=server_name,
        expect=expect,
        pcap=pcap,
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
@on_board
@of_library
@in_time("fast")
@builds_option
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="AES-GCM, or a suite's name [128-bit keys].")
@output
def bench(
    on: OnBoard, of: OfLibrary, when: InTime, builds: tuple[str, ...], suites: tuple[str, ...], out: Output
) -> None:
    """Time a handshake and the records of a page for each cipher suite, with a server of our own on this host."""
    from cryplab.tls import DEFAULT_BOARD, tls_bench

    target = on.find(DEFAULT_BOARD)
    with show.progress(out.quiet) as tick:
        result = tls_bench(
            target,
            library=of.library,
            builds=builds or ("software", "hardware"),
            suites=suites,
            clock=when.clock,
            seed=when.seed,
            date=when.date,
            source=of.source,
            progress=tick,
        )
    out.emit(result)
    sys.exit(result.exit_code)


COMMANDS = (client, bench)
