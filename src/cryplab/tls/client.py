"""Running the TLS client: build, load, tell it what to do, let it talk, read what it left."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from cryplab import board as boards
from cryplab import guest
from cryplab.board import Board
from cryplab.errors import LimitReached
from cryplab.machine import ClockMode, Machine
from cryplab.net.nat import Nat
from cryplab.net.wire import Impaired, Wire
from cryplab.observe.report import run_report
from cryplab.tls.parameters import Parameters, parse_target, read_ca
from cryplab.tls.result import Ending, Phase, TlsResult, phases_of
from cryplab.tls.suites import choose

__all__ = ["DEFAULT_BOARD", "PROGRAM", "tls_client"]

DEFAULT_BOARD = "nucleo-f439zi"
PROGRAM = "tls_client"
SECONDS_MOST = 300.0
END = struct.Struct("<IiIiIII")
"`struct cryplab_tls_end` of guest/programs/tls_parameters.h."


def tls_client(
    target: str,
    *,
    board: str | Path | Board = DEFAULT_BOARD,
    library: str = "mbedtls",
    build: str = "hardware",
    suites: Iterable[str] = (),
    ca: str | Path | None = None,
    server_name: str = "",
    expect: str = "",
    pcap: str | Path | None = None,
    clock: str = "fast",
    seed: int = 0,
    date: datetime | None = None,
    source: str | Path | None = None,
    limit_seconds: float = 20.0,
    print_bytes: int = 2048,
    tasks: bool = False,
    observe: bool = True,
    wire: Wire | None = None,
    impair: Mapping[str, float] | None = None,
    progress: Callable[[str], None] | None = None,
    on_machine: Callable[[Machine], None] | None = None,
    on_time: Callable[[float], None] | None = None,
) -> TlsResult:
    """One session of the guest's TLS client with a server.

    Args:
        target: `HOST:PORT[/PATH]`; `localhost` is this host. No other destination is reached.
        board: with an Ethernet port.
        library, build, source: of the reference firmware.
        suites: names for `suites.choose`; default all of SUITES.
        ca: file with the CA's certificate; without it the server's certificate is not verified.
        server_name: in the certificate, when it is not the host's name.
        expect: text that the answer must contain.
        pcap: capture file to write.
        clock: "fast" or "exact".
        seed: of the RNG and all random choices.
        date: of the guest's RTC; default now.
        limit_seconds: virtual time that the client waits for the other side.
        print_bytes: of the answer.
        tasks: under the small preemptive kernel, the network in a task of its own and another one that ciphers beside.
        observe: watch by the rules of `cryplab explain`.
        wire: instead of our NAT.
        impair: what the wire does besides, `loss`, `duplicate`, `reorder`: probabilities, see `net.Impaired`.
        progress, on_machine, on_time: hear what is built, the machine before it runs, virtual seconds.
    Raises: UsageError, InputError, ToolError, LimitReached.
    """
    where = parse_target(target)
    chosen = choose(suites, library)
    today = date or datetime.now(UTC)
    wishes = Parameters(
        where, tuple(chosen), read_ca(ca) if ca else b"", today, server_name, expect, int(1000 * limit_seconds),
        print_bytes,
    ).encode()  # fmt: skip
    on_board = board if isinstance(board, Board) else boards.find(board)
    elf = guest.build(PROGRAM, on_board, library=library, build=build, source=source, progress=progress, tasks=tasks)
    machine = Machine(on_board, seed=seed, clock=cast(ClockMode, clock), date=today)
    outside = wire or Nat([where.allow])
    machine.connect(Impaired(outside, seed=seed, **impair) if impair else outside)
    try:
        machine.load(elf)
        machine.write_memory(machine.symbol("cryplab_tls").address, wishes)
        if observe:
            machine.observe()
        if pcap:
            machine.capture(pcap)
        if on_machine:
            on_machine(machine)
        started = time.monotonic()
        outcome = machine.run(seconds=SECONDS_MOST, on_progress=on_time)
        wall = time.monotonic() - started
    finally:
        machine.disconnect()
    if outcome.reason not in ("finished", "fault", "lockup", "reset", "stopped"):
        raise LimitReached(
            f"{elf.name} did not end: {outcome.text or outcome.reason}; it printed:\n{machine.console.text}"
        )
    return TlsResult(
        target=where,
        build=build,
        library=library,
        report=run_report(machine, outcome, wall),
        ending=Ending(*END.unpack(machine.read_memory(machine.symbol("cryplab_tls_end").address, END.size))),
        phases=_phases(machine),
        refused=list(getattr(outside, "refused", ())),
        failures=list(getattr(outside, "failures", ())),
        wire=machine.network.complaints[0] if impair else "",
    )


def _phases(machine: Machine) -> list[Phase]:
    count = machine.read_word(machine.symbol("cryplab_phases_count").address)
    return phases_of(machine, machine.symbol("cryplab_phases").address, count)
