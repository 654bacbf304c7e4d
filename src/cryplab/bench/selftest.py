"""`cryplab selftest`: the library's own self-tests on the virtual board, as a table of results."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from junitparser import Failure, JUnitXml, TestCase, TestSuite
from rich.console import RenderableType

from cryplab import guest
from cryplab.board import Board
from cryplab.errors import GuestCrash, LimitReached
from cryplab.machine import ClockMode, Machine
from cryplab.show import plain_table, width

__all__ = ["SelftestResult", "SelftestRow", "selftest"]

RESULT = struct.Struct("<IIIIQQ")
"`struct cryplab_result` of guest/common/rows.h: suite, name, passed, failed, start cycle, cycles."
PRINTED_CASE = re.compile(r"(.*\S)\s+test (passed|failed)!")
"A verdict of wolfCrypt's test, which stops at the first that fails."
LONGEST_NAME = 96
SECONDS_MOST = 600.0
FULL_TABLE_WIDTH = 130


@dataclass(frozen=True, slots=True)
class SelftestRow:
    """One case. `elapsed` is virtual seconds; `operations` counts crypto jobs that went through hardware."""

    build: str
    suite: str
    case: str
    passed: int
    failed: int
    elapsed: float
    operations: int

    @property
    def result(self) -> str:
        """`OK`, or `FAIL` when anything failed or nothing was tested."""
        return "OK" if self.passed and not self.failed else "FAIL"


@dataclass
class SelftestResult:
    """All cases of all builds."""

    board: Board
    library: str
    rows: list[SelftestRow] = field(default_factory=list)
    console: dict[str, str] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    findings: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """1 when a case failed, a build reported failure or there is no case at all."""
        bad = any(row.result != "OK" for row in self.rows) or any(self.codes.values())
        return int(bad or not self.rows)

    def to_json(self) -> dict[str, Any]:
        """One document."""
        return {
            "board": self.board.name,
            "library": self.library,
            "rows": [
                {"target": self.board.name, "platform": self.board.chip.name, "build": r.build, "suite": r.suite,
                 "case": r.case, "passed": r.passed, "failed": r.failed, "result": r.result, "elapsed": r.elapsed,
                 "hardware_operations": r.operations}
                for r in self.rows
            ],
            "console": self.console,
            "codes": self.codes,
        }  # fmt: skip

    def render(self) -> list[RenderableType]:
        """The table, then a sentence; target, platform and suite stand above where lines are short."""
        bad = [r for r in self.rows if r.result != "OK"]
        builds = ", ".join(dict.fromkeys(r.build for r in self.rows))
        sentence = f"{len(self.rows) - len(bad)} of {len(self.rows)} cases OK ({builds}); elapsed is virtual time"
        if width() >= FULL_TABLE_WIDTH:
            return [self._table(self.rows, ("target", "platform", "suite")), "", sentence]
        parts: list[RenderableType] = []
        for build in dict.fromkeys(r.build for r in self.rows):
            rows = [r for r in self.rows if r.build == build]
            head = f"target {self.board.name}, platform {self._platform(rows[0])}, suite {rows[0].suite}"
            parts += [head, self._table(rows, ()), ""]
        return [*parts, sentence]

    def _platform(self, row: SelftestRow) -> str:
        return f"{self.board.chip.name.upper()}-{row.build}"

    def _table(self, rows: list[SelftestRow], more: tuple[str, ...]) -> RenderableType:
        table = plain_table(*more, "case", "passed", "failed", "result", "elapsed (s)",
                            right=("passed", "failed", "elapsed (s)"))  # fmt: skip
        for r in rows:
            first = (self.board.name, self._platform(r), r.suite) if more else ()
            table.add_row(*first, r.case, str(r.passed), str(r.failed), r.result, f"{r.elapsed:.3f}")
        return table

    def write_junit(self, path: Path) -> None:
        """JUnit XML: one suite a build."""
        xml = JUnitXml()
        for build in dict.fromkeys(r.build for r in self.rows):
            suite = TestSuite(f"{self.board.name}.{build}")
            for r in self.rows:
                if r.build == build:
                    case = TestCase(r.case, f"{r.suite}", round(r.elapsed, 6))
                    if r.result != "OK":
                        case.result = [Failure(f"{r.failed} failed, {r.passed} passed")]
                    suite.add_testcase(case)
            xml.add_testsuite(suite)
        xml.write(str(path), pretty=True)


def selftest(
    board: Board,
    *,
    library: str = "mbedtls",
    builds: Sequence[str] = ("software", "hardware"),
    clock: ClockMode = "fast",
    seed: int = 0,
    source: Path | None = None,
    progress: Callable[[str], None] | None = None,
    math: str = "",
) -> SelftestResult:
    """Build and run the self-tests of a library in each build.

    Raises: ToolError, GuestCrash, LimitReached.
    """
    result = SelftestResult(board, library)
    tick = progress or (lambda text: None)
    for build in builds:
        tick(f"{build}: building")
        elf = guest.build("selftest", board, library, build, source, tick, math)
        _run(result, board, build, elf, clock, seed, tick)
    return result


def _run(
    result: SelftestResult,
    board: Board,
    build: str,
    elf: Path,
    clock: ClockMode,
    seed: int,
    tick: Callable[[str], None],
) -> None:
    machine = Machine(board, seed=seed, clock=clock)
    machine.load(elf)
    outcome = machine.run(seconds=SECONDS_MOST, on_progress=lambda s: tick(f"{build}: virtual time {s:.2f} s"))
    if outcome.exit_code == GuestCrash.exit_code:
        raise GuestCrash(f"{elf.name}: {outcome.text or outcome.reason}", outcome.crash)
    if outcome.reason != "finished":
        raise LimitReached(f"{elf.name} did not end: {outcome.text or outcome.reason}")
    result.console[build], result.codes[build] = machine.console.text, outcome.code or 0
    if machine.image is not None and machine.image.symbols.get("cryplab_results") is None:
        result.rows += _printed_rows(machine, build)
        return
    start, count = (
        machine.symbol("cryplab_results").address,
        machine.read_word(machine.symbol("cryplab_results_count").address),
    )
    for index in range(count):
        raw = machine.read_memory(start + index * RESULT.size, RESULT.size)
        suite_at, name_at, passed, failed, begin, cycles = RESULT.unpack(raw)
        inside = [o for o in machine.reports.operations if begin <= o.last_cycle < begin + cycles]
        row = SelftestRow(
            build, _text(machine, suite_at), _text(machine, name_at), passed, failed, cycles / machine.clock.hz,
            len(inside),
        )  # fmt: skip
        result.rows.append(row)


def _printed_rows(machine: Machine, build: str) -> list[SelftestRow]:
    """Cases of wolfCrypt's test: one line each, `AES      test passed!`; a case begins where the line before ended."""
    rows, begin = [], 0
    for line, end in machine.console.lines():
        if match := PRINTED_CASE.fullmatch(line.strip()):
            passed = match[2] == "passed"
            inside = sum(begin <= o.last_cycle < end for o in machine.reports.operations)
            seconds = (end - begin) / machine.clock.hz
            rows.append(SelftestRow(build, "wolfcrypt-test", match[1], int(passed), int(not passed), seconds, inside))
        begin = end
    return rows


def _text(machine: Machine, address: int) -> str:
    return machine.read_memory(address, LONGEST_NAME).split(b"\0")[0].decode("utf-8", "replace")
