"""A run as one figure: for each element type the times of ours, of every exact peer, and of the plain pass over memory.

It is as wide as a phone, and takes the dark or the light of the page that it stands in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor, log10
from types import MappingProxyType
from xml.sax.saxutils import escape

from benchmarks.compare.page import threads
from benchmarks.compare.peers import OURS, ROOFLINE
from benchmarks.compare.results import Report, Row

# Okabe and Ito's colours, which people who see fewer colours can tell apart, and a shape for each.
_MARKS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        OURS: ("ours", "M-8,0a8,8 0 1 0 16,0a8,8 0 1 0-16,0"),
        "numpy": ("#E69F00", "M-5-5h10v10h-10z"),
        "torch": ("#D55E00", "M0-6L6,5H-6z"),
        "onnxruntime": ("#0072B2", "M0-7L6,0L0,7L-6,0z"),
        "openvino": ("#56B4E9", "M0,6L6-5H-6z"),
        "numexpr": ("#CC79A7", "M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z"),
        "jax": ("#009E73", "M-6-4l2-2l4,4l4-4l2,2l-4,4l4,4l-2,2l-4-4l-4,4l-2-2l4-4z"),
        ROOFLINE: ("#d33", "M-1.5-11h3v22h-3z"),
    }
)
_STYLE = """\
text { font: 13px sans-serif; fill: #222 } .line { stroke: #8884 } .ours { fill: #111 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .ours { fill: #fff } }"""
_WIDTH, _LEFT, _RIGHT, _TOP, _STEP, _KEY = 390, 74, 16, 64, 28, 22


def drawn_rows(report: Report) -> tuple[Row, ...]:
    """Return the rows that the figure shows: Div of equal shapes, or what was measured first, of the largest size."""
    kinds = {(row.cell.operator, row.cell.shape): row.cell for row in reversed(report.rows)}
    shown = kinds.get(("Div", "equal"), report.rows[0].cell)
    rows = [row for row in report.rows if (row.cell.operator, row.cell.shape) == (shown.operator, shown.shape)]
    size = max(row.cell.size for row in rows)
    return tuple(row for row in rows if row.cell.size == size)


def svg(report: Report) -> str:
    """Return the figure as SVG; the same report gives the same text."""
    return "\n".join(_lines(report, drawn_rows(report))) + "\n"


def _lines(report: Report, rows: Sequence[Row]) -> Iterator[str]:
    names = (OURS, *report.peers, ROOFLINE)
    times = {
        (name, place): row.outcomes[name].median
        for place, row in enumerate(rows)
        for name in names
        if row.outcomes[name].exact
    }
    shown = [name for name in names if any(name == found for found, _ in times)]
    bottom = _TOP + _STEP * len(rows)
    height = bottom + 52 + _KEY * ceil(len(shown) / 2)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">'
    yield f"<style>{_STYLE}</style>"
    yield _text(6, 18, rows[0].cell.heading, 'style="font-weight: bold"')
    yield _text(6, 37, threads(report))
    yield _text(6, 55, "nanoseconds an element: left is faster")
    low, high = floor(log10(min(times.values())) * 3) / 3, ceil(log10(max(times.values())) * 3) / 3

    def across(time: float) -> float:
        return _LEFT + 10 + (log10(time) - low) / max(high - low, 1 / 3) * (_WIDTH - _RIGHT - _LEFT - 10)

    for tick in (digit * 10.0**power for power in range(floor(low), ceil(high) + 1) for digit in (1, 3)):
        if low <= log10(tick) <= high:
            yield f'<path class="line" d="M{across(tick):.1f},{_TOP}V{bottom}"/>'
            yield _text(across(tick), bottom + 18, f"{tick:g}", 'text-anchor="middle"')
    for place, row in enumerate(rows):
        middle = _TOP + _STEP * (place + 0.5)
        yield f'<path class="line" d="M{_LEFT},{middle:g}H{_WIDTH - _RIGHT}"/>'
        yield _text(6, middle + 4, row.cell.element_type)
        yield from (_mark(name, across(times[name, place]), middle) for name in shown if (name, place) in times)
    for number, name in enumerate(shown):
        x, y = 16 + number % 2 * 160, bottom + 44 + number // 2 * _KEY
        yield _mark(name, x, y) + _text(x + 14, y + 5, report.titles[name])
    yield "</svg>"


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:g}" {more}>{escape(words)}</text>'.replace(" >", ">")


def _mark(name: str, x: float, y: float) -> str:
    fill, shape = _MARKS[name]
    paint = 'class="ours"' if name == OURS else f'fill="{fill}"'
    return f'<path {paint} d="{shape}" transform="translate({x:.1f},{y:g})"/>'
