"""Many small cases in one test, where a failure names its case.

A test for each would cost some milliseconds, which is more than most divisions take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import VinculumError
from vinculum.spec.element_types import Kind
from vinculum.tensors.storage import element_type_of

Shape = tuple[int, ...]
Shapes = tuple[tuple[Shape, Shape], ...]

SHAPES_ALIKE: Shapes = (((7, 9), (7, 9)), ((), ()))
_MULTIDIRECTIONAL: Shapes = (
    *(((7, 9), (7, 9)), ((7, 9), (9,)), ((7, 1), (1, 9)), ((9,), (7, 1)), ((), (5,)), ((4,), ()), ((), ())),
    *(((0, 4), (4,)), ((3, 0), (3, 1)), ((1,), (0,)), ((2, 3, 4), (3, 1)), ((1, 1, 3), (2, 1, 1))),
)
_LIMITED: Shapes = (((4, 3, 5), (3,)), ((4, 3, 5), (3, 5)), ((4, 3, 5), (1, 1)), ((4, 3, 5), ()), ((2, 3), (3,)))
_PDPD: Shapes = (((4, 3, 5), (3, 5)), ((4, 3, 5), (4, 1, 1)), ((4, 3, 5), (1, 5)), ((4, 3), (1, 1)))
RULES: dict[str, tuple[dict[str, Any], Shapes]] = {
    "Div-14": ({"name": "Div"}, _MULTIDIRECTIONAL),
    "Divide-1": ({"name": "Divide"}, _MULTIDIRECTIONAL),
    "truncating": ({"name": "Divide", "m_pythondiv": False}, _MULTIDIRECTIONAL[:3]),
    "none": ({"name": "Divide", "auto_broadcast": "none"}, SHAPES_ALIKE),
    "limited": ({"name": "Div", "opset": 6, "broadcast": 1}, _LIMITED[1:]),
    "limited from 1": ({"name": "Div", "opset": 6, "broadcast": 1, "axis": 1}, _LIMITED[:4]),
    "equal": ({"name": "Div", "opset": 6}, SHAPES_ALIKE[:1]),
    "pdpd": ({"name": "Divide", "auto_broadcast": "pdpd"}, _PDPD),
    "pdpd from 1": (
        {"name": "Divide", "auto_broadcast": "pdpd", "axis": 1},
        (((4, 3, 5), (3,)), ((4, 3, 5), (3, 1)), ((4, 3, 5), (1, 5))),
    ),
}
"""The arguments of an `Operator` for each broadcasting rule, and shapes that it joins."""


def telling(rng: np.random.Generator, shape: Shape, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return random elements that are likely to contain every exceptional pair."""
    element_type = element_type_of(np.empty(0, dtype))
    if element_type.kind is Kind.FLOAT:
        bits = rng.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8)
        if element_type.bits < 8:
            bits &= (1 << element_type.bits) - 1
        return bits.view(dtype).reshape(shape)
    smallest = -(2 ** (element_type.bits - 1)) if element_type.kind is Kind.SIGNED else 0
    largest = smallest + 2**element_type.bits - 1
    some = [smallest, largest, 1, 3, 2, 7] + [-1, -3] * (smallest < 0)
    drawn = rng.choice(np.array(some, object), prod(shape)).reshape(shape)
    array: NDArray[Any] = np.array(drawn, dtype=object).astype(np.int64 if smallest else np.uint64).astype(dtype)
    return array.reshape(shape)


@contextmanager
def case(*words: object) -> Iterator[None]:
    """Add the case to an error that is raised in the block."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {', '.join(map(str, words))}")
        raise


def outcome(divide: Callable[[], Any]) -> tuple[object, ...]:
    """Return all that a caller sees of a division: its quotients, or its error."""
    try:
        quotients = np.asarray(divide())
    except VinculumError as error:
        return type(error), str(error), getattr(error, "count", None), getattr(error, "first_index", None)
    return quotients.dtype, quotients.shape, quotients.tobytes()
