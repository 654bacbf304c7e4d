"""Running a case under the observer, with the error that it needs, and judging what was found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryplab import inject
from cryplab.guest.faulty import Case, build_faulty, lines_of
from cryplab.guest.faulty.checks import CHECKS
from cryplab.machine import Machine, Outcome
from cryplab.observe.api import bench
from cryplab.observe.findings import Finding

__all__ = ["Run", "run_case"]

SECONDS = 0.03
"Virtual time at most: the longest program takes 6 ms, and a dead wait is one after 5 ms."
CHECK, CRASH = "check", "crash"
"Found by comparing results, or by the core's own fault: not by a rule."


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one program.

    `wrong` is what a comparison of results found, `line` the line that was named, 0 when none of the case's was.
    """

    case: Case
    faulty: bool
    outcome: Outcome
    findings: tuple[Finding, ...]
    wrong: str = ""
    line: int = 0

    @property
    def found(self) -> bool:
        """By its rule, at one of its lines."""
        return bool(self.line)

    @property
    def clean(self) -> bool:
        """Nothing at all was found, and every result was right."""
        return not self.findings and not self.wrong and self.outcome.reason == "finished" and not self.outcome.code

    @property
    def kind(self) -> str:
        """The kind that the finding says, or the case's own when none does."""
        return next((f.kind for f in self.findings if named(f, self.case)), self.case.kind)


def named(finding: Finding, case: Case) -> int:
    """The case's line that a finding of its rule names, as its place or as the earlier access; 0 when it does not."""
    if finding.rule != case.rule:
        return 0
    wanted = lines_of(case)
    places = [finding.where, *([finding.earlier.where] if finding.earlier else [])]
    return next((p.line for p in places if Path(p.file).name == case.file and p.line in wanted), 0)


def crashed_at(outcome: Outcome, case: Case) -> int:
    """The case's line that the report of a crash names first; 0 when it does not."""
    said = re.search(rf"{re.escape(case.file)}:(\d+)", outcome.crash)
    return int(said[1]) if said and int(said[1]) in lines_of(case) else 0


def run_case(
    case: Case, *, faulty: bool, board: Any = "ublox-c030-u201", seed: int = 0, also: Iterable[str] = ()
) -> Run:
    """Build and run a case, watched; cases for `check` with the matches that only unique buffers allow.

    `also`: more errors to inject than the case needs, by name.
    """
    machine = Machine(board, seed=seed)
    machine.load(build_faulty(case.id, faulty=faulty, board=board))
    observer = machine.observe(deep=case.found == CHECK, functions=bench.FUNCTIONS)
    for injection in inject.parse([*case.inject, *also], seed):
        injection.arm(machine)
    outcome = machine.run(seconds=SECONDS)
    wrong, line = "", 0
    if case.rule == CHECK:
        function, check = CHECKS[case.id]
        wrong = check(machine)
        place = machine.image.debug.line(machine.symbol(function).address) if machine.image else None
        line = place.line if wrong and place and place.line in lines_of(case) else 0
    elif case.rule == CRASH:
        line = crashed_at(outcome, case)
    else:
        line = next((at for finding in observer.findings if (at := named(finding, case))), 0)
    return Run(case, faulty, outcome, tuple(observer.findings), wrong, line)
