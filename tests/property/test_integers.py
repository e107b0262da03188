"""Integer quotients of 32 and 64 bits against Python's integers, at the edges of everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vinculum
from tests.kernels.comparing import assert_same
from tests.property.strategies import integer_operands
from vinculum import reference
from vinculum.kernels import two_step_quotient
from vinculum.spec.element_types import INT32, INT64, UINT32, UINT64, ElementType
from vinculum.spec.model import IntegerRounding

Array = npt.NDArray[Any]
Rule = Callable[[Any, Any, Any], Any]

POLICIES = st.fixed_dictionaries(
    {"zero_divisor": st.sampled_from(["zero", "saturate"]), "overflow": st.sampled_from(["wrap", "saturate"])}
)


@pytest.mark.parametrize("element_type", [INT32, UINT32, INT64, UINT64], ids=str)
@pytest.mark.parametrize("rounding", IntegerRounding)
@pytest.mark.clause("truncating-division")
@pytest.mark.clause("floor-division")
@pytest.mark.clause("regular-division")
class TestIntegers:
    """Div-6 on truncates, Divide-1 floors or truncates by ``m_pythondiv``; the policies decide x/0 and MIN/-1."""

    @given(st.data(), POLICIES)
    def test_every_loop(
        self, element_type: ElementType, rounding: IntegerRounding, data: st.DataObject, policies: dict[str, Any]
    ) -> None:
        a, b = square(*data.draw(integer_operands(element_type)), element_type)
        divide = OPERATORS[rounding]
        expected = reference.divide(a, b, element_type, rounding=rounding, **policies)
        assert_same(divide(a, b, **policies), expected)
        assert_same(divide(a[:, :1], b[:1], **policies), expected)
        assert_same(divide(a[::-1], b[::-1], **policies), expected[::-1])
        for column in range(a.shape[1]):
            assert_same(divide(a[:, 0], b[0, column], **policies), expected[:, column])
        for row in range(min(a.shape[0], 4)):
            assert_same(divide(a[row, 0], b[0], **policies), expected[row])

    @given(st.data(), st.sampled_from(["raise", "zero"]), st.sampled_from(["raise", "wrap"]))
    def test_errors(
        self,
        element_type: ElementType,
        rounding: IntegerRounding,
        data: st.DataObject,
        zero_divisor: str,
        overflow: str,
    ) -> None:
        a, b = square(*data.draw(integer_operands(element_type)), element_type)
        zero = [i for i in np.ndindex(b.shape) if int(b[i]) == 0 and zero_divisor == "raise"]
        too_large = [
            i
            for i in np.ndindex(b.shape)
            if overflow == "raise" and int(b[i]) == -1 and int(a[i]) == element_type.minimum
        ]
        affected = zero or too_large
        caught = None
        try:
            OPERATORS[rounding](a, b, zero_divisor=zero_divisor, overflow=overflow)
        except (vinculum.DivisionByZeroError, vinculum.IntegerOverflowError) as error:
            caught = error
        assert isinstance(caught, ZeroDivisionError) == bool(zero)
        assert isinstance(caught, OverflowError) == bool(too_large and not zero)
        if caught is not None:
            assert (caught.count, caught.first_index) == (len(affected), affected[0])


def truncated_by_divide(a: Array, b: Array, **policies: Any) -> Array:
    """Truncate by Divide-1, and by Div-14 to the same quotients."""
    quotients = vinculum.divide(a, b, m_pythondiv=False, **policies)
    assert_same(vinculum.div(a, b, **policies), quotients)
    return quotients


OPERATORS: dict[IntegerRounding, Callable[..., Array]] = {
    IntegerRounding.TRUNCATING: truncated_by_divide,
    IntegerRounding.FLOOR: vinculum.divide,
}


def square(dividends: list[int], divisors: list[int], element_type: ElementType) -> tuple[Array, Array]:
    """Pair every dividend with every divisor."""
    a, b = np.meshgrid(np.array(dividends, element_type.numpy), np.array(divisors, element_type.numpy), indexing="ij")
    return np.ascontiguousarray(a), np.ascontiguousarray(b)


def compiled(rule: Rule) -> Callable[[Array, Array, Array], None]:
    """Apply one of the two 64-bit algorithms to each pair; only one of them is chosen on this processor."""

    @numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]  # Numba's decorators have no types
    def loop(a: Array, b: Array, quotients: Array) -> None:
        for i in range(a.size):
            reciprocal = two_step_quotient._REDUCED_ONE / two_step_quotient._nearest_binary64(b[i])
            quotients[i] = rule(a[i], b[i], reciprocal)

    apply: Callable[[Array, Array, Array], None] = loop
    return apply


ALGORITHMS = {
    "two steps": compiled(two_step_quotient.two_step_quotient),
    "the processor's": compiled(two_step_quotient.processor_quotient),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.clause("truncating-division")
class TestAlgorithmsOf64Bits:
    """Both algorithms give the exact quotient of magnitudes, whichever this processor runs."""

    @given(operands=integer_operands(UINT64))
    def test_exact(self, algorithm: str, operands: tuple[list[int], list[int]]) -> None:
        pairs = [(x, y) for x in operands[0] for y in operands[1] if y]
        a, b = (np.array([pair[i] for pair in pairs], np.uint64) for i in (0, 1))
        quotients = np.zeros_like(a)
        ALGORITHMS[algorithm](a, b, quotients)
        assert quotients.tolist() == [x // y for x, y in pairs]
