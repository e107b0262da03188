"""A run as one figure: for each element type the times of ours, of every exact peer, and the roofline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from types import MappingProxyType
from typing import Any

from benchmarks.compare.page import threads
from benchmarks.compare.peers import OURS, ROOFLINE
from benchmarks.compare.results import Report, Row

# Okabe and Ito's colours, which people who see fewer colours tell apart as well; shapes for whoever sees none. Ours is
# the largest and lies below, so that it hides nobody who is as fast.
_MARKS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        **{
            name: {"c": colour, "marker": mark, "s": 60, "edgecolors": "white", "linewidths": 0.6, "zorder": 4}
            for name, colour, mark in (
                ("numpy", "#E69F00", "s"),
                ("torch", "#D55E00", "^"),
                ("onnxruntime", "#0072B2", "D"),
                ("openvino", "#56B4E9", "v"),
                ("numexpr", "#CC79A7", "P"),
                ("jax", "#009E73", "X"),
            )
        },
        OURS: {"c": "black", "marker": "o", "s": 150, "linewidths": 0, "zorder": 3},
        ROOFLINE: {"c": "#cc0000", "marker": "|", "s": 210, "linewidths": 2.5, "zorder": 5},
    }
)
_SETTINGS = {
    "svg.hashsalt": "vinculum",  # Without it names in the file differ from run to run.
    "svg.fonttype": "none",  # Words stay words, which can be searched and read aloud.
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
}
_NOTHING = {"Date": None, "Creator": None, "Format": None, "Type": None}


def drawn_rows(report: Report) -> tuple[Row, ...]:
    """Return the rows that the figure shows: Div of equal shapes, or what was measured first, of the largest size."""
    kinds = {(row.cell.operator, row.cell.shape): row.cell for row in reversed(report.rows)}
    shown = kinds.get(("Div", "equal"), report.rows[0].cell)
    rows = [row for row in report.rows if (row.cell.operator, row.cell.shape) == (shown.operator, shown.shape)]
    size = max(row.cell.size for row in rows)
    return tuple(row for row in rows if row.cell.size == size)


def svg(report: Report) -> str:
    """Return the figure as SVG; the same report gives the same text."""
    from matplotlib import rc_context

    with rc_context(_SETTINGS):
        written = StringIO()
        _figure(report, drawn_rows(report)).savefig(written, format="svg", metadata=_NOTHING, facecolor="white")
    # Matplotlib ends lines with spaces.
    return "".join(f"{line.rstrip()}\n" for line in written.getvalue().splitlines())


def _figure(report: Report, rows: Sequence[Row]) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    figure = Figure(figsize=(9, 1.9 + 0.42 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place in range(len(rows)):
        axes.axhline(place, color="#eeeeee", linewidth=8, zorder=0)
    for name in (*report.peers, OURS, ROOFLINE):
        exact = [(row.outcomes[name].median, place) for place, row in enumerate(rows) if row.outcomes[name].exact]
        if exact:
            axes.scatter(*zip(*exact, strict=True), label=report.titles[name], **_MARKS[name])
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("nanoseconds an element, logarithmic; to the left is faster")
    axes.set_yticks(range(len(rows)), [row.cell.element_type for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="x", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.suptitle(rows[0].cell.heading, fontweight="bold")
    axes.set_title(f"{threads(report)}; peers whose quotients are not exact are left out", fontsize=9)
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure
