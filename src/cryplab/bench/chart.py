"""Charts of benchmark rows: grouped horizontal bars, one panel for throughput and one for time.

Readable at 800 pixels and in monochrome: groups differ by lightness and hatching, every bar carries its
value. The axis is logarithmic when the largest value is more than 30 times the smallest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryplab.errors import UsageError

__all__ = ["Bar", "draw_bars", "draw_scatter"]

WIDTH_INCHES, DPI = 8.0, 100
ROW_INCHES, BAR_INCHES = 0.14, 0.17
STYLES = (("#d9d9d9", "////"), ("#1f5f99", ""), ("#e08214", "...."), ("#5aae61", "xxxx"))
LOG_RANGE = 30.0
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


def draw_scatter(path: str | Path, title: str, points: Sequence[tuple[str, str, float, float]]) -> Path:
    """Predicted over published on logarithmic axes, with lines of equality and of ±25 %.

    Args:
        points: (published column, kind of row, published, predicted); kinds have panels of their own.
    Raises: UsageError as `draw_bars`.
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"--chart {path}: expected a name that ends in {', '.join(FORMATS)}")
    kinds = list(dict.fromkeys(kind for _, kind, _, _ in points))
    if not kinds:
        raise UsageError(f"--chart {path}: there is no row to draw")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.hashsalt": "cryplab", "font.size": 9}):
        figure, axes = pyplot.subplots(
            1, len(kinds), figsize=(WIDTH_INCHES, WIDTH_INCHES / len(kinds) + 0.6), squeeze=False, layout="constrained"
        )
        figure.suptitle(title, fontsize=12, fontweight="bold", x=0.01, ha="left")
        for axis, kind in zip(axes[0], kinds, strict=True):
            _scatter_panel(axis, kind, [(c, x, y) for c, k, x, y in points if k == kind])
        figure.savefig(path, dpi=DPI, metadata={"Date": None} if path.suffix == ".svg" else None)
        pyplot.close(figure)
    return path


def _scatter_panel(axis: Any, kind: str, points: Sequence[tuple[str, float, float]]) -> None:
    unit = "ms" if kind == "public key" else "as printed"
    ends = [min(min(x, y) for _, x, y in points) / 2, max(max(x, y) for _, x, y in points) * 2]
    axis.plot(ends, ends, color="black", linewidth=0.8)
    axis.fill_between(ends, [v / 1.25 for v in ends], [v * 1.25 for v in ends], color="#dddddd", label="within 25 %")
    markers = (("o", "#1f5f99", "none"), ("s", "black", "black"), ("^", "#e08214", "none"))
    columns = list(dict.fromkeys(c for c, _, _ in points))
    for rank, ((marker, edge, face), column) in enumerate(zip(markers, columns, strict=False)):
        chosen = [(x, y) for c, x, y in points if c == column]
        axis.scatter([x for x, _ in chosen], [y for _, y in chosen], marker=marker, edgecolors=edge, facecolors=face,
                     s=28, label=column, zorder=5 - rank)  # fmt: skip
    axis.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal", xlabel="published", ylabel="predicted")
    axis.set_title(f"{kind} ({unit})", loc="left", fontsize=9)
    axis.grid(color="#eeeeee", linewidth=0.5)
    axis.legend(frameon=False, loc="upper left", fontsize=8)
