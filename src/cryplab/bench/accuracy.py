"""`cryplab accuracy`: predicted rows held against published rows of real boards.

The campaigns of `campaigns.py` are the published systems that can be rebuilt. Errors are of time:
predicted / published - 1 in cycles, so +5 % means that we predict the row 5 % slower than the board was. Every
published row is compared or left out with a reason.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from cryplab import board as boards
from cryplab.bench import published
from cryplab.bench.campaigns import CAMPAIGNS, NOT_MODELLED, Campaign
from cryplab.bench.formats import BYTES_PER_SECOND, lower_is_better
from cryplab.bench.run import BenchResult, bench
from cryplab.board import Board
from cryplab.errors import UsageError, nearest
from cryplab.show import hanging, plain_table

__all__ = ["CAMPAIGNS", "Accuracy", "AccuracyRow", "Campaign", "LeftOut", "accuracy", "compare_with_published"]

NO_REASON = "not explained"
MOST_NAMES = 6


@dataclass(frozen=True, slots=True)
class AccuracyRow:
    """One published row; `error` is predicted time / published time - 1."""

    system: str
    board: str
    core: str
    library: str
    crypto: str
    build: str
    name: str
    unit: str
    predicted: float
    published: float
    reason: str = ""

    @property
    def error(self) -> float:
        """Relative error of time."""
        if lower_is_better(self.unit):
            return self.predicted / self.published - 1
        return self.published / self.predicted - 1

    @property
    def kind(self) -> str:
        """Symmetric or public key."""
        return "public key" if self.unit in ("ms", "ops/s") else "symmetric"

    def to_json(self) -> dict[str, Any]:
        """The fields of `rows[]`."""
        return {
            "system": self.system, "board": self.board, "core": self.core, "library": self.library,
            "crypto": self.crypto, "build": self.build, "row": self.name, "unit": self.unit,
            "predicted": round(self.predicted, 3), "published": self.published, "error": round(self.error, 5),
            "reason": self.reason,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Published rows that are not compared, and why."""

    system: str
    board: str
    crypto: str
    rows: tuple[str, ...]
    reason: str

    def to_json(self) -> dict[str, Any]:
        """The fields of `left_out[]`."""
        return {
            "system": self.system, "board": self.board, "crypto": self.crypto, "rows": list(self.rows),
            "reason": self.reason,
        }  # fmt: skip

    @property
    def line(self) -> str:
        """As printed: names only where they are few."""
        names = ", ".join(self.rows) if len(self.rows) <= MOST_NAMES else f"{len(self.rows)} rows"
        return f"{self.board}, {self.crypto}: {names}: {self.reason}"


@dataclass
class Accuracy:
    """All rows with their statistics."""

    rows: list[AccuracyRow]
    clock: str
    left_out: list[LeftOut]
    conditions: dict[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """Always 0: a prediction is no verdict."""
        return 0

    def statistics(self) -> list[dict[str, Any]]:
        """Median and 90th percentile of the absolute error, for all, each system, each column and each kind."""
        groups: dict[str, list[AccuracyRow]] = {"all": self.rows}
        for name in (_system, _column, _kind):
            for row in self.rows:
                groups.setdefault(name(row), []).append(row)
        return [_statistics(name, rows) for name, rows in groups.items() if rows]

    def worst(self, count: int = 5) -> list[AccuracyRow]:
        """Rows with the largest absolute error."""
        return sorted(self.rows, key=lambda r: -abs(r.error))[:count]

    def to_json(self) -> dict[str, Any]:
        """One document."""
        return {
            "clock": self.clock,
            "rows": [row.to_json() for row in self.rows],
            "statistics": self.statistics(),
            "worst": [row.to_json() for row in self.worst()],
            "conditions": self.conditions,
            "left_out": [each.to_json() for each in self.left_out],
        }

    def render(self) -> list[RenderableType]:
        """Rows by system and column, then statistics and the worst rows."""
        parts: list[RenderableType] = []
        for head in dict.fromkeys((r.board, r.library, r.crypto, r.build) for r in self.rows):
            rows = [r for r in self.rows if (r.board, r.library, r.crypto, r.build) == head]
            board, library, crypto, build = head
            parts += [f"{board}, {library}, published {crypto} column, build {build}"]
            table = plain_table("row", "unit", "predicted", "published", "error",
                                right=("predicted", "published", "error"))  # fmt: skip
            for r in rows:
                table.add_row(r.name, r.unit, _number(r.predicted), _number(r.published), _percent(r.error))
            parts += [table, ""]
        summary = plain_table("rows of", "number", "median", "90th percentile", "worst",
                              right=("number", "median", "90th percentile", "worst"))  # fmt: skip
        for s in self.statistics():
            summary.add_row(
                s["group"], str(s["rows"]), *(f"{100 * s[key]:.1f} %" for key in ("median", "p90", "worst"))
            )
        parts += ["absolute error of time, predicted / published - 1; + is predicted slower than the board was"]
        parts += [summary, "", "worst"]
        for r in self.worst():
            parts += [hanging(f"{_percent(r.error)}  {r.name}, {r.crypto}, {r.board}: {r.reason}")]
        parts += ["", "conditions"]
        parts += [hanging(f"{system}: {text}") for system, text in self.conditions.items()]
        if self.left_out:
            parts += ["", "left out"]
            parts += [hanging(each.line) for each in self.left_out]
        return parts

    def draw(self, path: Path) -> Path:
        """Predicted against published, both axes logarithmic."""
        from cryplab.bench.chart import Point, draw_scatter

        points = [
            Point(f"{r.board}, {r.library}", r.crypto, r.kind, r.name, *_in_one_unit(r), r.error) for r in self.rows
        ]
        return draw_scatter(path, "Predicted against published rows", points)


def _in_one_unit(row: AccuracyRow) -> tuple[float, float]:
    """Published and predicted in KiB/s or ms."""
    if row.kind == "public key":
        return row.published, row.predicted
    scale = BYTES_PER_SECOND[row.unit] / 1024
    return row.published * scale, row.predicted * scale


def _system(row: AccuracyRow) -> str:
    return f"{row.board} {row.library}"


def _column(row: AccuracyRow) -> str:
    return f"{row.board} {row.library} {row.crypto}"


def _kind(row: AccuracyRow) -> str:
    return f"{row.kind} {row.crypto}"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.4g}"


def _percent(error: float) -> str:
    return f"{100 * error:+.1f} %"


def _statistics(name: str, rows: Sequence[AccuracyRow]) -> dict[str, Any]:
    errors = sorted(abs(r.error) for r in rows)
    at = 0.9 * (len(errors) - 1)
    low = int(at)
    high = min(low + 1, len(errors) - 1)
    return {
        "group": name,
        "rows": len(errors),
        "median": round(statistics.median(errors), 5),
        "p90": round(errors[low] + (at - low) * (errors[high] - errors[low]), 5),
        "worst": round(errors[-1], 5),
    }


def accuracy(
    board: str | Board | None = None,
    *,
    library: str | None = None,
    clock: str = "exact",
    source: str | Path | None = None,
    jobs: int = 2,
    progress: Callable[[str], None] | None = None,
) -> Accuracy:
    """Build and run what is needed, and hold every predicted row against its published one.

    Args:
        board: only campaigns of this board; default all.
        library: only campaigns of this library.
        clock: "exact" or "fast".
        source: library sources from this folder, such as the version of the published rows; with one library.
        jobs: processes at a time.
        progress: called with a line of text now and then.
    Raises: UsageError when nothing was published for the board, or for a source of more than one library.
    """
    wanted = board.name if isinstance(board, Board) else board
    chosen = [c for c in CAMPAIGNS if wanted in (None, c.board) and library in (None, c.library)]
    if not chosen:
        known = sorted({c.board for c in CAMPAIGNS})
        close = nearest(wanted or "", known) or ";"
        raise UsageError(f"no published rows for board '{wanted}'{close} there are rows for {', '.join(known)}")
    libraries = sorted({c.library for c in chosen})
    if source and len(libraries) > 1:
        raise UsageError(f"--source {source} is of one library; say which with --library: {', '.join(libraries)}")
    rows: list[AccuracyRow] = []
    left_out: list[LeftOut] = []
    for campaign in chosen:
        builds = [ours for _, ours in campaign.builds]
        result = bench(
            campaign.board, library=campaign.library, builds=builds, clock=clock, source=source, jobs=jobs,
            progress=progress, program=campaign.program,
        )  # fmt: skip
        compared, missing = compare_with_published(campaign, result)
        rows += compared
        left_out += missing
    if wanted is None and library is None:
        left_out += _without_campaign()
    instead = f"; instead of its sources, those of {source}" if source else ""
    return Accuracy(rows, clock, left_out, {f"{c.board}, {c.library}": c.conditions + instead for c in chosen})


def compare_with_published(campaign: Campaign, result: BenchResult) -> tuple[list[AccuracyRow], list[LeftOut]]:
    """Rows of a bench beside the published ones of its campaign; published ones without a partner are left out."""
    core = boards.find(campaign.board).chip.core
    rows: list[AccuracyRow] = []
    left_out: list[LeftOut] = []
    for crypto, ours in campaign.builds:
        ahead = {published.canonical(p.row): p for p in published.rows_of(campaign.board, campaign.library, crypto)}
        for row in result.rows:
            column = row.columns.get(ours)
            origin = ahead.get(published.canonical(row.name))
            value = row.published_value(origin)
            if column is None or origin is None or not value or not column.value:
                continue
            del ahead[published.canonical(row.name)]
            rows.append(AccuracyRow(
                origin.system, campaign.board, core, campaign.library, crypto, ours, row.name, row.unit, column.value,
                value, _reason(campaign, crypto, row.name),
            ))  # fmt: skip
        if ahead:
            first = next(iter(ahead.values()))
            names = tuple(p.row for p in ahead.values())
            why = f"the {ours} build of our {campaign.program} has no such row"
            left_out.append(LeftOut(first.system, first.board, crypto, names, why))
    return rows, left_out


def _reason(campaign: Campaign, crypto: str, name: str) -> str:
    """The campaign's reason for a kind of row."""
    plain = published.canonical(name)
    for reason in campaign.reasons:
        if reason.crypto in ("", crypto) and any(fnmatchcase(plain, glob) for glob in reason.rows.split(",")):
            return reason.text
    return NO_REASON


def _without_campaign() -> Iterable[LeftOut]:
    """Published rows of boards that are not modelled."""
    ours = {published.system_of(c.board, c.library) for c in CAMPAIGNS}
    groups: dict[tuple[str, str, str], list[str]] = {}
    for p in published.all_rows():
        if (p.system, p.board) not in ours:
            groups.setdefault((p.system, p.board, p.crypto), []).append(p.row)
    for (system, board, crypto), names in groups.items():
        yield LeftOut(system, board, crypto, tuple(names), NOT_MODELLED[board])
