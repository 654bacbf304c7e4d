"""`cryplab compare`: two or more benchmark logs side by side, with ratios.

Rows are matched by name, evened out over versions of the same programs (see `published.canonical`);
values are compared as bytes per second or milliseconds, whatever unit each log uses, and shown in the
unit of the first. A ratio above 1 always means that the later log is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from cryplab.bench.formats import BYTES_PER_SECOND, Measurement
from cryplab.bench.logs import Log, read_log
from cryplab.bench.published import canonical
from cryplab.errors import InputError, UsageError
from cryplab.show import plain_table

__all__ = ["Comparison", "ComparisonRow", "compare"]

SLOWER = 0.995
"Below this ratio a row counts as slower, not as noise of printed digits."


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One row of all logs; `values` in `unit`, None where a log lacks it; `ratios` against the first."""

    name: str
    unit: str
    values: tuple[float | None, ...]

    @property
    def ratios(self) -> tuple[float | None, ...]:
        """How many times faster than the first log, for each later one."""
        first = self.values[0]
        return tuple(self._ratio(first, value) for value in self.values[1:])

    def _ratio(self, before: float | None, after: float | None) -> float | None:
        if not before or not after:
            return None
        return before / after if self.unit == "ms" else after / before

    @property
    def slower(self) -> bool:
        """Whether any later log is slower than the first."""
        return any(ratio is not None and ratio < SLOWER for ratio in self.ratios)


@dataclass
class Comparison:
    """The table; `only` lists, for each log, rows that no other log has."""

    logs: tuple[Log, ...]
    rows: list[ComparisonRow]
    only: tuple[list[str], ...] = ()
    fail_below: float | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def worst(self) -> ComparisonRow | None:
        """The row that lost most."""
        rated = [(min(r for r in row.ratios if r is not None), row) for row in self.rows if any(row.ratios)]
        return min(rated, key=lambda pair: pair[0])[1] if rated else None

    @property
    def exit_code(self) -> int:
        """1 when a ratio is below `fail_below`."""
        if self.fail_below is None:
            return 0
        return int(any(r is not None and r < self.fail_below for row in self.rows for r in row.ratios))

    def to_json(self) -> dict[str, Any]:
        """One document; with more than two logs `after` and `ratio` are lists."""
        single = len(self.logs) == 2
        return {
            "before": self.logs[0].label,
            "after": self.logs[1].label if single else [log.label for log in self.logs[1:]],
            "rows": [
                {"name": row.name, "unit": row.unit, "before": row.values[0],
                 "after": row.values[1] if single else list(row.values[1:]),
                 "ratio": _rounded(row.ratios[0]) if single else [_rounded(r) for r in row.ratios]}
                for row in self.rows
            ],
            "only_before": self.only[0],
            "only_after": self.only[1] if single else [list(names) for names in self.only[1:]],
            "notes": self.notes,
        }  # fmt: skip

    def draw(self, path: Path) -> Path:
        """A chart of all rows."""
        from cryplab.bench.chart import Bar, draw_bars

        bars = [Bar(row.name, row.unit, row.values) for row in self.rows]
        return draw_bars(path, "Benchmark logs compared", [log.label for log in self.logs], bars)

    # -- text ----------------------------------------------------------------------------------
    def render(self) -> list[RenderableType]:
        """The table, rows of one side, notes."""
        heads = [log.label for log in self.logs]
        ratio_heads = ["ratio"] if len(heads) == 2 else [f"ratio {n}" for n in range(2, len(heads) + 1)]
        numbered = heads if len(heads) == 2 else [f"{n}" for n in range(1, len(heads) + 1)]
        shown = ["before", "after"] if len(heads) == 2 else numbered
        table = plain_table("row", "unit", *shown, *ratio_heads, "", right=(*shown, *ratio_heads))
        for row in self.rows:
            cells = [_number(v, row.unit) for v in row.values]
            ratios = ["-" if r is None else f"{r:.2f}" for r in row.ratios]
            table.add_row(row.name, row.unit, *cells, *ratios, "slower" if row.slower else "")
        what = (f"before: {heads[0]}", f"after:  {heads[1]}") if len(heads) == 2 else tuple(
            f"{n}: {head}" for n, head in zip(numbered, heads, strict=True)
        )  # fmt: skip
        parts: list[RenderableType] = [*what, "", table]
        for log, names in zip(self.logs, self.only, strict=True):
            if names:
                parts += ["", f"only in {log.label}: {', '.join(names)}"]
        parts += ["", "ratio: how many times faster than before; below 1 is slower"]
        if self.fail_below is not None:
            failed = [row.name for row in self.rows if any(r is not None and r < self.fail_below for r in row.ratios)]
            parts.append(
                f"below {self.fail_below:g}: {', '.join(failed)}" if failed else f"no row is below {self.fail_below:g}"
            )
        return parts

    def markdown(self) -> str:
        """The table as people paste it into a pull request."""
        heads = [log.label for log in self.logs]
        ratio_heads = ["ratio"] if len(heads) == 2 else [f"ratio {n}" for n in range(2, len(heads) + 1)]
        lines = [
            "| row | unit | " + " | ".join([*heads, *ratio_heads]) + " |",
            "|---|---|" + "---:|" * (len(heads) + len(ratio_heads)),
        ]
        for row in self.rows:
            cells = [_number(v, row.unit) for v in row.values]
            ratios = ["-" if r is None else f"{r:.2f}{' (slower)' if r < SLOWER else ''}" for r in row.ratios]
            lines.append(f"| {row.name} | {row.unit} | " + " | ".join([*cells, *ratios]) + " |")
        return "\n".join(lines)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}" if value < 100 else f"{value:.1f}"


def compare(paths: Sequence[str | Path], *, fail_below: float | None = None) -> Comparison:
    """Compare logs; the first is what the others are held against.

    One path whose file holds several runs compares those. Raises: InputError with one sentence when a log
    cannot be read or two logs have nothing in common, UsageError for a single run alone.
    """
    logs = _logs(paths)
    tables = [{canonical(m.name): m for m in log.rows} for log in logs]
    names = list(dict.fromkeys(key for table in tables for key in table))
    shared = [key for key in names if sum(key in table for table in tables) > 1]
    rows, odd = [], []
    for key in shared:
        cells = [table.get(key) for table in tables]
        row = _row(cells)
        if row is None:
            odd.append(next(c.name for c in cells if c is not None))
        else:
            rows.append(row)
    if not rows:
        raise InputError(_nothing_in_common(logs, odd))
    only = tuple([m.name for m in log.rows if canonical(m.name) not in shared] for log in logs)
    notes = [log.note for log in logs if log.note]
    notes += [f"{name}: one log gives a throughput, another a time; left out" for name in odd]
    return Comparison(tuple(logs), rows, only, fail_below, notes)


def _logs(paths: Sequence[str | Path]) -> list[Log]:
    if len(paths) == 1:
        last = read_log(paths[0])
        if last.runs == 1:
            raise UsageError(f"{paths[0]} holds one run; compare needs two logs, or a file that holds several runs")
        return [read_log(f"{last.path}", run=n) for n in range(1, last.runs + 1)]
    return [read_log(path) for path in paths]


def _row(cells: Sequence[Measurement | None]) -> ComparisonRow | None:
    """All values in the unit of the first that has the row; None for throughput against time."""
    first = next(c for c in cells if c is not None)
    if first.bytes_per_second is not None:
        values = [None if c is None else c.bytes_per_second for c in cells]
        unit, factor = first.unit, BYTES_PER_SECOND[first.unit]
    else:
        values = [None if c is None else c.milliseconds for c in cells]
        unit, factor = "ms", 1
    if any(c is not None and v is None for c, v in zip(cells, values, strict=True)):
        return None
    return ComparisonRow(first.name, unit, tuple(None if v is None else v / factor for v in values))


def _nothing_in_common(logs: Sequence[Log], odd: Sequence[str]) -> str:
    if odd:
        return f"the logs cannot be compared: {', '.join(odd)} is a throughput in one and a time in another"
    samples = "; ".join(f"{log.path} has {', '.join(m.name for m in log.rows[:3])}" for log in logs)
    return f"the logs cannot be compared: no row is in two of them ({samples})"
