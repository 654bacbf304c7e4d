"""Running a case under the observer, with the error that it needs, and judging what was found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryplab import inject
from cryplab.guest.faulty import Case, build_faulty, lines_of
from cryplab.machine import Machine, Outcome
from cryplab.observe.api import bench
from cryplab.observe.findings import Finding

__all__ = ["Run", "run_case"]

SECONDS = 0.03
"Virtual time at most: the longest program takes 6 ms, and a dead wait is one after 5 ms."


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one program."""

    case: Case
    faulty: bool
    elf: Path
    outcome: Outcome
    findings: tuple[Finding, ...]

    @property
    def match(self) -> Finding | None:
        """The finding of the case's rule that names one of its lines."""
        wanted = lines_of(self.case)
        for finding in self.findings:
            if finding.rule == self.case.rule and line_named(finding, self.case.file, wanted):
                return finding
        return None


def line_named(finding: Finding, file: str, wanted: tuple[int, ...]) -> int:
    """The line of the finding, or of the earlier access that it names, when it is a wanted one; else 0."""
    places = [finding.where, *([finding.earlier.where] if finding.earlier else [])]
    for place in places:
        if Path(place.file).name == file and place.line in wanted:
            return place.line
    return 0


def run_case(case: Case, *, faulty: bool, board: Any = "ublox-c030-u201") -> Run:
    """Build and run a case, watched; cases for `check` with the matches that only unique buffers allow."""
    elf = build_faulty(case.id, faulty=faulty, board=board)
    machine = Machine(board)
    machine.load(elf)
    observer = machine.observe(deep=case.found == "check", functions=bench.FUNCTIONS)
    for injection in inject.parse(case.inject):
        injection.arm(machine)
    outcome = machine.run(seconds=SECONDS)
    return Run(case, faulty, elf, outcome, tuple(observer.findings))
