"""Charts of benchmark rows: bars by group, one panel for throughput and one for time; predicted over published.

Readable at 800 pixels and in monochrome: groups differ by lightness and hatching, every bar carries its
value. The axis is logarithmic when the largest value is more than 30 times the smallest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryplab.errors import UsageError

__all__ = ["Bar", "Point", "draw_bars", "draw_scatter"]

WIDTH_INCHES, DPI = 8.0, 100
ROW_INCHES, BAR_INCHES = 0.14, 0.17
STYLES = (("#d9d9d9", "////"), ("#1f5f99", ""), ("#e08214", "...."), ("#5aae61", "xxxx"))
LOG_RANGE = 30.0
MARKERS = (("o", "#1f5f99"), ("s", "#c25700"), ("^", "#2b7a3b"))
OUTLIER, LIST_COLUMNS, LIST_LINE_INCHES = 0.20, 2, 0.16
FORMATS = (".svg", ".png", ".pdf")


@dataclass(frozen=True, slots=True)
class Bar:
    """One row: its name, its unit and one value a group, None where a group lacks it."""

    name: str
    unit: str
    values: tuple[float | None, ...]


def draw_bars(path: str | Path, title: str, groups: Sequence[str], rows: Sequence[Bar], note: str = "") -> Path:
    """Draw and save; the suffix decides the format.

    Raises: UsageError for another suffix or when there is nothing to draw.
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"--chart {path}: expected a name that ends in {', '.join(FORMATS)}")
    panels = [(unit, [r for r in rows if r.unit == unit]) for unit in dict.fromkeys(r.unit for r in rows)]
    if not panels:
        raise UsageError(f"--chart {path}: there is no row to draw")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    heights = [len(bars) * (ROW_INCHES + BAR_INCHES * len(groups)) + 0.55 for _, bars in panels]
    with matplotlib.rc_context({"svg.hashsalt": "cryplab", "font.size": 9, "hatch.linewidth": 0.5}):
        figure, axes = pyplot.subplots(
            len(panels),
            1,
            figsize=(WIDTH_INCHES, sum(heights) + 0.9),
            height_ratios=heights,
            squeeze=False,
            layout="constrained",
        )
        figure.suptitle(title, fontsize=12, fontweight="bold", x=0.01, ha="left")
        for axis, (unit, bars) in zip(axes[:, 0], panels, strict=True):
            _panel(axis, unit, groups, bars)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=len(groups), frameon=False)
        if note:
            figure.text(0.99, 0.003, note, ha="right", va="bottom", fontsize=7, color="#555555")
        figure.savefig(path, dpi=DPI, metadata={"Date": None} if path.suffix == ".svg" else None)
        pyplot.close(figure)
    return path


def _panel(axis: Any, unit: str, groups: Sequence[str], bars: Sequence[Bar]) -> None:
    values = [v for bar in bars for v in bar.values if v]
    step = 1.0 / (len(groups) + ROW_INCHES / BAR_INCHES)
    logarithmic = bool(values) and max(values) > LOG_RANGE * min(values)
    for index, group in enumerate(groups):
        colour, hatch = STYLES[index % len(STYLES)]
        places = [row + (index - (len(groups) - 1) / 2) * step for row in range(len(bars))]
        lengths = [bar.values[index] or 0 for bar in bars]
        drawn = axis.barh(places, lengths, height=step * 0.92, color=colour, hatch=hatch, edgecolor="black",
                          linewidth=0.6, label=group)  # fmt: skip
        texts = [_shown(v) if (v := bar.values[index]) else "" for bar in bars]
        axis.bar_label(drawn, texts, padding=3, fontsize=8)
    axis.set_yticks(range(len(bars)), [bar.name for bar in bars])
    axis.invert_yaxis()
    axis.set_ylim(len(bars) - 0.4, -0.6)
    better = "less is better" if unit == "ms" else "more is better"
    axis.set_title(f"{unit} ({better}{', logarithmic' if logarithmic else ''})", loc="left", fontsize=9)
    if logarithmic:
        axis.set_xscale("log")
        axis.set_xlim(10 ** _floor_log(min(values)), max(values) * 4)
    elif values:
        axis.set_xlim(0, max(values) * 1.15)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="x", color="#cccccc", linewidth=0.5)
    axis.set_axisbelow(True)


def _floor_log(value: float) -> int:
    from math import floor, log10

    return floor(log10(value))


def _shown(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


@dataclass(frozen=True, slots=True)
class Point:
    """A predicted row: who published it, in which column, what kind of row, its name, both values in one unit."""

    system: str
    column: str
    kind: str
    name: str
    published: float
    predicted: float
    error: float


def draw_scatter(path: str | Path, title: str, points: Sequence[Point]) -> Path:
    """Predicted over published on logarithmic axes, with the line of equality and a band of 10 % to both sides.

    Each kind of row has a panel; systems differ by marker and colour, software columns are hollow. Rows that
    miss by more than 20 % bear numbers, which the list below the panels names.

    Raises: UsageError as `draw_bars`.
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"--chart {path}: expected a name that ends in {', '.join(FORMATS)}")
    kinds = list(dict.fromkeys(p.kind for p in points))
    if not kinds:
        raise UsageError(f"--chart {path}: there is no row to draw")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    outliers = sorted((p for p in points if abs(p.error) > OUTLIER), key=lambda p: -abs(p.error))
    listed = -(-len(outliers) // LIST_COLUMNS) * LIST_LINE_INCHES + 0.2 if outliers else 0.0
    legend = 1.05
    panels = WIDTH_INCHES / max(2, len(kinds)) + 0.3
    height = panels + legend + listed
    with matplotlib.rc_context({"svg.hashsalt": "cryplab", "font.size": 9}):
        figure, axes = pyplot.subplots(1, len(kinds), figsize=(WIDTH_INCHES, height), squeeze=False)
        figure.subplots_adjust(
            left=0.085, right=0.985, wspace=0.22, top=1 - 0.6 / height, bottom=(legend + listed) / height
        )
        figure.suptitle(title, fontsize=12, fontweight="bold", x=0.01, ha="left")
        systems = list(dict.fromkeys(p.system for p in points))
        for axis, kind in zip(axes[0], kinds, strict=True):
            _scatter_panel(axis, kind, [p for p in points if p.kind == kind], systems, outliers)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        more = [h for h in zip(*axes[0, -1].get_legend_handles_labels(), strict=True) if h[1] not in labels]
        figure.legend(
            [*handles, *(h for h, _ in more)], [*labels, *(name for _, name in more)], loc="lower left",
            bbox_to_anchor=(0.005, listed / height), ncols=2, frameon=False, fontsize=8, columnspacing=1.2,
        )  # fmt: skip
        _list_outliers(figure, outliers, height)
        figure.savefig(path, dpi=DPI, metadata={"Date": None} if path.suffix == ".svg" else None)
        pyplot.close(figure)
    return path


def _list_outliers(figure: Any, outliers: Sequence[Point], height: float) -> None:
    """Their numbers, names and errors in columns at the bottom."""
    lines = -(-len(outliers) // LIST_COLUMNS)
    for index, p in enumerate(outliers):
        column, line = divmod(index, lines)
        text = f"{index + 1}  {100 * p.error:+.0f} %  {p.name}, {p.column}, {p.system.split(',')[0]}"
        place = (0.012 + column / LIST_COLUMNS, ((lines - line - 1) * LIST_LINE_INCHES + 0.08) / height)
        figure.text(*place, text, fontsize=7.5, color="#333333")


def _scatter_panel(
    axis: Any, kind: str, points: Sequence[Point], systems: Sequence[str], outliers: Sequence[Point]
) -> None:
    values = [v for p in points for v in (p.published, p.predicted)]
    ends = [min(values) / 1.6, max(values) * 1.6]
    axis.plot(ends, ends, color="black", linewidth=0.8)
    axis.fill_between(
        ends, [v / 1.1 for v in ends], [v * 1.1 for v in ends], color="#cfcfcf", label="within 10 %", lw=0
    )
    for rank, system in enumerate(systems):
        marker, colour = MARKERS[rank % len(MARKERS)]
        for column in dict.fromkeys(p.column for p in points if p.system == system):
            chosen = [p for p in points if (p.system, p.column) == (system, column)]
            axis.scatter(
                [p.published for p in chosen], [p.predicted for p in chosen], marker=marker, edgecolors=colour,
                facecolors="none" if column == "software" else colour, s=30, linewidths=1.1,
                label=f"{system}, {column}", zorder=3, alpha=0.85,
            )  # fmt: skip
    _number_outliers(axis, points, outliers, ends)
    unit = "time, ms" if kind == "public key" else "throughput, KiB/s"
    axis.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal", xlabel="published", ylabel="predicted")
    axis.set_title(f"{kind}: {unit}", loc="left", fontsize=9)
    axis.grid(color="#eeeeee", linewidth=0.5)


def _number_outliers(axis: Any, points: Sequence[Point], outliers: Sequence[Point], ends: Sequence[float]) -> None:
    """Numbers beside the points that miss: away from the line, a little further where one stands already."""
    from math import hypot, log

    scale = log(ends[1] / ends[0])
    taken: list[tuple[float, float]] = []
    for number, p in enumerate(outliers, 1):
        if p not in points:
            continue
        x, y = log(p.published / ends[0]) / scale, log(p.predicted / ends[0]) / scale
        side = 1 if y < x else -1  # below the line: to the lower right
        reach = 0.035
        while any(hypot(x + side * reach - a, y - side * reach - b) < 0.042 for a, b in taken):
            reach += 0.02
        taken.append((x + side * reach, y - side * reach))
        axis.annotate(
            str(number), (x, y), (x + side * reach, y - side * reach), xycoords="axes fraction",
            textcoords="axes fraction", fontsize=7.5, ha="center", va="center",
            arrowprops={"arrowstyle": "-", "color": "#999999", "linewidth": 0.5, "shrinkB": 2},
        )  # fmt: skip
