"""How shapes are joined: for each broadcasting rule the shapes that fit, up to its edge, and those just beyond."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from vinculum.conformance.cases.shape_tables import EDGES, Entry, Shape
from vinculum.spec.model import AttributeValue, OperatorSpec


@dataclass(frozen=True)
class ShapePair:
    """Two shapes, or Reciprocal's one, and the attributes that join them.

    Attributes
    ----------
    dividend, divisor : tuple of int
        The shapes; Reciprocal's operand is the divisor, and both are its shape.
    aligned : tuple of int or None
        The divisor's shape with the dimensions of size 1 with which NumPy joins the two in the same way; None if
        the version does not join them.
    tag : str
        The clause that it tests.
    attributes : Mapping
        Those that are written down.
    tried : str
        What it tries.
    everywhere : bool
        Whether it is of the few that every element type is asked.
    zero : bool
        Whether the divisor is 0, which divides nothing as the result is empty.
    default_written : bool
        Whether it differs from another pair of shapes only in that the rule in force by default is written down.
    """

    dividend: Shape
    divisor: Shape
    aligned: Shape | None
    tag: str
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    tried: str = ""
    everywhere: bool = False
    zero: bool = False
    default_written: bool = False


def shape_pairs(spec: OperatorSpec) -> Iterator[ShapePair]:
    """Yield the pairs of shapes of an operator version: of each broadcasting rule that its attributes can select."""
    if len(spec.inputs) == 1:
        for shape in _SHAPES:
            everywhere = shape in ((), (0,))
            tried = "an empty tensor" if 0 in shape else "distinct numbers"
            yield ShapePair(shape, shape, shape, "element-by-element", {}, tried, everywhere)
        return
    selector = spec.broadcasting_attribute
    declared = spec.attribute(selector) if selector else None
    for value, rule in spec.broadcasting.items():
        is_default = declared is None or value == declared.default
        for entry in EDGES[rule]:
            if not _has(spec, entry):
                continue
            shapes = _shape_pair(spec, entry)
            if is_default:
                yield shapes
            if declared is not None and (entry.everywhere or not is_default) and value is not None:
                attributes = {declared.name: value, **shapes.attributes}
                yield replace(shapes, attributes=attributes, default_written=is_default)


_SHAPES: tuple[Shape, ...] = ((), (0,), (1,), (1, 1, 1), (2, 0, 3), (2, 3, 4, 5), (2, 1, 3, 1, 2, 2), (17, 33))


def _has(spec: OperatorSpec, entry: Entry) -> bool:
    """Tell whether the version has a clause that the entry tests, and its attribute."""
    return (entry.axis is None or spec.attribute("axis") is not None) and _tag(spec, entry) is not None


def _tag(spec: OperatorSpec, entry: Entry) -> str | None:
    having = {c.tag for c in spec.clauses}
    return next((tag for tag in entry.tags if tag in having), None)


def _shape_pair(spec: OperatorSpec, entry: Entry) -> ShapePair:
    attributes: dict[str, AttributeValue] = {} if entry.axis is None else {"axis": entry.axis}
    tag = _tag(spec, entry)
    if tag is None:
        raise KeyError(f"{spec.title} has none of the clauses {entry.tags}")
    return ShapePair(
        entry.dividend, entry.divisor, entry.aligned, tag, attributes, entry.tried, entry.everywhere, entry.zero
    )


def shape_words(shapes: ShapePair, operands: int) -> str:
    """Return what an id calls a pair of shapes: the shapes, and the attributes that are written down."""
    if operands == 1:
        return f"shape {shapes.divisor}" if shapes.divisor else "a scalar"
    words = f"{shapes.dividend or 'a scalar'} by {shapes.divisor or 'a scalar'}"
    return ", ".join([words, *(f"{name}={value}" for name, value in shapes.attributes.items())])
