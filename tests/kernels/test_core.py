"""What the compiled core says of arguments that no backend gives it, and what it counts of those that it is given."""

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
    """A truth value that is none."""

    def __bool__(self) -> bool:
        raise ArithmeticError("neither true nor false")


def made(target: str, changed: dict[str, Any]) -> Any:
    """Return a division of the core, of an arithmetic some of whose attributes are changed, or missing if None."""
    from vinculum.kernels import _core

    some: Any = SimpleNamespace(**{name: value for name, value in (ARITHMETIC | changed).items() if value is not None})
    return _core.division(target, some, "truncating")


def of(**changed: Any) -> Any:
    """Return one of the target in force."""
    return made(backend().name, changed)


@pytest.mark.parametrize("name", sorted(ARITHMETIC.keys() - {"floor"}))  # which is told by the operation
def test_every_attribute_is_read(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        of(**{name: None})


@pytest.mark.parametrize("name", ["reciprocal", "broadcasts"])
def test_a_flag_that_is_none(name: str) -> None:
    with pytest.raises(ArithmeticError, match="neither true nor false"):
        of(**{name: _Failing()})


def test_element_types_that_it_does_not_divide() -> None:
    with pytest.raises(TypeError, match="dtypes is no sequence"):
        of(dtypes=3)
    with pytest.raises(AttributeError, match="name"):
        of(dtypes=(3,))
    for no_type in (np.dtype(bool), np.dtype("m8[s]"), SimpleNamespace(name="int8")):
        with pytest.raises(ValueError, match="the core divides no "):
            of(dtypes=(DTYPES["int8"], no_type))


def test_a_target_that_this_processor_is_not_of() -> None:
    for target in ("abacus", "", "x86-64"):
        with pytest.raises(ValueError, match=f"this processor is not of the target {target}$"):
            made(target, {})


def test_a_call_with_other_arguments() -> None:
    division = of()
    for given in ((), (ONES,), (ONES, ONES), (ONES, ONES, None, None)):
        with pytest.raises(TypeError, match="a division takes a dividend, a divisor and a result or None"):
            division(*given)
    with pytest.raises(TypeError, match="a division takes"):
        division(ONES, ONES, out=None)
    with pytest.raises(TypeError, match="a division takes"):
        division(ONES, ONES, None, out=None)
    assert division(ONES, ONES, None).tolist() == [1, 1, 1]


@pytest.fixture
def collected() -> Iterator[None]:
    """Let nothing be collected meanwhile that other tests have left, and that holds what is counted."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("collected")
def test_operands_are_given_back() -> None:
    """However a division ends, nobody keeps what it was given."""
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
