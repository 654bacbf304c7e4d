"""`cryplab accuracy`: predicted rows held against published rows of real boards.

Each campaign is one published system: the board, the library and, for each published column, the build
that has the shape in which that column was made. Errors are of time: predicted / published - 1 in cycles,
so +5 % means that we predict the row 5 % slower than the board was.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from cryplab import board as boards
from cryplab import guest
from cryplab.bench import published
from cryplab.bench.formats import lower_is_better
from cryplab.bench.run import bench
from cryplab.board import Board
from cryplab.errors import UsageError, nearest
from cryplab.show import plain_table

__all__ = ["CAMPAIGNS", "Accuracy", "AccuracyRow", "Campaign", "accuracy"]


@dataclass(frozen=True, slots=True)
class Campaign:
    """A published system and how it is rebuilt: published column -> our build."""

    board: str
    library: str
    builds: tuple[tuple[str, str], ...]


CAMPAIGNS = (
    Campaign("ublox-c030-u201", "mbedtls", (("software", "software"), ("hardware", "hal-style"))),
    Campaign("stm3221g-eval", "wolfssl", (("software", "software"), ("hardware", "hardware"))),
    Campaign("stm32f437i-eval", "wolfssl", (("software", "software"), ("hardware", "hardware"))),
)
PERCENTILES = (50, 90)


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
        }  # fmt: skip


@dataclass
class Accuracy:
    """All rows with their statistics."""

    rows: list[AccuracyRow]
    clock: str
    left_out: list[str]

    @property
    def exit_code(self) -> int:
        """Always 0: a prediction is no verdict."""
        return 0

    def statistics(self) -> list[dict[str, Any]]:
        """Median and 90th percentile of the absolute error, for all and for each group."""
        groups: dict[str, list[AccuracyRow]] = {"all": self.rows}
        for row in self.rows:
            groups.setdefault(f"{row.core} {row.library} {row.crypto}", []).append(row)
        for row in self.rows:
            groups.setdefault(f"{row.kind} {row.crypto}", []).append(row)
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
            "left_out": self.left_out,
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
                table.add_row(r.name, r.unit, _number(r.predicted), _number(r.published), f"{100 * r.error:+.1f} %")
            parts += [table, ""]
        summary = plain_table("rows of", "number", "median", "90th percentile", "worst",
                              right=("number", "median", "90th percentile", "worst"))  # fmt: skip
        for s in self.statistics():
            summary.add_row(s["group"], str(s["rows"]), f"{100 * s['median']:.1f} %", f"{100 * s['p90']:.1f} %",
                            f"{100 * s['worst']:.1f} %")  # fmt: skip
        parts += ["absolute error of time", summary, ""]
        parts += ["worst: " + "; ".join(f"{r.name} ({r.crypto}) {100 * r.error:+.0f} %" for r in self.worst())]
        parts += [f"left out: {text}" for text in self.left_out]
        parts += ["error: predicted / published - 1 in time; + is predicted slower than the board was"]
        return parts

    def draw(self, path: Path) -> Path:
        """Predicted against published, both axes logarithmic."""
        from cryplab.bench.chart import draw_scatter

        points = [(r.crypto, r.kind, r.published, r.predicted) for r in self.rows]
        return draw_scatter(path, "Predicted against published rows", points)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.4g}"


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
    jobs: int = 2,
    progress: Callable[[str], None] | None = None,
) -> Accuracy:
    """Build and run what is needed, and hold every predicted row against its published one.

    Args:
        board: only campaigns of this board; default all.
        library: only campaigns of this library.
        clock: "exact" or "fast".
        jobs: processes at a time.
        progress: called with a line of text now and then.
    Raises: UsageError when nothing was published for the board.
    """
    wanted = board.name if isinstance(board, Board) else board
    chosen = [c for c in CAMPAIGNS if wanted in (None, c.board) and library in (None, c.library)]
    if not chosen:
        known = sorted({c.board for c in CAMPAIGNS})
        close = nearest(wanted or "", known) or ";"
        raise UsageError(f"no published rows for board '{wanted}'{close} there are rows for {', '.join(known)}")
    rows: list[AccuracyRow] = []
    left_out: list[str] = []
    for campaign in chosen:
        missing = _missing(campaign)
        if missing:
            left_out.append(f"{campaign.board} with {campaign.library}: {missing}")
            continue
        rows += _run(campaign, clock, jobs, progress)
    if not rows:
        raise UsageError("; ".join(left_out))
    return Accuracy(rows, clock, left_out)


def _missing(campaign: Campaign) -> str:
    if campaign.board not in boards.names():
        return "there is no such board yet"
    if campaign.library not in guest.LIBRARIES:
        return "the reference firmware has no such library yet"
    return ""


def _run(campaign: Campaign, clock: str, jobs: int, progress: Callable[[str], None] | None) -> Iterable[AccuracyRow]:
    target = boards.find(campaign.board)
    builds = [ours for _, ours in campaign.builds]
    result = bench(target, library=campaign.library, builds=builds, clock=clock, jobs=jobs, progress=progress)
    for crypto, ours in campaign.builds:
        for row in result.rows:
            column = row.columns.get(ours)
            origin = published.find(campaign.board, campaign.library, crypto, row.name)
            value = row.published_value(origin)
            if column is None or origin is None or not value or not column.value:
                continue
            yield AccuracyRow(
                origin.system, campaign.board, target.chip.core, campaign.library, crypto, ours, row.name, row.unit,
                column.value, value,
            )  # fmt: skip
