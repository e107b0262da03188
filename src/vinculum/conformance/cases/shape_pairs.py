"""How shapes are joined: for each broadcasting rule the shapes that fit, up to its edge, and those just beyond."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from vinculum.conformance.cases.shape_tables import EDGES, Shape, ShapePair
from vinculum.spec.model import OperatorSpec

_RECIPROCAL: tuple[Shape, ...] = ((), (0,), (1,), (1, 1, 1), (2, 0, 3), (2, 3, 4, 5), (2, 1, 3, 1, 2, 2), (17, 33))


def shape_pairs(spec: OperatorSpec) -> Iterator[ShapePair]:
    """Yield the pairs of shapes of an operator version: of each broadcasting rule that its attributes can select."""
    if len(spec.inputs) == 1:
        for shape in _RECIPROCAL:
            tried = "an empty tensor" if 0 in shape else "distinct numbers"
            yield ShapePair(("element-by-element",), shape, shape, shape, tried, everywhere=shape in ((), (0,)))
        return
    selector = spec.broadcasting_attribute
    declared = spec.attribute(selector) if selector else None
    for value, rule in spec.broadcasting.items():
        is_default = declared is None or value == declared.default
        for shapes in EDGES[rule]:
            if not _has(spec, shapes):
                continue
            if is_default:
                yield shapes
            if declared is not None and (shapes.everywhere or not is_default) and value is not None:
                attributes = {declared.name: value, **shapes.attributes}
                yield replace(shapes, attributes=attributes, default_written=is_default)


def _has(spec: OperatorSpec, shapes: ShapePair) -> bool:
    """Tell whether the version has a clause that the shapes test, and their attributes."""
    tested = any(clause.tag in shapes.tags for clause in spec.clauses)
    return tested and all(spec.attribute(name) is not None for name in shapes.attributes)


def shape_words(shapes: ShapePair, operands: int) -> str:
    """Return what an id calls a pair of shapes: the shapes, and the attributes that are written down."""
    if operands == 1:
        return f"shape {shapes.divisor}" if shapes.divisor else "a scalar"
    words = f"{shapes.dividend or 'a scalar'} by {shapes.divisor or 'a scalar'}"
    return ", ".join([words, *(f"{name}={value}" for name, value in shapes.attributes.items())])
