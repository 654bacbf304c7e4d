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
from cryplab import guest
from cryplab.board import Board
from cryplab.errors import UsageError
from cryplab.machine import DEFAULT_DATE
from cryplab.show import plain_table
from cryplab.tls.client import DEFAULT_BOARD, PROGRAM
from cryplab.tls.measure import Job, Measured, measure_all
from cryplab.tls.server import LoopbackServer, page
from cryplab.tls.suites import Suite, choose

__all__ = ["TlsBench", "TlsRow", "tls_bench"]

PAGE_BYTES = 64 * 1024
DEFAULT_BITS = 128
BUILDS = ("software", "hardware")
EXCHANGE = "ECDHE-"
"How every suite's name begins."


@dataclass(slots=True)
class TlsRow:
    """A suite on a board with a library; `builds` by name."""

    board: Board
    library: str
    suite: Suite
    builds: dict[str, Measured] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Fields of `rows[]`."""
        return {
            "board": self.board.name,
            "library": self.library,
            "suite": self.suite.name,
            **{
                build: {
                    "handshake_ms": round(m.handshake_ms, 3), "kib_per_second": round(m.kib_per_second, 1),
                    "handshake_share": round(m.handshake_share, 6), "hardware_share": round(m.record_share, 6),
                    "failure": m.failure,
                }
                for build, m in self.builds.items()
            },
        }  # fmt: skip

    def cells(self) -> list[str]:
        """Suite, milliseconds and KB/s of each build, shares of the last one."""
        measured = list(self.builds.values())
        last = measured[-1]
        return [
            self.suite.openssl.removeprefix(EXCHANGE),
            *(f"{m.handshake_ms:.1f}" if not m.failure else "failed" for m in measured),
            *(f"{m.kib_per_second:.0f}" if not m.failure else "failed" for m in measured),
            f"{100 * last.handshake_share:.2f} %",
            f"{100 * last.record_share:.0f} %",
        ]


@dataclass
class TlsBench:
    """The matrix."""

    clock: str
    rows: list[TlsRow] = field(default_factory=list)
    as_markdown: bool = False

    @property
    def failures(self) -> list[str]:
        """Sessions that failed, a sentence each."""
        return [m.failure for row in self.rows for m in row.builds.values() if m.failure]

    @property
    def exit_code(self) -> int:
        """1 when a session failed."""
        return int(bool(self.failures))

    def to_json(self) -> dict[str, Any]:
        """One document; `board` and `library` are those of the first row."""
        return {
            "board": self.rows[0].board.name,
            "library": self.rows[0].library,
            "clock": self.clock,
            "page_bytes": PAGE_BYTES,
            "rows": [row.to_json() for row in self.rows],
        }

    def render(self) -> list[RenderableType]:
        """A table for each board and library, then the failures."""
        parts: list[RenderableType] = []
        builds = list(self.rows[0].builds)
        for name, library in dict.fromkeys((row.board.name, row.library) for row in self.rows):
            rows = [row for row in self.rows if (row.board.name, row.library) == (name, library)]
            parts += [f"{rows[0].board.title}, {library}, {self.clock} clock", ""]
            parts += self._markdown(builds, rows) if self.as_markdown else [self._table(builds, rows)]
            parts.append("")
        return [
            *parts,
            "ms: handshake, virtual time without waiting; KB/s: records received, a page of",
            f"{PAGE_BYTES // 1024} KB; in HW: share of that time inside jobs of CRYP and HASH, {builds[-1]} build.",
            f"All suites are TLS 1.2 with {EXCHANGE.removesuffix('-')}.",
            *self.failures,
        ]

    def _table(self, builds: list[str], rows: list[TlsRow]) -> RenderableType:
        columns = [f"{build}\n{unit}" for unit in ("ms", "KB/s") for build in builds] + [
            "in HW\nof ms",
            "in HW\nof KB/s",
        ]
        table = plain_table("suite", *columns, right=tuple(columns))
        for row in rows:
            table.add_row(*row.cells())
        return table

    def _markdown(self, builds: list[str], rows: list[TlsRow]) -> list[RenderableType]:
        heads = ["suite", *(f"{build} {unit}" for unit in ("ms", "KB/s") for build in builds)]
        heads += ["in HW of ms", "in HW of KB/s"]
        return [
            f"| {' | '.join(heads)} |",
            f"|---|{'---:|' * (len(heads) - 1)}",
            *(f"| {' | '.join(row.cells())} |" for row in rows),
        ]


def tls_bench(
    board: str | Path | Board | Sequence[str | Path | Board] = DEFAULT_BOARD,
    *,
    library: str | Sequence[str] = "mbedtls",
    builds: Sequence[str] = BUILDS,
    suites: Iterable[str] = (),
    clock: str = "fast",
    seed: int = 0,
    date: datetime | None = None,
    source: str | Path | None = None,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> TlsBench:
    """A session for each board, library, suite and build with a server of our own on the loopback.

    Args:
        board, library: one or several; builds, source: of the reference firmware.
        suites: names for `suites.choose`; default those with 128-bit keys.
        clock, seed, date: of the guest.
        jobs: sessions at the same time, each in a process of its own.
        progress: hears what runs.
    Raises: UsageError, ToolError, LimitReached.
    """
    if jobs < 1:
        raise UsageError(f"{jobs} sessions at the same time: expected 1 or more")
    several = [board] if isinstance(board, str | Path | Board) else list(board)
    targets = [one if isinstance(one, Board) else boards.find(one) for one in several]
    libraries = [library] if isinstance(library, str) else list(library)
    wanted = list(suites)
    chosen = {
        name: [suite for suite in choose(wanted, name) if wanted or suite.key_bits == DEFAULT_BITS]
        for name in libraries
    }  # fmt: skip
    say = progress or (lambda _line: None)
    today = date or DEFAULT_DATE
    result = TlsBench(
        clock, [TlsRow(one, name, suite) for one in targets for name in libraries for suite in chosen[name]]
    )
    for one in targets:
        for name in libraries:
            for build in builds:
                guest.build(PROGRAM, one, library=name, build=build, source=source, progress=say)
    with ExitStack() as open_servers:
        body = page(b"x" * PAGE_BYTES)
        servers = {
            key: open_servers.enter_context(LoopbackServer(key, today, body))
            for key in dict.fromkeys(row.suite.key for row in result.rows)
        }
        sessions = [
            Job(servers[row.suite.key].target, servers[row.suite.key].ca, row.board, row.library, build,
                row.suite.name, clock, seed, today, source)
            for row in result.rows for build in builds
        ]  # fmt: skip
        measured = iter(measure_all(sessions, jobs, say))
    for row in result.rows:
        row.builds = {build: next(measured) for build in builds}
    return result
