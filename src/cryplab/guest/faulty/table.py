"""The table of the cases, each run with its fault and without: `cryplab faults`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from cryplab import board as boards
from cryplab.errors import UsageError
from cryplab.guest.faulty import CASES, Case
from cryplab.guest.faulty.run import Run, run_case

__all__ = ["Faults", "faults"]

NEEDS = {
    "aes.c": ("AES-ECB", "DES-ECB"), "aead.c": ("AES-GCM", "AES-CCM"), "hash.c": ("SHA-256",), "rng.c": ("RNG",),
    "dma.c": ("AES-CBC", "SHA-256"), "tasks.c": ("AES-ECB", "SHA-256", "RNG"),
}  # fmt: skip
"Algorithms that a chip's blocks must have for the programs of a file."
COLUMNS = (24, 27, 5, 8, 12)
"Widths of id, kind, rule, found, line; with the blanks between them 80 or less."


@dataclass(frozen=True, slots=True)
class Row:
    """A case: with its fault, and its correct twin."""

    faulty: Run
    right: Run

    @property
    def good(self) -> bool:
        """Found at the right line, and the twin is clean."""
        return self.faulty.found and self.right.clean


@dataclass(frozen=True, slots=True)
class Faults:
    """Result of `faults`."""

    rows: tuple[Row, ...]

    @property
    def exit_code(self) -> int:
        """1 when a fault was missed or a twin was not clean."""
        return 0 if all(row.good for row in self.rows) else 1

    def render(self) -> list[str]:
        """Lines of 80 columns."""
        lines = [_line("case", "kind", "rule", "found by", "line")]
        for row in self.rows:
            case = row.faulty.case
            place = f"{case.file}:{row.faulty.line}" if row.faulty.found else "-"
            lines.append(_line(case.id, case.kind, case.rule, case.found if row.faulty.found else "MISSED", place))
            lines += [f"    its twin is not clean: {text}" for text in _complaints(row.right)]
        good = sum(row.good for row in self.rows)
        kinds = len({row.faulty.case.kind for row in self.rows})
        found = sum(row.faulty.found for row in self.rows)
        clean = sum(row.right.clean for row in self.rows)
        lines += [
            "",
            f"{good} of {len(self.rows)} good: {found} faults of {kinds} kinds found at the right line, "
            f"{clean} twins clean",
            "run: found by watching; check: by results or unique buffers too",
        ]
        return lines

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"cases": [_json(row) for row in self.rows]}


def faults(
    only: Iterable[str] = (), *, board: Any = "ublox-c030-u201", seed: int = 0,
    progress: Callable[[str], None] = lambda _line: None,
) -> Faults:  # fmt: skip
    """Build and run the cases whose names match one of the patterns (default all), each with its twin.

    Cases for algorithms that the board's chip has not are left out.

    Raises: UsageError when none matches, ToolError without cross compiler.
    """
    patterns, chip = list(only), boards.find(board).chip if isinstance(board, str) else board.chip
    there = {name for at in chip.modelled for name in at.block.algorithms}
    fit = [case for case in CASES if set(NEEDS[case.file]) <= there]
    if not fit:
        raise UsageError(f"{chip.name} has none of the blocks that the drivers with faults use: CRYP, HASH and RNG")
    chosen = [case for case in fit if not patterns or any(fnmatchcase(case.id, p) for p in patterns)]
    if not chosen:
        raise UsageError(
            f"no case matches {', '.join(patterns)}; `cryplab faults` lists all {len(fit)} for {chip.name}"
        )
    rows = []
    for number, case in enumerate(chosen, 1):
        progress(f"{number} of {len(chosen)}: {case.id}")
        rows.append(Row(*(run_case(case, faulty=faulty, board=board, seed=seed) for faulty in (True, False))))
    return Faults(tuple(rows))


def _line(*cells: str) -> str:
    return " ".join(f"{cell:<{width}}" for cell, width in zip(cells, COLUMNS, strict=True)).rstrip()


def _complaints(run: Run) -> list[str]:
    said = [f"{finding.rule} {finding.title} at {finding.where}" for finding in run.findings]
    if run.wrong:
        said.append(run.wrong)
    if run.outcome.reason != "finished" or run.outcome.code:
        said.append(f"it ended by {run.outcome.reason} with code {run.outcome.code}")
    return said


def _json(row: Row) -> dict[str, Any]:
    case: Case = row.faulty.case
    return {
        "id": case.id, "kind": case.kind, "rule": case.rule, "public": case.public.split(), "what": case.what,
        "file": case.file, "inject": list(case.inject), "found_by": case.found, "found": row.faulty.found,
        "line": row.faulty.line, "twin_clean": row.right.clean, "ends": row.faulty.outcome.reason,
        "wrong": row.faulty.wrong, "findings": [finding.as_json() for finding in row.faulty.findings],
    }  # fmt: skip
