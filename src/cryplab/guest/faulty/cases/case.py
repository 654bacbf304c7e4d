"""What a case is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Case", "cases_of"]


@dataclass(frozen=True, slots=True)
class Case:
    """One fault.

    Attributes:
        id: name of the FAULT() in the C file.
        rule: the rule that finds it, O1 to O22; "check" when only a comparison of results does, "crash" when the
            core faults.
        kind: the kind of the public cases.
        public: numbers of the public cases that it stands for.
        what: the fault in a few words.
        file, scenario: the C file and the function that main() calls.
        line: names of the marked lines, one of which the finding must name.
        found: "run" by watching alone, "check" when results, or buffers with unique contents, are needed.
        inject: errors by name, as for `--inject`.
        ends: how the faulty program ends, as in `Outcome.reason`.
    """

    id: str
    rule: str
    kind: str
    public: str
    what: str
    file: str
    scenario: str
    line: str
    found: str = "run"
    inject: tuple[str, ...] = ()
    ends: str = "finished"


def cases_of(file: str) -> Callable[..., Case]:
    """What makes a table line of this C file: id, rule, kind, public, what, scenario, line (default the id), more."""

    def case(
        name: str, rule: str, kind: str, public: str, what: str, scenario: str, line: str = "", *,
        found: str = "run", inject: tuple[str, ...] = (), ends: str = "finished",
    ) -> Case:  # fmt: skip
        return Case(name, rule, kind, public, what, file, scenario, line or name, found, inject, ends)

    return case
