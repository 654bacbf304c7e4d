"""The before/after bench: build, run the builds side by side, put their rows together."""

from __future__ import annotations

import fnmatch
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from cryplab import board as boards
from cryplab import guest
from cryplab.bench import published
from cryplab.bench.formats import BYTES_PER_SECOND, write
from cryplab.bench.limits import Limit
from cryplab.bench.measure import BuildRun, Job, run_job
from cryplab.bench.rows import BenchRow, convert
from cryplab.bench.table import bench_tables, markdown
from cryplab.bench.worker import run_in_process
from cryplab.board import Board
from cryplab.errors import UsageError, nearest

__all__ = ["BenchResult", "bench"]

SOFTWARE, HARDWARE = "software", "hardware"
TEXT_FORMS = ("mbedtls", "mbedtls-2.28", "wolfcrypt", "ctaocrypt")


@dataclass(slots=True)
class BenchResult:
    """The table and where it came from.

    `builds` are the columns in order; the first is what the last is compared with.
    """

    board: Board
    library: str
    clock: str
    seed: int
    clock_hz: int
    builds: tuple[str, ...]
    rows: list[BenchRow]
    console: dict[str, str] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """1 when a build reported failure."""
        return int(any(self.codes.values()))

    @property
    def before(self) -> str:
        """The column that JSON calls `software`."""
        return SOFTWARE if SOFTWARE in self.builds or len(self.builds) == 1 else self.builds[0]

    @property
    def after(self) -> str:
        """The column that JSON calls `hardware`."""
        return next((b for b in self.builds if b != self.before), HARDWARE)

    def row(self, name: str) -> BenchRow:
        """The row of that name, in any spelling. Raises: UsageError."""
        for row in self.rows:
            if published.canonical(row.name) == published.canonical(name):
                return row
        raise UsageError(f"there is no row '{name}'{nearest(name, [r.name for r in self.rows])}")

    def to_json(self) -> dict[str, Any]:
        """The document of `bench --json`; cycles and bytes are sums over `calls`."""
        return {
            "board": self.board.name,
            "library": self.library,
            "clock_hz": self.clock_hz,
            "clock": self.clock,
            "seed": self.seed,
            "builds": list(self.builds),
            "rows": [row.to_json(self.before, self.after) for row in self.rows],
            "console": self.console,
        }

    @property
    def heading(self) -> str:
        """Board, library and clock in a line."""
        return f"{self.board.title}, {self.library}, {self.clock_hz / 1e6:g} MHz, {self.clock} clock"

    def render(self, form: str = "table") -> RenderableType:
        """The table, or text as a benchmark program prints it: one part for each build.

        In the form of 2012 the table follows, with what was published beside it.
        """
        if form == "ctaocrypt":
            return Group(self._texts(form), "", bench_tables(self.rows, self.builds, "predicted beside published"))
        if form == "table":
            return bench_tables(self.rows, self.builds, self.heading)
        if form == "markdown":
            return markdown(self.rows, self.builds, self.heading)
        return self._texts(form)

    def draw(self, path: Path) -> Path:
        """A chart of all rows: bars for each build."""
        from cryplab.bench.chart import Bar, draw_bars

        bars = []
        for row in self.rows:
            columns = [row.columns.get(build) for build in self.builds]
            bars.append(Bar(row.name, row.unit, tuple(None if c is None else c.value for c in columns)))
        return draw_bars(path, self.heading, self.builds, bars, "predicted by cryplab")

    def _texts(self, form: str) -> str:
        return "\n\n".join(f"{self.heading}, {build}\n\n{self._text(build, form)}" for build in self.builds)

    def _text(self, build: str, form: str) -> str:
        found = [row.measurement(build, self.clock_hz) for row in self.rows]
        return write([m for m in found if m is not None], form, self.clock_hz)


def bench(
    board: str | Path | Board,
    *,
    firmware: Sequence[str | Path] = (),
    library: str = "mbedtls",
    builds: Sequence[str] = (),
    rows: str | None = None,
    clock: str = "exact",
    seed: int = 0,
    source: str | Path | None = None,
    jobs: int = 2,
    progress: Callable[[str], None] | None = None,
    program: str = "benchmark",
    math: str = "",
) -> BenchResult:
    """Run the benchmark and put the builds beside each other.

    Args:
        board: name, file or `Board`.
        firmware: a user's own benchmark instead of the reference one: one file, or before and after;
            rows are taken from what they print.
        library: of the reference firmware.
        builds: of the reference firmware; default software and hardware. A single accelerated build
            is compared with software.
        rows: globs, separated by commas; case does not matter.
        clock: "exact" or "fast".
        seed: of all random choices.
        source: library sources from this folder.
        jobs: processes at a time; 1 runs in this process.
        progress: called with a line of text now and then.
        program: of the reference firmware: "benchmark", or wolfssl's "ctaocrypt".
        math: big integers of wolfssl, see `guest.build`.
    Raises: UsageError, InputError, ToolError, GuestCrash, LimitReached.
    """
    target = board if isinstance(board, Board) else boards.find(board)
    say = progress or (lambda text: None)
    row_filter = rows or ""
    if firmware:
        todo = _firmware_jobs(target, firmware, clock, seed)
    else:
        todo = [
            Job(
                b,
                target,
                guest.build(program, target, library, b, source, say, math),
                clock,
                seed,
                row_filter,
                reference=(library, program) != ("wolfssl", "benchmark"),
            )  # wolfCrypt's own prints its rows
            for b in _builds(builds)
        ]
    runs = _run_all(todo, jobs, say)
    if len(firmware) == 1:
        runs[0].build = HARDWARE if runs[0].operations else SOFTWARE
    table = _merge(runs, target.name, library)
    if row_filter:
        table = _filtered(table, row_filter, target.name, library)
    return BenchResult(
        target, library, clock, seed, runs[-1].clock_hz, tuple(r.build for r in runs), table,
        {r.build: r.console for r in runs}, {r.build: r.code for r in runs},
    )  # fmt: skip


def _builds(named: Sequence[str]) -> list[str]:
    builds = list(dict.fromkeys(named)) or [SOFTWARE, HARDWARE]
    if len(builds) == 1 and builds[0] != SOFTWARE:
        builds.insert(0, SOFTWARE)
    return sorted(builds, key=lambda b: b != SOFTWARE)


def _firmware_jobs(board: Board, firmware: Sequence[str | Path], clock: str, seed: int) -> list[Job]:
    if len(firmware) > 2:
        raise UsageError(f"{len(firmware)} firmware files; expected one, or two: before and after")
    names = (SOFTWARE, HARDWARE)
    return [Job(n, board, Path(f), clock, seed, reference=False) for n, f in zip(names, firmware, strict=False)]


def _run_all(todo: Sequence[Job], jobs: int, say: Callable[[str], None]) -> list[BuildRun]:
    state: dict[str, str] = {}
    lock = threading.Lock()

    def progress_of(job: Job) -> Callable[[int, float], None]:
        def tick(count: int, seconds: float) -> None:
            with lock:
                state[job.build] = f"{job.build}: {count} rows, {seconds:.1f} s virtual"
                say("; ".join(state.values()))

        return tick

    if jobs <= 1 or len(todo) == 1:
        return [run_job(job, progress_of(job)) for job in todo]
    processes: list[Any] = []
    with ThreadPoolExecutor(jobs) as pool:
        started = [pool.submit(run_in_process, job, progress_of(job), processes) for job in todo]
        try:
            return [future.result() for future in started]
        except BaseException:
            for future in started:
                future.cancel()
            for process in processes:
                process.terminate()
            raise


def _merge(runs: Sequence[BuildRun], board: str, library: str) -> list[BenchRow]:
    """Rows by name, in the order in which they were first met, in the unit in which they were first met.

    A program may print KiB/s in one build and MiB/s in another.
    """
    table: dict[tuple[str, bool], BenchRow] = {}
    for run in runs:
        for measured in run.rows:
            key = measured.name, measured.unit in BYTES_PER_SECOND
            row = table.setdefault(key, BenchRow(measured.name, measured.unit))
            value = convert(measured.column.value, measured.unit, row.unit)
            if value is None:  # ms in one build, operations a second in another of no time
                continue
            row.columns[run.build] = replace(measured.column, value=value)
            limit = measured.limit
            if limit != Limit():
                cpu, dma = (None if v is None else convert(v, measured.unit, row.unit) for v in (limit.cpu, limit.dma))
                row.limit = Limit(cpu, dma)
    for row in table.values():
        row.published_software = published.find(board, library, SOFTWARE, row.name)
        row.published_hardware = published.find(board, library, HARDWARE, row.name)
    return list(table.values())


def _filtered(table: list[BenchRow], row_filter: str, board: str, library: str) -> list[BenchRow]:
    globs = [g.strip().lower() for g in row_filter.split(",")]
    kept = [r for r in table if any(fnmatch.fnmatchcase(r.name.lower(), g) for g in globs)]
    if not kept:
        known = [r.name for r in table] or [p.row for p in published.all_rows()]
        raise UsageError(f"no row matches '{row_filter}'{nearest(row_filter.strip('*'), known)}")
    return kept
