"""A division allocates only its result: no operand is copied, expanded or converted, whatever its layout.

Allocations of NumPy's are watched while one large division runs; they are told to the byte, and do not depend on the
system. What a kernel needs stands on its stack.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.cases import case
from tests.kernels.comparing import lenient
from tests.kernels.layouts import ANY, WRITABLE
from tests.optional import needs_core

Array = npt.NDArray[Any]

pytestmark = needs_core()

# What is left for Python's own objects, plans and buffers; an operand has more than four times as many bytes.
SMALL = 75_000
SIDES = {1: 600, 2: 425, 4: 300, 8: 213}
TYPES: dict[str, Any] = {
    name: np.dtype(getattr(ml_dtypes, name, name)) for name in ("int8", "float16", "int32", "float64")
}
TABLE_TYPES: dict[str, Any] = {name: np.dtype(getattr(ml_dtypes, name)) for name in ("int4", "float8_e5m2")}
LAYOUTS: dict[str, Callable[[Array], Array]] = ANY | {
    "transposed": lambda x: x.T,
    "a row": lambda x: x[3],
    "a column": lambda x: x[:, 3:4],
    "one element": lambda x: x[3, 3],
    "a stretched row": lambda x: np.broadcast_to(x[3], x.shape),
}


@cache
def operands(dtype: Any) -> tuple[Array, Array]:
    """Return operands of one type without exceptional elements, the same for all tests."""
    rng, side = np.random.default_rng(0), SIDES[np.dtype(dtype).itemsize]
    a, b = (rng.integers(1, 7, (side, side)).astype(dtype) for _ in range(2))
    return a, b


def peak(divide: Callable[[], object]) -> int:
    """Return the peak of the bytes that a division allocates."""
    divide()  # compiles, plans, and makes tables
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        divide()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def test_the_watch_sees_a_temporary() -> None:
    """Else the other tests would prove nothing."""
    a, b = operands(np.float32)
    assert peak(lambda: a / b) >= a.nbytes
    out = np.empty_like(a)
    assert peak(lambda: np.divide(a, b, out=out)) < SMALL
    assert peak(lambda: np.divide(a + b, b, out=out)) >= a.nbytes


@pytest.mark.parametrize("name", TYPES | TABLE_TYPES)
class TestPeak:
    """Without `out` only the result is allocated, with `out` nothing."""

    def test_operands(self, name: str) -> None:
        a, b = operands((TYPES | TABLE_TYPES)[name])
        assert a.nbytes > 4 * SMALL
        for layout in LAYOUTS:
            with case(layout):
                laid_out, out = LAYOUTS[layout](b), np.empty_like(a)
                for x, y in ((a, laid_out), (laid_out, a)):
                    assert peak(partial(vinculum.divide, x, y, out=out)) < SMALL
                    assert peak(partial(vinculum.divide, x, y)) < a.nbytes + SMALL

    @pytest.mark.parametrize("layout", WRITABLE)
    def test_results(self, name: str, layout: str) -> None:
        both = operands((TYPES | TABLE_TYPES)[name])
        for place in (None, 0, 1):
            with case(place):
                given = [LAYOUTS[layout](x) for x in both]
                out = LAYOUTS[layout](np.ones_like(both[0]))
                if place is not None:
                    given[place] = out
                assert peak(partial(vinculum.divide, *given, out=out, **lenient(name))) < SMALL


@pytest.mark.parametrize("name", ["int8", "int32", "int4"])
class TestExceptionalElements:
    """Exceptional elements are counted, located and replaced without a mask."""

    @pytest.mark.parametrize("layout", ["c_order", "fortran_order", "every_other"])
    @pytest.mark.parametrize("policy", ["raise", "zero", "saturate"])
    def test_zero_divisors(self, name: str, layout: str, policy: Any) -> None:
        a, b = operands((TYPES | TABLE_TYPES)[name])
        b = b.copy()
        b[::2, 5:] = 0
        x, y, out = LAYOUTS[layout](a), LAYOUTS[layout](b), LAYOUTS[layout](a)

        def divide() -> None:
            try:
                vinculum.divide(x, y, out=out, zero_divisor=policy)
            except vinculum.DivisionByZeroError as error:
                assert policy == "raise"
                assert error.first_index == (0, 5)  # noqa: PT017 - likewise

        assert peak(divide) < SMALL
