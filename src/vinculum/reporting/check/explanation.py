"""What ``vinculum check --explain`` tells: each value on the way to a node, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.facts import Fact, Kind
from vinculum.analysis.places import Step
from vinculum.reporting.check.words import BOUNDS_FROM
from vinculum.reporting.escape import one_line
from vinculum.reporting.terminal import section


def explanation(node: str, steps: Sequence[Step]) -> Iterator[RenderableType]:
    """Yield the steps to the bounds of a node."""
    yield from section(f"How the bounds of {one_line(node)} come about", Text())
    for step in steps:
        made = f" = {one_line(step.operator)}({', '.join(map(one_line, step.operands))})" if step.operator else ""
        yield Padding.indent(Text.assemble((one_line(step.name), "bold"), made), 2)
        for words in said(step.known):
            yield Padding.indent(Text(words), 4)


def said(known: AbstractTensor) -> Iterator[str]:
    """Yield what is known of a value: its type and bounds, then what else there is."""
    low, high = known.box.hull()
    shape = "any shape" if known.shape is None else f"({', '.join(map(str, known.shape))})"
    whole = "whole numbers " if known.integral else ""
    kind, by = known.element_type or "any type", BOUNDS_FROM[known.bounds_from]
    yield f"{kind} {shape}: {whole}in [{low:.6g}, {high:.6g}], by {by}"
    least = float(known.mag.min())
    yield f"never zero, at least {least:.3g} in magnitude" if not known.may_zero else "can be zero"
    if known.may_nan:
        yield "can be NaN"
    yield from map(_fact, known.facts)
    if known.low.size > 1:
        yield f"bounds of {known.low.size} parts differ"


def _fact(fact: Fact) -> str:
    if fact.kind is Kind.SUM:
        return f"the sum along axis {fact.axis} lies in [{fact.low:.6g}, {fact.high:.6g}]"
    return f"along axis {fact.axis} some element is at least {fact.low:.6g}"
