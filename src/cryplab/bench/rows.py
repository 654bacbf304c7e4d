"""Rows of the before/after table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cryplab.bench.formats import BYTES_PER_SECOND, Measurement, lower_is_better
from cryplab.bench.limits import Limit
from cryplab.bench.published import PublishedRow

__all__ = ["BenchRow", "Column", "convert"]


@dataclass(frozen=True, slots=True)
class Column:
    """What one build measured in one row.

    `value` in the row's unit; `cycles` and `data_bytes` are sums over `calls`. `hardware_share` is the
    share of the cycles during which a hardware operation was under way, `blocks` where.
    """

    value: float
    cycles: int
    data_bytes: int
    calls: int = 1
    hardware_share: float = 0.0
    blocks: tuple[str, ...] = ()

    def to_json(self, *, hardware: bool) -> dict[str, Any]:
        """The fields of `software` or `hardware`."""
        document: dict[str, Any] = {
            "value": round(self.value, 3),
            "cycles": self.cycles,
            "bytes": self.data_bytes,
            "calls": self.calls,
        }
        if hardware:
            document |= {"hardware_share": round(self.hardware_share, 6), "blocks": list(self.blocks)}
        return document


@dataclass(slots=True)
class BenchRow:
    """One line of the table: a column for each build, by its name, and what they are compared with."""

    name: str
    unit: str
    columns: dict[str, Column] = field(default_factory=dict)
    limit: Limit = field(default_factory=Limit)
    published_software: PublishedRow | None = None
    published_hardware: PublishedRow | None = None

    def ratio(self, before: str, after: str) -> float | None:
        """How many times faster `after` is; above 1 means faster for every unit."""
        if before not in self.columns or after not in self.columns:
            return None
        old, new = self.columns[before].value, self.columns[after].value
        if not old or not new:
            return None
        return old / new if lower_is_better(self.unit) else new / old

    def measurement(self, build: str, hz: int) -> Measurement | None:
        """One column as a line of text shows it."""
        column = self.columns.get(build)
        if column is None:
            return None
        seconds = column.cycles / hz if hz else 0.0
        return Measurement(self.name, self.unit, column.value, column.data_bytes, seconds, column.calls)

    def published_value(self, row: PublishedRow | None) -> float | None:
        """A published number in this row's unit."""
        return None if row is None or row.number is None else convert(row.number, row.unit, self.unit)

    def to_json(self, before: str, after: str) -> dict[str, Any]:
        """The fields of `rows[]`; builds beyond the two are added under their own names."""
        source = self.published_hardware or self.published_software
        ratio = self.ratio(before, after)
        document: dict[str, Any] = {
            "name": self.name,
            "unit": self.unit,
            "software": _column(self.columns.get(before), hardware=False),
            "hardware": _column(self.columns.get(after), hardware=True),
            "ratio": None if ratio is None else round(ratio, 4),
            "limit": self.limit.to_json(),
            "published": {
                "software": self.published_value(self.published_software),
                "hardware": self.published_value(self.published_hardware),
                "source": source.source if source else None,
            },
        }
        for build, column in self.columns.items():
            if build not in (before, after):
                document[build] = column.to_json(hardware=True)
        return document


def _column(column: Column | None, *, hardware: bool) -> dict[str, Any] | None:
    return None if column is None else column.to_json(hardware=hardware)


def convert(value: float, unit: str, wanted: str) -> float | None:
    """A number in another unit of the same kind: throughputs, or time per operation."""
    if unit == wanted:
        return value
    if unit in BYTES_PER_SECOND and wanted in BYTES_PER_SECOND:
        return value * BYTES_PER_SECOND[unit] / BYTES_PER_SECOND[wanted]
    if {unit, wanted} == {"ms", "ops/s"} and value:
        return 1000 / value
    return None
