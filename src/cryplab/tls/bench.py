"""`cryplab tls-bench`: time of a handshake and speed of records for each cipher suite, builds side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from cryplab import board as boards
from cryplab.board import Board
from cryplab.machine import DEFAULT_DATE
from cryplab.show import plain_table
from cryplab.tls.client import DEFAULT_BOARD, tls_client
from cryplab.tls.server import LoopbackServer, page
from cryplab.tls.suites import Suite, choose

__all__ = ["TlsBench", "TlsRow", "tls_bench"]

PAGE_BYTES = 64 * 1024
DEFAULT_BITS = 128
BUILDS = ("software", "hardware")


@dataclass(frozen=True, slots=True)
class Measured:
    """One session: virtual milliseconds of the handshake without waiting, KB/s (1024 bytes) of records received."""

    handshake_ms: float
    kib_per_second: float
    hardware_share: float
    failure: str = ""


@dataclass(slots=True)
class TlsRow:
    """A suite; `builds` by name."""

    suite: Suite
    builds: dict[str, Measured] = field(default_factory=dict)


@dataclass
class TlsBench:
    """The matrix."""

    board: Board
    library: str
    clock: str
    rows: list[TlsRow] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """1 when a session failed."""
        return int(any(measured.failure for row in self.rows for measured in row.builds.values()))

    def to_json(self) -> dict[str, Any]:
        """One document."""
        return {
            "board": self.board.name,
            "library": self.library,
            "clock": self.clock,
            "page_bytes": PAGE_BYTES,
            "rows": [
                {"suite": row.suite.name,
                 **{build: {"handshake_ms": round(m.handshake_ms, 3), "kib_per_second": round(m.kib_per_second, 1),
                            "hardware_share": round(m.hardware_share, 6), "failure": m.failure}
                    for build, m in row.builds.items()}}
                for row in self.rows
            ],
        }  # fmt: skip

    def render(self) -> list[RenderableType]:
        """The table, then the failures."""
        builds = list(dict.fromkeys(build for row in self.rows for build in row.builds))
        columns = [f"{build} {unit}" for unit in ("ms", "KB/s") for build in builds]
        table = plain_table("suite", *columns, "in HW", right=(*columns, "in HW"))
        for row in self.rows:
            measured = [row.builds[build] for build in builds]
            table.add_row(
                row.suite.openssl,
                *(f"{m.handshake_ms:.1f}" if not m.failure else "failed" for m in measured),
                *(f"{m.kib_per_second:.0f}" if not m.failure else "failed" for m in measured),
                f"{100 * measured[-1].hardware_share:.0f} %",
            )
        failures = [m.failure for row in self.rows for m in row.builds.values() if m.failure]
        return [
            f"{self.board.title}, {self.library}, {self.clock} clock", "", table, "",
            f"ms: handshake, virtual time without waiting; KB/s: records received, a page of {PAGE_BYTES // 1024} KB;",
            f"in HW: share of the records' time, {builds[-1]} build", *failures,
        ]  # fmt: skip


def tls_bench(
    board: str | Path | Board = DEFAULT_BOARD,
    *,
    library: str = "mbedtls",
    builds: Sequence[str] = BUILDS,
    suites: Iterable[str] = (),
    clock: str = "fast",
    seed: int = 0,
    date: datetime | None = None,
    source: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> TlsBench:
    """A session for each suite and build with a server of our own on the loopback.

    Args:
        board, library, builds, source: of the reference firmware.
        suites: names for `suites.choose`; default those with 128-bit keys.
        clock, seed, date: of the guest.
        progress: hears what runs.
    Raises: UsageError, ToolError, LimitReached.
    """
    target = board if isinstance(board, Board) else boards.find(board)
    wanted = list(suites)
    chosen = [suite for suite in choose(wanted) if wanted or suite.key_bits == DEFAULT_BITS]
    say = progress or (lambda _line: None)
    today = date or DEFAULT_DATE
    result = TlsBench(target, library, clock)
    with ExitStack() as open_servers:
        body = page(b"x" * PAGE_BYTES)
        servers = {
            key: open_servers.enter_context(LoopbackServer(key, today, body))
            for key in dict.fromkeys(suite.key for suite in chosen)
        }
        for suite in chosen:
            row = TlsRow(suite)
            for build in builds:
                say(f"{suite.openssl}, {build}")
                server = servers[suite.key]
                session = tls_client(
                    server.target, board=target, library=library, build=build, suites=[suite.name], ca=server.ca,
                    clock=clock, seed=seed, date=today, source=source, print_bytes=0, observe=False, progress=say,
                )  # fmt: skip
                times = {phase.name: phase for phase in session.phases}
                handshake, response = times.get("handshake"), times.get("response")
                row.builds[build] = Measured(
                    handshake.busy_milliseconds if handshake else 0.0,
                    response.kib_per_second if response else 0.0,
                    response.hardware_share if response else 0.0,
                    f"{suite.openssl}, {build}: {session.failure}" if session.failure else "",
                )
            result.rows.append(row)
    return result
