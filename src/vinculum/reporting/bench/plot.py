"""A benchmark as one figure: for each element type the times of ours, of every exact peer, and the roofline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import StringIO
from types import MappingProxyType
from typing import Any

from vinculum.benchmarking.cells import TYPES
from vinculum.benchmarking.peers.registry import OURS, ROOFLINE
from vinculum.benchmarking.results import Report, Row
from vinculum.errors import AttributeValueError, ModelError
from vinculum.reporting.bench.words import heading, how
from vinculum.reporting.escape import short

# Okabe and Ito's colours, which people who see fewer colours tell apart as well; shapes for whoever sees none.
_MARKS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "numpy": ("#E69F00", "s"),
        "torch": ("#D55E00", "^"),
        "onnxruntime": ("#0072B2", "D"),
        "openvino": ("#56B4E9", "v"),
        "numexpr": ("#CC79A7", "P"),
        "jax": ("#009E73", "X"),
    }
)
_OTHERS = (("#777777", "h"), ("#AA4499", "p"), ("#44AA99", "<"), ("#117733", ">"))
_SETTINGS = {
    "svg.hashsalt": "vinculum",  # Without it names in the file differ from run to run.
    "svg.fonttype": "none",  # Words stay words, which can be searched and read aloud.
    "text.parse_math": False,  # A dollar in a name is a dollar.
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
}
_NOTHING = {"Date": None, "Creator": None, "Format": None, "Type": None}


def check_matplotlib() -> None:
    """Refuse to draw without what draws.

    Raises
    ------
    ModelError
        If matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise ModelError("a plot cannot be drawn: matplotlib is not installed: pip install 'vinculum-div[bench]'")


def drawn_rows(report: Report) -> tuple[Row, ...]:
    """Return the rows that the figure shows: Div of equal shapes, or what was measured first, of the largest size.

    Raises
    ------
    AttributeValueError
        If nothing was measured.
    """
    if not report.rows:
        raise AttributeValueError("there is nothing to draw: no cell was measured")
    first = report.rows[0].cell
    kinds = {(row.cell.operator, row.cell.shape) for row in report.rows}
    operator, shape = ("Div", "equal") if ("Div", "equal") in kinds else (first.operator, first.shape)
    rows = [row for row in report.rows if (row.cell.operator, row.cell.shape) == (operator, shape)]
    size = max(row.cell.size for row in rows)
    order = list(TYPES)
    return tuple(sorted((r for r in rows if r.cell.size == size), key=lambda row: order.index(row.cell.element_type)))


def svg(report: Report) -> str:
    """Return the figure as SVG; the same report gives the same text.

    Raises
    ------
    ModelError
        If matplotlib is not installed.
    """
    check_matplotlib()
    from matplotlib import rc_context

    with rc_context(_SETTINGS):
        figure = _figure(report, drawn_rows(report))
        written = StringIO()
        figure.savefig(written, format="svg", metadata=_NOTHING, facecolor="white")
    # Matplotlib ends lines with spaces.
    return "".join(f"{line.rstrip()}\n" for line in written.getvalue().splitlines())


def _figure(report: Report, rows: Sequence[Row]) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    figure = Figure(figsize=(9, 1.9 + 0.42 * len(rows)), layout="constrained")
    axes = figure.subplots()
    _draw(axes, report, rows)
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
    figure.suptitle(heading(rows[0].cell), fontweight="bold")
    axes.set_title(f"{_threads(report)}; peers whose quotients are not exact are left out", fontsize=9)
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure


def _draw(axes: Any, report: Report, rows: Sequence[Row]) -> None:
    for place in range(len(rows)):
        axes.axhline(place, color="#eeeeee", linewidth=8, zorder=0)
    others = iter(_OTHERS * len(report.peers))
    for name in report.peers:
        colour, mark = _MARKS[name] if name in _MARKS else next(others)
        times, places = _points(rows, name)
        if times:
            edge = {"edgecolors": "white", "linewidths": 0.6}
            axes.scatter(times, places, s=60, c=colour, marker=mark, label=_label(report, name), zorder=4, **edge)
    # Ours is the largest and lies below, so that it hides nobody who is as fast.
    times, places = _points(rows, OURS)
    axes.scatter(times, places, s=150, c="black", marker="o", label=_label(report, OURS), zorder=3, linewidths=0)
    times, places = _points(rows, ROOFLINE)
    axes.scatter(
        times, places, s=210, c="#cc0000", marker="|", label=_label(report, ROOFLINE), zorder=5, linewidths=2.5
    )


def _label(report: Report, name: str) -> str:
    """Return a peer's title; what begins with an underscore would not stand in the legend."""
    return short(report.titles[name]).lstrip("_")


def _points(rows: Sequence[Row], name: str) -> tuple[list[float], list[int]]:
    found = [(row.measured(name), place) for place, row in enumerate(rows)]
    exact = [(outcome.median, place) for outcome, place in found if outcome is not None and outcome.exact]
    return [time for time, _ in exact], [place for _, place in exact]


def _threads(report: Report) -> str:
    return how(report).partition("; ")[2].rstrip(".")
