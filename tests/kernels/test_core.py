"""The compiled core's errors for arguments that no backend passes, and its reference counts."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.kernels.witness import DTYPES, arithmetic
from tests.optional import needs_core
from vinculum.kernels import backend

pytestmark = needs_core()

ARITHMETIC = {name: getattr(arithmetic(), name) for name in arithmetic().__slots__}
ONES = np.ones(3, np.int32)


class _Failing:
    """An object without a truth value."""

    def __bool__(self) -> bool:
        raise ArithmeticError("neither true nor false")


def made(target: str, changed: dict[str, Any]) -> Any:
    """Return a division of the core with some attributes of the arithmetic changed; None removes an attribute."""
    from vinculum.kernels import _core

    some: Any = SimpleNamespace(**{name: value for name, value in (ARITHMETIC | changed).items() if value is not None})
    return _core.division(target, some, "truncating")


def of(**changed: Any) -> Any:
    """Return one for the current target."""
    return made(backend().name, changed)


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    *(({name: None}, AttributeError, name) for name in sorted(ARITHMETIC.keys() - {"floor"})),  # the operation has it
    *(({name: _Failing()}, ArithmeticError, "neither true nor false") for name in ("reciprocal", "broadcasts")),
    ({"dtypes": 3}, TypeError, "dtypes is no sequence"),
    ({"dtypes": (3,)}, AttributeError, "name"),
    *(
        ({"dtypes": (DTYPES["int8"], no_type)}, ValueError, "the core divides no ")
        for no_type in (np.dtype(bool), np.dtype("m8[s]"), SimpleNamespace(name="int8"))
    ),
]


@pytest.mark.parametrize(("changed", "error", "words"), REFUSED)
def test_no_arithmetic(changed: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        of(**changed)


@pytest.mark.parametrize("target", ["abacus", "", "x86-64"])
def test_a_target_of_another_processor(target: str) -> None:
    with pytest.raises(ValueError, match=f"this processor is not of the target {target}$"):
        made(target, {})


def test_a_call_with_other_arguments() -> None:
    division = of()
    named = [((ONES,) * count, {"out": ONES}) for count in (2, 3)]
    for given, names in (((), {}), ((ONES,) * 2, {}), ((ONES,) * 4, {}), *named):
        with pytest.raises(TypeError, match="a division takes a dividend, a divisor and a result or None"):
            division(*given, **names)
    assert division(ONES, ONES, None).tolist() == [1, 1, 1]


@pytest.fixture
def collected() -> Iterator[None]:
    """Prevent a collection of other tests' garbage, which could change the counts."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("collected")
def test_operands_are_given_back() -> None:
    """However a division ends, it keeps no reference to its arguments."""
    division = of(zero_divisor="raise")
    a, b, out, column = ONES.copy(), ONES.copy(), ONES.copy(), np.ones((3, 1), np.int32)
    given = (a, b, out, column, division, type(division), a.dtype)
    before = [sys.getrefcount(one) for one in given]
    for _ in range(100):
        assert division(a, b, out) is out
        assert division(a, a, a) is a
        assert division(column, b, None).shape == (3, 3)
        assert division(out[:-1], b[:-1], out[1:]) is not None
        assert division(a, b[:2], None) is None
        assert division(a, b, column) is None
        assert division(a, ONES * 0, None).zero_divisors == ONES.size
        assert division(np.int32(3), b, None).tolist() == [3, 3, 3]
        assert division(a, 3, None) is None
    assert [sys.getrefcount(one) for one in given] == before


@pytest.mark.usefixtures("collected")
def test_a_division_that_is_gone_leaves_nothing() -> None:
    kind, counts = type(of()), []
    for _ in range(3):
        for _ in range(1000):
            of()
        counts.append((sys.getrefcount(kind), sys.getallocatedblocks()))
    assert counts[1][0] == counts[2][0]
    assert counts[2][1] - counts[1][1] < 500
