"""Long TLS conversations of the guest's echo programs: two boards over a hub, or a board with a server of this host.

result = tls_echo(64 * 1024, net="hub")          # the same bytes and cycles each time
result = tls_echo(1 << 20, net="user", impair={"loss": 0.01, "reorder": 0.01})
print(result.echoed, result.failure)

The parts are there for runs of one's own: `wish` says what a program shall do, `load` builds and loads it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, cast

from rich.console import RenderableType

from cryplab import board as boards
from cryplab import guest
from cryplab.board import Board
from cryplab.errors import UsageError
from cryplab.machine import DEFAULT_DATE, ClockMode, Machine, Outcome
from cryplab.net import Hub, Impaired, Nat, Wire
from cryplab.observe.findings import Finding
from cryplab.show import hanging, plain_table
from cryplab.tls.certificates import HOST, certificate_of, seeded_identity
from cryplab.tls.client import DEFAULT_BOARD
from cryplab.tls.parameters import SUITES_MOST
from cryplab.tls.server import LoopbackServer, echo
from cryplab.tls.suites import Suite, choose

__all__ = ["CLIENT", "SERVER", "EchoResult", "Side", "echoed", "load", "tls_echo", "wish"]

LAYOUT = struct.Struct("<IIIIHH4s6s21H64s64sI4096s")
"`struct cryplab_echo` of guest/programs/echo.h."
MAGIC = 0x4F484345
PEM_BYTES_MOST = 4096
LIMIT_MS = 30_000
MOST_BYTES = 1 << 30
MOST_TASKS = 4
"SESSIONS_MOST of guest/programs/echo.h; boards have memory for three, F2 for fewer."
ANYBODY, GATEWAY = "0.0.0.0", "10.0.2.2"
SERVER, CLIENT = "echo_server", "echo_client"
"The programs."
SERVER_ADDRESS, CLIENT_ADDRESS, PORT = "10.0.0.1", "10.0.0.2", 4433
SECONDS_MOST = 600.0


def wish(
    pem: bytes,
    port: int,
    date: datetime,
    *,
    suites: Sequence[Suite] = (),
    own: str = ANYBODY,
    peer: str = "",
    size: int = 0,
    number: int = 1,
    sessions: int = 0,
) -> bytes:
    """The block `cryplab_echo` for guest memory.

    Args:
        pem: the client's CA, or the server's certificate and key.
        port: of the server.
        date: what the guest's clock is set to.
        suites: in order of preference; none: the library's own list, which may begin with one that has no AES.
        own: the board's address; 0.0.0.0: by DHCP.
        peer: client: the server's address or name.
        size: client: bytes to send and to have back, in each conversation.
        number: of the board, the last byte of its Ethernet address.
        sessions: conversations at once, for a build with tasks.
    Raises: UsageError when the PEM is too long for the guest.
    """
    text = pem + b"\0"
    if len(text) > PEM_BYTES_MOST:
        raise UsageError(f"certificate and key of {len(text)} bytes; the guest has room for {PEM_BYTES_MOST}")
    numbers = [suite.number for suite in suites[:SUITES_MOST]]
    return LAYOUT.pack(
        MAGIC, int(date.timestamp()), LIMIT_MS, size, port, sessions, IPv4Address(own).packed,
        bytes((2, 0, 0, 0, 0, number)), *numbers, *[0] * (SUITES_MOST - len(numbers)), peer.encode(),
        HOST.encode() if peer else b"", len(text), text,
    )  # fmt: skip


def load(
    machine: Machine,
    program: str,
    wishes: bytes,
    *,
    library: str = "mbedtls",
    build: str = "hardware",
    source: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
    tasks: bool = False,
) -> None:
    """Build `SERVER` or `CLIENT` for a machine and load it, with its wishes; `tasks`: under the kernel, watched."""
    firmware = guest.build(
        program, machine.board, library=library, build=build, source=source, progress=progress, tasks=tasks
    )
    machine.load(firmware)
    machine.write_memory(machine.symbol("cryplab_echo").address, wishes)
    if tasks:
        machine.observe()


def echoed(machine: Machine) -> int:
    """Bytes that went around."""
    return machine.read_word(machine.symbol("cryplab_echoed").address)


@dataclass(frozen=True)
class Side:
    """A board of the conversation, after it."""

    name: str
    build: str
    machine: Machine
    outcome: Outcome

    @property
    def failure(self) -> str:
        """What went wrong, in a sentence."""
        if (self.outcome.reason, self.outcome.code) == ("finished", 0):
            return ""
        said = [
            line for line in self.machine.console.text.splitlines() if "() failed" in line or "came back wrong" in line
        ]
        return f"{self.name}: {said[-1] if said else self.outcome.text or self.outcome.reason}"

    @property
    def findings(self) -> list[Finding]:
        """By the rules of `cryplab explain`; none when nobody watched."""
        return list(self.machine.observer.findings) if self.machine.observer else []

    def to_json(self) -> dict[str, Any]:
        """Fields of `sides[]`."""
        machine = self.machine
        return {
            "name": self.name, "board": machine.board.name, "build": self.build, "echoed": echoed(machine),
            "cycles": machine.clock.now, "seconds": round(machine.clock.seconds(), 9), "failure": self.failure,
            "frames_sent": machine.network.sent, "frames_received": machine.network.received,
            "console": machine.console.text, "findings": [finding.as_json() for finding in self.findings],
        }  # fmt: skip


@dataclass
class EchoResult:
    """A conversation; `sides`: the client, and with a hub the server. `wire`: what an impaired wire did."""

    size: int
    net: str
    library: str
    seed: int
    sides: list[Side]
    wire: str = ""
    quiet: bool = False

    @property
    def echoed(self) -> int:
        """Bytes that came back right."""
        return echoed(self.sides[0].machine)

    @property
    def failure(self) -> str:
        """What went wrong, a sentence for each side; empty when nothing did."""
        return "; ".join(side.failure for side in self.sides if side.failure)

    @property
    def exit_code(self) -> int:
        """0, or 1 when a side failed or a rule was broken."""
        return int(bool(self.failure) or any(side.findings for side in self.sides))

    def to_json(self) -> dict[str, Any]:
        """One document."""
        return {
            "bytes": self.size, "echoed": self.echoed, "net": self.net, "library": self.library, "seed": self.seed,
            "wire": self.wire, "failure": self.failure, "sides": [side.to_json() for side in self.sides],
        }  # fmt: skip

    def render(self) -> list[RenderableType]:
        """What the boards printed, then a line for each."""
        parts: list[RenderableType] = []
        for side in () if self.quiet else self.sides:
            parts += [f"{side.name} printed:", *side.machine.console.text.strip().splitlines(), ""]
        right = ("bytes", "frames out", "in", "cycles", "virtual s")
        table = plain_table("side", "board", "build", *right, right=right)
        for side in self.sides:
            machine = side.machine
            table.add_row(
                side.name, machine.board.name, side.build, str(echoed(machine)), str(machine.network.sent),
                str(machine.network.received), str(machine.clock.now), f"{machine.clock.seconds():.6f}",
            )  # fmt: skip
        parts.append(table)
        parts += ["", self.wire] if self.wire else []
        parts += ["", hanging(f"failed: {self.failure}", 0)] if self.failure else []
        for side in self.sides:
            for finding in side.findings:
                parts += ["", f"{side.name}: {finding.show()}"]
        return parts


def tls_echo(
    size: int,
    *,
    net: str = "hub",
    tasks: int = 0,
    board: str | Path | Board = DEFAULT_BOARD,
    peer_board: str | Path | Board | None = None,
    library: str = "mbedtls",
    build: str = "hardware",
    peer_build: str | None = None,
    suites: Iterable[str] = (),
    impair: Mapping[str, float] | None = None,
    pcap: str | Path | None = None,
    clock: str = "fast",
    seed: int = 0,
    date: datetime | None = None,
    source: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
    on_time: Callable[[float], None] | None = None,
) -> EchoResult:
    """Send bytes by TLS and compare what comes back.

    Args:
        size: bytes, 1 to 2^30.
        net: "hub": the server is a second board, everything is virtual, and two runs are the same to the byte and
            cycle. "user": the server is this host's, through our NAT.
        tasks: conversations at once, 1 to 4, each of `size` bytes and in a task of its own under the small preemptive
            kernel, both boards watched by the rules of `cryplab explain`; 0: one in a main loop.
        board, build: of the client; `peer_board`, `peer_build`: of the server on the hub, default the same.
        library, source: of the reference firmware, on both boards.
        suites: names for `suites.choose`, those with an ECDSA key; default all.
        impair: what the client's wire does, `loss`, `duplicate`, `reorder`: probabilities, see `net.Impaired`.
        pcap: capture file to write, at the client's port.
        clock: "fast" or "exact".
        seed: of the client's random numbers, the wire's and the certificate; the server's is one more.
        date: what both clocks start at.
        progress, on_time: hear what is built, virtual seconds.
    Raises: UsageError, ToolError.
    """
    if not 0 < size <= MOST_BYTES:
        raise UsageError(f"{size} bytes to echo: expected 1 to {MOST_BYTES}")
    if net not in ("hub", "user"):
        raise UsageError(f"net '{net}': expected hub or user")
    if not 0 <= tasks <= MOST_TASKS:
        raise UsageError(f"{tasks} tasks: expected 0 to {MOST_TASKS}")
    if net == "user" and (peer_board or peer_build):
        raise UsageError("a second board goes with net 'hub'; with 'user' the server is this host's")
    chosen = [suite for suite in choose(suites, library) if suite.key == "ECDSA"]
    if not chosen:
        raise UsageError("no suite with an ECDSA key among them; the echo server's certificate has one")
    today = date or DEFAULT_DATE
    firmware = {"library": library, "source": source, "progress": progress, "tasks": tasks > 0}
    plan = _Plan(
        size, tasks, chosen, today, seed, dict(impair or {}), build, peer_build or build, firmware, pcap, on_time
    )

    def machine_of(which: str | Path | Board, number: int) -> Machine:
        target = which if isinstance(which, Board) else boards.find(which)
        return Machine(target, seed=seed + number, clock=cast(ClockMode, clock), date=today)

    client = machine_of(board, 0)
    server = machine_of(peer_board or board, 1) if net == "hub" else None
    sides = _over_hub(plan, client, server) if server else [_with_host(plan, client)]
    told = client.network.complaints[0] if impair else ""
    return EchoResult(size, net, library, seed, sides, told)


@dataclass(frozen=True)
class _Plan:
    """What `tls_echo` was asked for, of both kinds."""

    size: int
    tasks: int
    suites: Sequence[Suite]
    today: datetime
    seed: int
    impair: dict[str, float]
    build: str
    peer_build: str
    firmware: dict[str, Any]
    pcap: str | Path | None
    on_time: Callable[[float], None] | None

    def bad(self, wire: Wire) -> Wire:
        """The client's wire, impaired if that was asked for."""
        return Impaired(wire, seed=self.seed, **self.impair) if self.impair else wire

    def load(self, client: Machine, pem: bytes, port: int, *, own: str = ANYBODY, peer: str) -> None:
        """The client's firmware and wishes; the capture begins."""
        certificate = certificate_of(pem)
        wishes = wish(
            certificate, port, self.today, suites=self.suites, own=own, peer=peer, size=self.size, sessions=self.tasks
        )
        load(client, CLIENT, wishes, build=self.build, **self.firmware)
        if self.pcap:
            client.capture(self.pcap)


def _over_hub(plan: _Plan, client: Machine, server: Machine) -> list[Side]:
    """Both boards run until both have ended."""
    hub, pem = Hub(), seeded_identity(plan.seed, plan.today)
    hub.connect(client, plan.bad)
    hub.connect(server)
    heard = wish(pem, PORT, plan.today, suites=plan.suites, own=SERVER_ADDRESS, number=2, sessions=plan.tasks)
    try:
        load(server, SERVER, heard, build=plan.peer_build, **plan.firmware)
        plan.load(client, pem, PORT, own=CLIENT_ADDRESS, peer=SERVER_ADDRESS)
        outcomes = hub.run(seconds=SECONDS_MOST, on_progress=plan.on_time)
    finally:
        client.disconnect()
        server.disconnect()
    return [Side("client", plan.build, client, outcomes[0]), Side("server", plan.peer_build, server, outcomes[1])]


def _with_host(plan: _Plan, client: Machine) -> Side:
    """The board runs until it has ended; the server is a thread of ours."""
    with LoopbackServer("ECDSA", plan.today, echo) as host:
        client.connect(plan.bad(Nat([f"localhost:{host.port}"])))
        try:
            plan.load(client, host.ca.read_bytes(), host.port, peer=GATEWAY)
            outcome = client.run(seconds=SECONDS_MOST, on_progress=plan.on_time)
        finally:
            client.disconnect()
    return Side("client", plan.build, client, outcome)
