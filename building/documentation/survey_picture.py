"""The picture of the survey: ``docs/assets/survey.svg``, from the data that stand in ``docs/survey.html``.

`building.documentation.survey` writes it, after the page.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

DOCUMENTS = Path(__file__).parents[2] / "docs"
SURVEY, PICTURE = DOCUMENTS / "survey.html", DOCUMENTS / "assets" / "survey.svg"

_GROUPS = (
    ("crashed", "#b0122b", ("crashed", "hung", "out of memory")),
    ("wrong value", "#e06020", ("wrong value", "wrong type", "wrong shape")),
    ("off by ulps", "#e0a81a", ("off by ulps",)),
    ("accepted what must be refused", "#c77dba", ("accepted what must be refused",)),
    ("refused", "#7b5ccf", ("refused",)),
    ("not supported", "#9aa3ad", ("not supported",)),
    ("pass", "#2a9d5c", ("unspecified", "refused as required", "exact")),
)
"""What is drawn together: its name, its colour, and the kinds of verdicts."""
_WIDTH, _LEFT, _RIGHT, _TOP, _STEP, _BAR = 390, 150, 6, 100, 26, 16
_STYLE = "text { fill: #1d2129 } @media (prefers-color-scheme: dark) { text { fill: #ddd } }"
_LEAST = 3.0  # Pixels, so that fourteen crashes are seen.


def drawn(page: str) -> str:
    """Return the picture of a page that ``vinculum conform --html`` has written."""
    found = re.search(r'<script type="application/json" id="vinculum-data">(.*?)</script>', page, re.DOTALL)
    if found is None:
        raise ValueError("this is no page of vinculum conform --html: it has no data")
    return "\n".join(_lines(json.loads(found[1]))) + "\n"


def _lines(data: dict[str, Any]) -> Iterator[str]:
    height = _TOP + _STEP * len(data["runtimes"])
    box = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="13"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {box}>'
    yield f"<title>How runtimes divide</title><style>{_STYLE}</style>"
    yield '<text x="6" y="18" font-weight="bold">How runtimes divide, in verdicts</text>'
    x, y = 6.0, 30
    for name, colour, _ in _GROUPS:
        if x + 17 + 7 * len(name) > _WIDTH:
            x, y = 6.0, y + 22
        yield f'<rect x="{x:.0f}" y="{y}" width="12" height="12" rx="2" fill="{colour}"/>'
        yield f'<text x="{x + 17:.0f}" y="{y + 11}">{escape(name)}</text>'
        x += 32 + 7 * len(name)
    for place, runtime in enumerate(data["runtimes"]):
        yield from _runtime(data, runtime, _TOP + place * _STEP)
    yield "</svg>"


def _runtime(data: dict[str, Any], runtime: dict[str, Any], top: int) -> Iterator[str]:
    column = data["columns"].index("kind")
    counts = Counter(data["kinds"][case[column]][0] for case in runtime["cases"])
    groups = [(name, colour, sum(counts[kind] for kind in kinds)) for name, colour, kinds in _GROUPS]
    yield f'<text x="6" y="{top + 13}">{escape(_short(runtime["title"]))}</text>'
    widths = _widths([count for _, _, count in groups])
    x = float(_LEFT)
    for (name, colour, count), width in zip(groups, widths, strict=True):
        if count:
            yield (
                f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{_BAR}" fill="{colour}">'
                f"<title>{count:,} {escape(name)}</title></rect>"
            )
        x += width


def _short(title: str) -> str:
    return title.removeprefix("the ").replace("reference evaluator", "reference")


def _widths(counts: list[int]) -> list[float]:
    """Return widths in proportion, none of what is there too small to be seen."""
    whole = _WIDTH - _LEFT - _RIGHT
    widths = [max(_LEAST, whole * count / sum(counts)) if count else 0.0 for count in counts]
    return [width * whole / sum(widths) for width in widths]
