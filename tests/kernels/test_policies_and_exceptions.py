"""Zero divisors and MIN/-1: told by the public operators, or given the value of a policy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.cases import case
from tests.kernels.comparing import DTYPES, INTEGERS, assert_same, exact_quotients

Array = npt.NDArray[Any]


def first(mask: Array) -> tuple[int, ...]:
    """Return the first index in row-major order."""
    return tuple(int(i) for i in np.argwhere(mask)[0])


# Dividends and divisors with exceptions of one kind, of the other, of both and of none, repeated and not.
Pair = tuple[list[int | None], list[int]]
PAIRS: list[Pair] = [
    ([5, None, 0], [0, 1, 0]),
    ([None, 6, 7], [-1, 3, 1]),
    ([None, 6, None], [-1, 0, -1]),
    ([None, 6, 9], [3]),
    ([None, 6, 9], [0]),
    ([None, 6, 9], [-1]),
    ([None], [-1, 1, 0]),
]
"""None stands for the smallest value of the type."""


@pytest.mark.parametrize(
    ("name", "times"),
    [*((name, 1) for name in INTEGERS), ("int8", 12_000), ("uint16", 6_000), ("int32", 3_000), ("int64", 1_500)],
)  # the latter more than one block of 32 KiB
def test_every_policy(name: str, times: int) -> None:
    """Of few elements and of many, in each call of an operator the same, and in that of another the next."""
    for zero_divisor, overflow in product(("raise", "zero", "saturate"), ("raise", "wrap", "saturate")):
        policies: dict[str, Any] = {"zero_divisor": zero_divisor, "overflow": overflow}
        operators = {False: vinculum.Operator("Div", **policies), True: vinculum.Operator("Divide", **policies)}
        for pair, (floor, operator) in product(PAIRS, operators.items()):
            with case(policies, pair, operator):
                check_policies(name, times, pair, operator, floor=floor, **policies)


def check_policies(
    name: str, times: int, pair: Pair, operator: vinculum.Operator, *, floor: bool, **policies: str
) -> None:
    """Fail unless an operator raises, or gives every element its policy's value, in each of three calls."""
    smallest = np.iinfo(name).min
    a = np.array([smallest if x is None else x for x in pair[0]]).astype(DTYPES[name])
    b = np.array(pair[1]).astype(DTYPES[name])
    a, b = (np.tile(x, times) if x.size > 1 else x for x in (a, b))
    zero = np.broadcast_to(b == 0, 3 * times)
    too_large = (a == smallest) & (b == -1) & (smallest < 0)
    results = (None, None, np.empty(3 * times, DTYPES[name]))
    kind: type[vinculum.DivisionByZeroError] | type[vinculum.IntegerOverflowError]
    if policies["zero_divisor"] == "raise" and zero.any():
        kind, raised = vinculum.DivisionByZeroError, zero
    elif policies["overflow"] == "raise" and too_large.any():
        kind, raised = vinculum.IntegerOverflowError, too_large
    else:
        expected = exact_quotients(a, b, floor=floor, **policies)
        for out in results:
            assert_same(operator(a, b, out), expected)
        return
    told = int(raised.sum()), first(raised)
    for out in results:
        with pytest.raises(kind) as caught:
            operator(a, b, out)
        assert isinstance(caught.value, vinculum.DivisionByZeroError | vinculum.IntegerOverflowError)
        assert (caught.value.count, caught.value.first_index) == told
        assert str(told[0]) in str(caught.value)
        assert str(told[1]) in str(caught.value)
        assert ("partial results" in str(caught.value)) == (out is not None)
