"""Whether a difference breaks a model: the whole matrix of versions, and an oracle that searches programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from vinculum.spec.diff import difference
from vinculum.spec.element_types import ELEMENT_TYPES, FLOAT, ElementType
from vinculum.spec.model import AttributeValue, Broadcasting, OperatorSpec
from vinculum.spec.rows import versions

Shape = tuple[int, ...]
Settings = Mapping[str, AttributeValue]

AXIS_LOST = "attribute 'axis' is removed"
STRETCHING_LOST = "broadcasting: multidirectional -> equal"
BROKEN_BECAUSE = {
    # 1 -> 6 drops the hint consumed_inputs and adds integers: the Div-6 document itself says 'breaking: no'.
    ("Div", 1, 7): AXIS_LOST,  # a divisor in the middle of the dividend's shape has no way to say so any more
    ("Div", 1, 13): AXIS_LOST,
    ("Div", 1, 14): AXIS_LOST,
    ("Div", 6, 1): "loses int32, int64, uint32, uint64",
    ("Div", 6, 7): AXIS_LOST,
    ("Div", 6, 13): AXIS_LOST,
    ("Div", 6, 14): AXIS_LOST,
    ("Div", 7, 1): STRETCHING_LOST,  # and the integers with it
    ("Div", 7, 6): STRETCHING_LOST,  # unequal shapes without an attribute are illegal in Div-6
    # 7 -> 13 -> 14 only adds types.
    ("Div", 13, 1): STRETCHING_LOST,
    ("Div", 13, 6): STRETCHING_LOST,
    ("Div", 13, 7): "loses bfloat16",
    ("Div", 14, 1): STRETCHING_LOST,
    ("Div", 14, 6): STRETCHING_LOST,
    ("Div", 14, 7): "loses bfloat16, int16, int8, uint16, uint8",
    ("Div", 14, 13): "loses int16, int8, uint16, uint8",
    # Reciprocal 1 and 6 differ by the hint and by the promise of inference: no model notices, either way.
    ("Reciprocal", 13, 1): "loses bfloat16",
    ("Reciprocal", 13, 6): "loses bfloat16",
}
PAIRS = [pair for name in ("Div", "Reciprocal") for pair in product(versions(name), repeat=2)]
every_pair = pytest.mark.parametrize(("old", "new"), PAIRS, ids=lambda row: row.title)


@every_pair
class TestBreaking:
    """A model legal under the old version is illegal, or means something else, under the new one."""

    def test_the_whole_matrix(self, old: OperatorSpec, new: OperatorSpec) -> None:
        diff = difference(old, new)
        expected = BROKEN_BECAUSE.get((old.name, old.since_version, new.since_version))
        assert diff.breaking == (expected is not None), diff.reasons
        assert expected is None or any(expected in reason for reason in diff.reasons), diff.reasons

    def test_a_search_over_small_programs_finds_the_same(self, old: OperatorSpec, new: OperatorSpec) -> None:
        """An independent oracle: look for a program that loses or changes its meaning."""
        noticed = any(
            meaning(old, *program) is not None and meaning(old, *program) != meaning(new, *program)
            for program in small_programs()
        )
        assert difference(old, new).breaking == noticed


SHAPES: tuple[Shape, ...] = (
    (),
    (1,),
    (2,),
    (3,),
    (1, 1),
    (1, 3),
    (2, 1),
    (2, 3),
    (2, 3, 2),
    (3, 2),
    (1, 2, 3),
)
SETTINGS: tuple[Settings, ...] = (
    {},
    {"broadcast": 0},
    *({"broadcast": 1, **axis} for axis in ({}, {"axis": 0}, {"axis": 1})),
)


def small_programs() -> Iterator[tuple[ElementType, Settings, Shape, Shape]]:
    """Yield programs: every type on one shape, and every setting on every pair of small shapes."""
    yield from ((element_type, {}, (2,), (2,)) for element_type in ELEMENT_TYPES)
    yield from ((FLOAT, *rest) for rest in product(SETTINGS, SHAPES, SHAPES))


def meaning(row: OperatorSpec, element_type: ElementType, settings: Settings, a: Shape, b: Shape) -> Any:
    """Return which elements are divided by which and how, None if the version does not allow the program."""
    if element_type not in row.element_types or any(row.attribute(name) is None for name in settings):
        return None
    rounding = row.rounding(settings) if element_type.is_integer else None
    if len(row.inputs) == 1:
        return rounding, a
    dividends, divisors = (
        np.arange(np.prod(a, dtype=int)).reshape(a),
        np.arange(np.prod(b, dtype=int)).reshape(b),
    )
    rule = row.broadcasting_rule(settings)
    if rule is Broadcasting.LIMITED:
        if len(b) > len(a):
            return None
        axis = int(str(settings.get("axis", len(a) - len(b))))
        if divisors.size == 1:
            divisors = np.broadcast_to(divisors.reshape(()), a)
        elif a[axis : axis + len(b)] == b:
            divisors = np.broadcast_to(divisors.reshape(b + (1,) * (len(a) - axis - len(b))), a)
        else:
            return None
    elif rule is Broadcasting.EQUAL and a != b:
        return None
    try:
        dividends, divisors = np.broadcast_arrays(dividends, divisors)
    except ValueError:
        return None
    return rounding, dividends.tolist(), divisors.tolist()
