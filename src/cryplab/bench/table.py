"""The before/after table for people: 80 columns, plain in a pipe; and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from cryplab.bench.formats import BYTES_PER_SECOND
from cryplab.bench.published import PublishedRow
from cryplab.bench.rows import BenchRow

__all__ = ["bench_tables", "markdown", "show_value"]

NONE = "-"


def bench_tables(rows: Sequence[BenchRow], builds: Sequence[str], heading: str) -> Group:
    """Throughputs first, then times of single operations, then what the columns mean.

    Args:
        rows: of one run.
        builds: columns; the first is what the last is compared with.
        heading: board, library, clock.
    """
    parts: list[RenderableType] = [heading]
    for unit in dict.fromkeys(r.unit for r in rows):
        parts += ["", _table([r for r in rows if r.unit == unit], unit, builds)]
    parts += ["", *_legend(rows, builds)]
    return Group(*parts)


def _table(rows: Sequence[BenchRow], unit: str, builds: Sequence[str]) -> Table:
    """One unit's rows; columns in which no row has anything are left out."""
    limited = any(r.limit.cpu or r.limit.dma for r in rows)
    shared = any(c.hardware_share for r in rows for c in r.columns.values())
    compared = any(r.published_software or r.published_hardware for r in rows)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", collapse_padding=True)
    table.add_column(_unit_title(unit), no_wrap=True)
    for build in builds:
        table.add_column(build, justify="right", no_wrap=True)
    if len(builds) > 1:
        table.add_column("ratio", justify="right", no_wrap=True)
    if limited:
        table.add_column("limit CPU", justify="right", min_width=6)
        table.add_column("limit DMA", justify="right", min_width=6)
    if shared:
        table.add_column("in HW", justify="right", no_wrap=True)
    if compared:
        table.add_column("published", justify="right", no_wrap=True)
    for row in rows:
        cells = [row.name, *(_value(row, build) for build in builds)]
        if len(builds) > 1:
            cells.append(_ratio(row.ratio(builds[0], builds[-1])))
        if limited:
            cells += [_number(row.limit.cpu, unit), _number(row.limit.dma, unit)]
        if shared:
            cells.append(_share(row, builds[-1]))
        if compared:
            cells.append(_published(row))
        table.add_row(*cells)
    return table


def _unit_title(unit: str) -> str:
    return {"KB/s": "KB/s (1024 bytes)", "MB/s": "MB/s (2^20 bytes)", "ms": "ms (less is better)"}.get(unit, unit)


def _value(row: BenchRow, build: str) -> str:
    column = row.columns.get(build)
    return NONE if column is None else show_value(column.value, row.unit)


def show_value(value: float, unit: str) -> str:
    """As many digits as say something: throughputs in KB/s and long times whole, the rest with decimals."""
    if value >= 1000 or (value >= 100 and unit in BYTES_PER_SECOND):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _number(value: float | None, unit: str) -> str:
    return NONE if value is None else show_value(value, unit)


def _ratio(ratio: float | None) -> str:
    return NONE if ratio is None else f"{ratio:.2f}"


def _share(row: BenchRow, build: str) -> str:
    share = row.columns[build].hardware_share if build in row.columns else 0.0
    if not share:
        return NONE
    return f"{share:.0%}" if share >= 0.005 else "<1%"


def _published(row: BenchRow) -> str:
    both = [_published_value(row, p) for p in (row.published_software, row.published_hardware)]
    return NONE if both == [NONE, NONE] else "/".join(both)


def _published_value(row: BenchRow, published: PublishedRow | None) -> str:
    if published is None:
        return NONE
    value = row.published_value(published)
    return published.value if value is None or published.unit == row.unit else show_value(value, row.unit)


def _legend(rows: Sequence[BenchRow], builds: Sequence[str]) -> Iterable[str]:
    if len(builds) > 1:
        yield f"ratio: how many times faster {builds[-1]} is than {builds[0]}"
    if any(r.limit.cpu for r in rows):
        yield "limit: what engine and bus allow, fed by CPU and by DMA, whatever the driver"
    if any(c.hardware_share for r in rows for c in r.columns.values()):
        yield f"in HW: share of the {builds[-1]} row's cycles inside hardware operations"
    sources = dict.fromkeys(p.source for r in rows for p in (r.published_software, r.published_hardware) if p)
    if sources:
        yield "published: software/hardware, " + "; ".join(sources)


def markdown(rows: Iterable[BenchRow], builds: Sequence[str], heading: str) -> str:
    """A table to paste; `formats.read` takes it back."""
    columns = ["row", "unit", *builds, *(["ratio"] if len(builds) > 1 else [])]
    align = ["---", "---"] + ["---:"] * (len(columns) - 2)
    lines = [heading, "", _line(columns), _line(align)]
    for row in rows:
        cells = [row.name, row.unit, *(_value(row, b) for b in builds)]
        if len(builds) > 1:
            cells.append(_ratio(row.ratio(builds[0], builds[-1])))
        lines.append(_line(cells))
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
