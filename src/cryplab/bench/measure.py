"""One build of a benchmark on one machine: rows, and what the accelerators had to do with them."""

from __future__ import annotations

import bisect
import itertools
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from cryplab.bench.formats import BYTES_PER_SECOND, Measurement, read
from cryplab.bench.limits import Limit, limit_of
from cryplab.bench.rows import Column
from cryplab.board import Board
from cryplab.errors import FirmwareError, GuestCrash, LimitReached
from cryplab.machine import ClockMode, Machine, Outcome
from cryplab.observe.operations import cycles_inside
from cryplab.reports import Operation

__all__ = ["BuildRun", "Job", "MeasuredRow", "run_job"]

ROW = struct.Struct("<IIIIQQ")
"`struct cryplab_row` of guest/common/rows.h: name, unit, calls, bytes, start cycle, cycles."
ROWS, ROWS_COUNT, FILTER, FILTER_MAGIC = "cryplab_rows", "cryplab_rows_count", "cryplab_filter", "cryplab_filter_magic"
FILTER_BYTES, FILTER_WANTED = 64, 0x43524C42
LONGEST_NAME = 64
CYCCNT, COUNTER_RANGE = 0x004, 1 << 32
SECONDS_MOST = 600.0
LAST_WORDS = ("Benchmark complete", "\nDONE", "Benchmark Test Completed")
QUIET_SECONDS, QUIET_GAPS = 5.0, 3.0

Progress = Callable[[int, float], None]
"""Rows so far, virtual seconds."""


@dataclass(frozen=True, slots=True)
class Job:
    """What one process runs: a reference ELF with its rows in memory, or a user's firmware that prints them."""

    build: str
    board: Board
    firmware: Path
    clock: str = "exact"
    seed: int = 0
    row_filter: str = ""
    reference: bool = True


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """A row of one build."""

    name: str
    unit: str
    column: Column
    limit: Limit


@dataclass(slots=True)
class BuildRun:
    """What one build gave."""

    build: str
    clock_hz: int
    rows: list[MeasuredRow] = field(default_factory=list)
    console: str = ""
    code: int = 0
    operations: int = 0


@dataclass(slots=True)
class _Window:
    """The measured part of a row."""

    name: str
    unit: str
    value: float
    calls: int
    data_bytes: int
    start: int
    end: int
    cycles: int


def run_job(job: Job, progress: Progress | None = None) -> BuildRun:
    """Run one build to its end.

    Raises: GuestCrash, LimitReached when the benchmark did not end in 600 virtual seconds, InputError for
    a firmware that prints no rows.
    """
    machine = Machine(job.board, seed=job.seed, clock=cast(ClockMode, job.clock))
    operations: list[Operation] = []
    machine.reports.operations_kept = 0  # every one counts here, so the list of the reports need not grow
    machine.reports.on_operation = operations.append
    machine.load(job.firmware)
    if job.reference:
        windows, outcome = _run_reference(machine, job, progress)
    else:
        windows, outcome = _run_firmware(machine, job, progress)
    if outcome.exit_code == GuestCrash.exit_code:
        raise GuestCrash(f"{job.firmware.name} ({job.build}): {outcome.text or outcome.reason}", outcome.crash)
    rows = _attribute(windows, operations, machine)
    return BuildRun(job.build, machine.clock.hz, rows, machine.console.text, outcome.code or 0, len(operations))


# -- reference firmware ----------------------------------------------------------------------------
def _run_reference(machine: Machine, job: Job, progress: Progress | None) -> tuple[list[_Window], Outcome]:
    count_at = machine.symbol(ROWS_COUNT).address
    wanted = job.row_filter.encode()
    if wanted and len(wanted) < FILTER_BYTES:
        machine.write_memory(machine.symbol(FILTER).address, wanted.ljust(FILTER_BYTES, b"\0"))
        machine.write_memory(machine.symbol(FILTER_MAGIC).address, FILTER_WANTED.to_bytes(4, "little"))
    tick = (lambda seconds: progress(machine.read_word(count_at), seconds)) if progress else None
    outcome = machine.run(seconds=SECONDS_MOST, on_progress=tick)
    if outcome.reason not in ("finished", "fault", "lockup", "reset"):
        raise LimitReached(f"{job.firmware.name} ({job.build}) did not end: {outcome.text or outcome.reason}")
    return _read_rows(machine, count_at), outcome


def _read_rows(machine: Machine, count_at: int) -> list[_Window]:
    start = machine.symbol(ROWS).address
    # the guest counts from the moment it started DWT's counter, the machine from reset
    begun = (machine.clock.now - machine.blocks["DWT"].read(CYCCNT)) % COUNTER_RANGE
    windows = []
    for index in range(machine.read_word(count_at)):
        raw = machine.read_memory(start + index * ROW.size, ROW.size)
        name_at, unit_at, calls, data_bytes, begin, cycles = ROW.unpack(raw)
        name, unit = _text(machine, name_at), _text(machine, unit_at)
        value = _value(unit, calls, data_bytes, cycles, machine.clock.hz)
        windows.append(_Window(name, unit, value, calls, data_bytes, begun + begin, begun + begin + cycles, cycles))
    return windows


def _value(unit: str, calls: int, data_bytes: int, cycles: int, hz: int) -> float:
    """In the row's unit. Raises: FirmwareError for a unit that is neither a throughput nor ms."""
    if not cycles:
        return 0.0
    if unit in BYTES_PER_SECOND:
        return data_bytes * hz / cycles / BYTES_PER_SECOND[unit]
    if unit == "ms":
        return cycles * 1000 / hz / max(1, calls)
    raise FirmwareError(f"a row of {ROWS} has unit '{unit}'; expected ms, {', '.join(BYTES_PER_SECOND)}")


def _text(machine: Machine, address: int) -> str:
    """A zero-terminated string of guest memory."""
    found = bytearray()
    while len(found) < LONGEST_NAME and (byte := machine.read_memory(address + len(found), 1)[0]):
        found.append(byte)
    return found.decode("utf-8", "replace")


# -- a user's firmware -----------------------------------------------------------------------------
def _run_firmware(machine: Machine, job: Job, progress: Progress | None) -> tuple[list[_Window], Outcome]:
    """Run until the program has said its last words, sleeps, or prints nothing for long."""

    def watch(seconds: float) -> None:
        lines = machine.console.line_cycles
        if progress:
            progress(len(lines), seconds)
        stamps = [machine.clock.seconds(cycle) for _, cycle in lines]
        gaps = [b - a for a, b in itertools.pairwise(stamps)]
        quiet = max(QUIET_SECONDS, QUIET_GAPS * max(gaps, default=0.0))
        if any(w in machine.console.text for w in LAST_WORDS) or (stamps and seconds - stamps[-1] > quiet):
            machine.stop()

    outcome = machine.run(seconds=SECONDS_MOST, on_progress=watch)
    if outcome.exit_code == GuestCrash.exit_code:
        return [], outcome
    return _console_windows(machine, read(machine.console.text, f"what {job.firmware.name} printed")), outcome


def _console_windows(machine: Machine, rows: Sequence[Measurement]) -> list[_Window]:
    """A row was measured between the line before it and its own; what a line says of bytes and time counts."""
    ends = [cycle for _, cycle in machine.console.lines()]
    hz = machine.clock.hz
    windows = []
    for row in rows:
        end = ends[row.line - 1] if row.line <= len(ends) else machine.clock.now
        start = ends[row.line - 2] if 2 <= row.line <= len(ends) + 1 else 0
        speed = row.bytes_per_second
        if speed is None:
            calls = max(1, row.calls)
            cycles, data_bytes = round((row.milliseconds or 0.0) * calls * hz / 1000), 0
        else:
            calls, cycles = 1, round(row.seconds * hz) or end - start
            data_bytes = round(row.data_bytes) or round(speed * cycles / hz)
        windows.append(_Window(row.name, row.unit, row.value, calls, data_bytes, start, end, cycles))
    return windows


# -- attribution -----------------------------------------------------------------------------------
def _attribute(windows: Sequence[_Window], operations: list[Operation], machine: Machine) -> list[MeasuredRow]:
    operations.sort(key=lambda o: o.last_cycle)
    longest = max((o.last_cycle - o.first_cycle for o in operations), default=0)
    ends = [o.last_cycle for o in operations]
    rows = []
    for w in windows:
        first, last = bisect.bisect_right(ends, w.start), bisect.bisect_left(ends, w.end + longest)
        inside = [o for o in operations[first:last] if o.first_cycle < w.end]
        length = w.end - w.start
        share = cycles_inside(inside, w.start, w.end) / length if length else 0.0
        blocks = tuple(sorted({o.block for o in inside}))
        column = Column(w.value, w.cycles, w.data_bytes, w.calls, share, blocks)
        per_call = w.data_bytes / max(1, w.calls)
        limit = limit_of(w.name, w.unit, per_call, machine.chip, machine.clock.hz, inside, w.calls)
        rows.append(MeasuredRow(w.name, w.unit, column, limit))
    return rows
