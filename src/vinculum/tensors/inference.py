"""The element type and shape of a result, before any operand exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError
from vinculum.spec.element_types import ElementType, by_name
from vinculum.spec.model import AttributeValue, Broadcasting, OperatorSpec
from vinculum.tensors.broadcasting import join
from vinculum.tensors.shapes import Dimension, SymbolicShape, check_dimensions, is_static, static
from vinculum.tensors.type_checking import check_element_types


def infer(
    spec: OperatorSpec,
    attributes: Mapping[str, AttributeValue],
    element_types: Sequence[ElementType | str],
    shapes: Sequence[Sequence[Dimension] | None],
) -> tuple[ElementType, SymbolicShape | None]:
    """Return the element type and the shape of the result.

    The attributes are as checked by ``spec.attributes.checked_attributes``. There is an element type, or its ONNX name,
    and a shape for each operand: numbers, names, None for an unknown dimension; None for an unknown rank. Div-1 and
    Reciprocal-1 promise no inference; they get the answer of version 6.

    ElementTypeError if the version does not take the element types. BroadcastError if two dimensions that meet are
    known and do not fit. Two occurrences of a symbol are not compared: the result may then be a shape that no values
    reach.
    """
    for t in element_types:
        if not isinstance(t, ElementType | str):
            raise ElementTypeError(
                f"{t!r} is not an element type; allowed: an ElementType or an ONNX name, such as 'float'"
            )
    types = tuple(t if isinstance(t, ElementType) else by_name(t) for t in element_types)
    element_type = check_element_types(spec, types)
    if len(shapes) != len(types):
        raise AttributeValueError(
            f"{len(types)} element types but {len(shapes)} shapes given; give one of each an operand"
        )
    known = [None if shape is None else check_dimensions(shape) for shape in shapes]
    if len(known) == 1:
        return element_type, known[0]
    a, b = known
    rule = spec.broadcasting_rule(attributes)
    axis = attributes.get("axis")
    joined = _join_symbolic(rule, a, b, axis if isinstance(axis, int) else None)
    return element_type, None if joined is None else check_dimensions(joined)


def _join_symbolic(
    rule: Broadcasting, a: SymbolicShape | None, b: SymbolicShape | None, axis: int | None
) -> SymbolicShape | None:
    if a is not None and b is not None and is_static(a) and is_static(b):
        return join(rule, static(a), static(b), axis).shape
    if rule is Broadcasting.MULTIDIRECTIONAL:
        return None if a is None or b is None else _multidirectional(a, b)
    if rule is Broadcasting.EQUAL:
        return _merged(a, b)
    # B is broadcast onto A, so the result has A's shape. The known sizes must not contradict that.
    if a is not None and b is not None:
        _check_onto(rule, a, b, axis)
    return a


def _check_onto(rule: Broadcasting, a: SymbolicShape, b: SymbolicShape, axis: int | None) -> None:
    """Join the shapes after giving each dimension that is not a number a size that fits, if there is one."""
    start = len(a) - len(b) if axis is None or (axis == -1 and rule is Broadcasting.PDPD) else axis
    filled_a, filled_b = list(a), list(b)
    for d, size in enumerate(b):
        onto = filled_a[start + d] if 0 <= start + d < len(a) else 1
        if not isinstance(size, int):
            filled_b[d] = onto if isinstance(onto, int) else 1
        elif not isinstance(onto, int):
            filled_a[start + d] = size
    sizes_a = tuple(d if isinstance(d, int) else 1 for d in filled_a)
    one_element = tuple(d if isinstance(d, int) else 1 for d in b)
    if set(one_element) <= {1} and (len(b) <= len(a) or rule is Broadcasting.PDPD):
        return
    join(rule, sizes_a, static(tuple(filled_b)), axis)


def _multidirectional(a: SymbolicShape, b: SymbolicShape) -> SymbolicShape:
    rank = max(len(a), len(b))
    padded_a: SymbolicShape = (1,) * (rank - len(a)) + a
    padded_b: SymbolicShape = (1,) * (rank - len(b)) + b
    return tuple(_stretch(x, y, a, b) for x, y in zip(padded_a, padded_b, strict=True))


def _stretch(x: Dimension, y: Dimension, a: SymbolicShape, b: SymbolicShape) -> Dimension:
    """Join two dimensions: a size above 1 settles it, a 1 leaves the other, two different symbols leave it unknown."""
    sizes = {d for d in (x, y) if isinstance(d, int) and d != 1}
    if len(sizes) > 1:
        raise BroadcastError(f"A of shape {a} and B of shape {b} do not broadcast: {x} meets {y}, and neither is 1")
    if sizes:
        return sizes.pop()
    symbols = [d for d in (x, y) if not isinstance(d, int)]
    if not symbols:
        return 1
    return symbols[0] if len(symbols) == 1 or symbols[0] == symbols[1] else None


def _merged(a: SymbolicShape | None, b: SymbolicShape | None) -> SymbolicShape | None:
    """Join shapes that must be equal; of two dimensions the one that says more is kept."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b) or any(isinstance(x, int) and isinstance(y, int) and x != y for x, y in zip(a, b, strict=True)):
        raise BroadcastError(f"A has shape {a} and B {b}; without broadcasting they must be equal")
    return tuple(min((x, y), key=_vagueness) for x, y in zip(a, b, strict=True))


def _vagueness(dimension: Dimension) -> int:
    return 0 if isinstance(dimension, int) else 1 if isinstance(dimension, str) else 2
