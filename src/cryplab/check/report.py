"""What a check found: verdicts by algorithm and group, failures as Python, findings; as text, JSON and JUnit."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from junitparser import Failure as JunitFailure
from junitparser import JUnitXml, Skipped, TestCase, TestSuite
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cryplab.check.presence import Missing
from cryplab.show import plain_table

__all__ = ["CheckResult", "Failure", "Verdict"]

COLUMNS = 80
GROUPS_COLUMNS, TIE = 47, "\x1f"
SHOWN_FAILURES = 2
NAMED_FUNCTIONS = 4
NAMED_REASONS = 6


@dataclass(slots=True)
class Verdict:
    """One group of one algorithm: cases run, calls made, cases that failed, that the API does not do, left out.

    `why`: what the API does not do, in sentences, with the number of cases.
    """

    algorithm: str
    group: str
    cases: int = 0
    calls: int = 0
    failed: int = 0
    unsupported: int = 0
    skipped: int = 0
    why: dict[str, int] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """`OK`, `FAIL`, `unsupported`."""
        if self.failed:
            return "FAIL"
        return "unsupported" if self.cases and self.unsupported == self.cases else "OK"

    def add(self, other: Verdict) -> None:
        """Sum up."""
        for name in ("cases", "calls", "failed", "unsupported", "skipped"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for reason, cases in other.why.items():
            self.why[reason] = self.why.get(reason, 0) + cases


def _wrapped(items: Iterable[str]) -> str:
    """With commas, in lines; no item is broken."""
    joined = ", ".join(item.replace(" ", TIE) for item in items)
    return "\n".join(textwrap.wrap(joined, GROUPS_COLUMNS, break_on_hyphens=False)).replace(TIE, " ")


@dataclass(slots=True)
class Failure:
    """A case that failed; `steps` and `python` when it was made small. `alone`: it fails from a booted chip."""

    title: str
    algorithm: str
    group: str
    problems: list[str]
    status: str = "ok"
    report: str = ""
    steps: list[str] = field(default_factory=list)
    python: str = ""
    alone: bool = True

    def simplicity(self) -> tuple[bool, int]:
        """Sorts the failure that is easiest to read first."""
        return not self.python or not self.alone, len(self.python)

    def show(self) -> str:
        """For a terminal."""
        lines = [f"FAIL {self.title}"]
        for problem in self.problems:
            lines += textwrap.wrap(
                problem, COLUMNS, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
            )
        if self.report:
            lines += ["", *(f"  {line}" for line in self.report.splitlines())]
        if self.python:
            note = "Smallest sequence that fails" if self.alone else "Fails after other cases only; its own steps"
            lines += ["", f"  {note}:", "", *(f"    {line}" if line else "" for line in self.python.splitlines())]
        return "\n".join(lines)


@dataclass
class CheckResult:
    """A whole check."""

    firmware: str
    board: str
    api: str
    level: str
    seed: int
    inject: list[str]
    where: str
    missing: list[Missing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    findings: dict[Any, Any] = field(default_factory=dict)
    calls: int = 0
    wall_seconds: float = 0.0

    def merge(
        self, verdicts: dict[tuple[str, str], Verdict], failures: Iterable[Failure], findings: Iterable[Any], calls: int
    ) -> None:
        """Take one process's part."""
        for key, verdict in verdicts.items():
            self.verdicts.setdefault(key, Verdict(*key)).add(verdict)
        self.failures += failures
        self.calls += calls
        for finding in findings:
            known = self.findings.setdefault(finding.key, finding)
            if known is not finding:
                known.count += finding.count

    @property
    def failed(self) -> int:
        """Cases that failed."""
        return sum(v.failed for v in self.verdicts.values())

    @property
    def exit_code(self) -> int:
        """0 when all is right, 1 for failed cases or findings."""
        return 1 if self.failed or self.findings else 0

    # -- forms ---------------------------------------------------------------------------------
    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "firmware": self.firmware, "board": self.board, "api": self.api, "level": self.level, "seed": self.seed,
            "inject": self.inject, "where": self.where, "calls": self.calls, "failed": self.failed,
            "wall_seconds": round(self.wall_seconds, 3),
            "verdicts": [{**asdict(v), "verdict": v.word} for v in self.verdicts.values()],
            "failures": [asdict(f) for f in self.failures],
            "findings": [f.as_json() for f in self.findings.values()], "notes": self.notes,
            "not_callable": [{"function": m.function, "reason": m.reason, "text": m.text} for m in self.missing],
        }  # fmt: skip

    def render(self, verbose: bool = False) -> list[RenderableType]:
        """For a person."""
        parts: list[RenderableType] = [self._by_group() if verbose else self._by_algorithm(), ""]
        for finding in self.findings.values():
            parts += [Text(finding.show()), ""]
        shown = sorted(self.failures, key=Failure.simplicity)[: None if verbose else SHOWN_FAILURES]
        for failure in shown:
            parts += [Text(failure.show()), ""]
        if len(self.failures) > len(shown):
            parts += [Text(f"{len(self.failures) - len(shown)} more failing cases: -v and --json list all."), ""]
        parts += [Text(line) for line in (*self._not_asked(), *self._not_callable())]
        return [*parts, *(Text(line) for line in textwrap.wrap(self.summary, COLUMNS, break_on_hyphens=False))]

    @property
    def summary(self) -> str:
        """The last line."""
        cases = sum(v.cases for v in self.verdicts.values())
        verdict = "all right" if not self.failed else f"{self.failed} wrong"
        findings = f", {len(self.findings)} findings" if self.findings else ""
        injected = f", with {', '.join(self.inject)}" if self.inject else ""
        return (
            f"{cases:,} cases, {self.calls:,} calls, {verdict}{findings}; {self.wall_seconds:.1f} s wall, "
            f"seed {self.seed}{injected}"
        )

    def _by_algorithm(self) -> Table:
        table = plain_table("algorithm", "calls", "verdict", "cases by group", right=("calls",))
        for algorithm in dict.fromkeys(v.algorithm for v in self.verdicts.values()):
            mine = [v for v in self.verdicts.values() if v.algorithm == algorithm]
            words = {v.word for v in mine}
            word = "FAIL" if "FAIL" in words else "OK" if "OK" in words else "unsupported"
            groups = [f"{v.group} {v.failed} of {v.cases} FAIL" if v.failed else f"{v.group} {v.cases}" for v in mine]
            if any(v.skipped for v in mine):
                groups.append(f"{sum(v.skipped for v in mine)} left out after hangs")
            table.add_row(
                algorithm,
                f"{sum(v.calls for v in mine):,}",
                word,
                Text(_wrapped(groups)),
            )
        return table

    def _by_group(self) -> Table:
        table = plain_table(
            "algorithm", "group", "cases", "calls", "failed", "verdict", right=("cases", "calls", "failed")
        )
        for v in self.verdicts.values():
            table.add_row(v.algorithm, v.group, f"{v.cases:,}", f"{v.calls:,}", str(v.failed), v.word)
        return table

    def _not_asked(self) -> list[str]:
        """What the API does not do, the most frequent first."""
        cases: dict[str, int] = {}
        for verdict in self.verdicts.values():
            for reason, count in verdict.why.items():
                cases[reason] = cases.get(reason, 0) + count
        if not cases:
            return []
        order = sorted(cases, key=lambda reason: (-cases[reason], reason))
        lines = ["Unsupported by this API or firmware, so not asked:"]
        for reason in order[:NAMED_REASONS]:
            text = f"{cases[reason]:,} cases: {reason}"
            lines += textwrap.wrap(text, COLUMNS, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        if len(order) > NAMED_REASONS:
            lines.append(f"  {len(order) - NAMED_REASONS} more reasons (--json lists them)")
        return [*lines, ""]

    def _not_callable(self) -> list[str]:
        lines = [line for note in self.notes for line in textwrap.wrap(note, COLUMNS, break_on_hyphens=False)]
        inlined = [m.function for m in self.missing if m.reason == "inlined"]
        dropped = [m.function for m in self.missing if m.reason == "not linked"]
        if inlined:
            lines += textwrap.wrap(
                f"Not callable, put in line by the compiler (mark noinline): {', '.join(inlined)}.", COLUMNS
            )
        if dropped:
            options = " ".join(f"-Wl,-u,{name}" for name in dropped)
            lines += textwrap.wrap(
                f"Compiled but not linked, so not checked: {', '.join(dropped)}. Link with: {options}",
                COLUMNS,
                break_on_hyphens=False,
            )
        absent = sum(not m.reason for m in self.missing)
        if absent and not (inlined or dropped):
            lines.append(f"{absent} functions that check could call are not in the firmware (--json lists them).")
        return [*lines, ""] if lines else []

    def write_junit(self, path: Path) -> None:
        """One suite for each algorithm, one case for each group."""
        xml = JUnitXml("cryplab check")
        for algorithm in dict.fromkeys(v.algorithm for v in self.verdicts.values()):
            suite = TestSuite(algorithm)
            for verdict in (v for v in self.verdicts.values() if v.algorithm == algorithm):
                suite.add_testcase(self._junit_case(verdict))
            xml.add_testsuite(suite)
        if self.findings:
            suite = TestSuite("findings")
            for finding in self.findings.values():
                case = TestCase(f"{finding.rule} {finding.title}", "cryplab.findings")
                case.result = [JunitFailure(finding.title, finding.kind)]
                case.result[0].text = finding.show()
                suite.add_testcase(case)
            xml.add_testsuite(suite)
        xml.write(str(path), pretty=True)

    def _junit_case(self, verdict: Verdict) -> TestCase:
        case = TestCase(verdict.group, f"cryplab.check.{verdict.algorithm}")
        mine = [f for f in self.failures if (f.algorithm, f.group) == (verdict.algorithm, verdict.group)]
        if mine:
            case.result = [JunitFailure(f"{verdict.failed} of {verdict.cases} cases", mine[0].status)]
            case.result[0].text = "\n\n".join(f.show() for f in mine)
        elif verdict.word == "unsupported":
            case.result = [Skipped("the API says that it does not do this")]
        return case
