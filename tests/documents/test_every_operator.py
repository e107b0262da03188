"""What the documents of ONNX and OpenVINO say of every operator version alike, and where they are silent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.cases import case
from vinculum import DivisionByZeroError, ElementTypeError, IntegerOverflowError, Operator
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, ElementType, Kind
from vinculum.spec.model import AttributeValue, Dialect, IntegerRounding, OperatorSpec
from vinculum.spec.rows import ROWS
from vinculum.tensors.storage import dtype_of

Array = np.ndarray[Any, Any]
NUMBERED = [row for row in ROWS if row.dialect is not Dialect.SONNX]
every_row = pytest.mark.parametrize("row", NUMBERED, ids=lambda row: row.title)
with_integers = pytest.mark.parametrize("row", [row for row in NUMBERED if row.integer_rounding], ids=lambda r: r.title)


def array(values: object, element_type: ElementType) -> Array:
    """Return an array of an element type."""
    return np.array(values).astype(dtype_of(element_type))


def operator(row: OperatorSpec, **attributes: Any) -> Operator:
    """Return the operator of a row."""
    opset = row.since_version if row.dialect is Dialect.ONNX else None
    return Operator(row.name, dialect=row.dialect.value, opset=opset, **attributes)


def settings(row: OperatorSpec) -> Iterator[tuple[IntegerRounding, dict[str, AttributeValue]]]:
    """Yield each rule by which a row rounds integers, with the attribute that selects it."""
    for value, rule in row.integer_rounding.items():
        yield rule, {} if value is None else {str(row.integer_rounding_attribute): value}


class TestTypes:
    """The types that T allows, and that all tensors share one."""

    @pytest.mark.clause("Div-*", "Reciprocal-*", "one-element-type")
    @pytest.mark.clause("Divide-1", "one-element-type", "any-numeric-type")
    @every_row
    def test_each_is_divided_or_refused(self, row: OperatorSpec) -> None:
        divided, unary = operator(row), len(row.inputs) == 1
        for element_type in (t for t in ELEMENT_TYPES if t is not REAL):
            with case(element_type):
                operands = [array(values, element_type) for values in ([[1, 2]] if unary else [[6, 4], [3, 1]])]
                if element_type not in row.element_types:
                    with pytest.raises(ElementTypeError, match=f"^{row.title} does not take {element_type}; allowed: "):
                        divided(*operands)
                    continue
                quotient = divided(*operands)
                assert quotient.dtype == operands[0].dtype
                assert quotient.astype(float).tolist() == ([1, 0.5] if unary else [2, 4])

    @pytest.mark.parametrize("row", [row for row in NUMBERED if len(row.inputs) > 1], ids=lambda row: row.title)
    def test_they_are_not_mixed(self, row: OperatorSpec) -> None:
        a, b = row.operand_names
        first, *others = row.element_types
        for other in others:
            with (
                case(other),
                pytest.raises(ElementTypeError, match=f"{a} {first} and {b} {other}: {row.title} "),
            ):
                operator(row)(array([1], first), array([1], other))


class TestFloats:
    """Floats by IEEE 754, about which the pages are silent: rounded once, and nothing is raised."""

    @pytest.mark.clause("Div-*", "Reciprocal-*", "Divide-1", "ieee-754", "special-values")
    @every_row
    @pytest.mark.parametrize("name", ["float16", "float32", "float64"])
    def test_rounded_once_and_never_raised(self, row: OperatorSpec, name: str) -> None:
        inf, nan, tiny = np.inf, np.nan, np.finfo(name).smallest_subnormal
        a = np.array([1, 22, tiny, 3 * tiny, 1, -1, 0, -0.0, inf, inf, nan, np.finfo(name).max], name)
        b = np.array([3, 7, 2, 2, 0, 0, 0, 5, inf, -2, 1, 0.5], name)
        if len(row.inputs) == 1:
            b = np.array([3, 7, tiny, -0.0, 0, inf, -inf, nan, 1e-4, -5, 60000, 1], name)
            quotients, exact = operator(row)(b), np.ones(12, name)
        else:
            quotients, exact = operator(row)(a, b), a
        with np.errstate(all="ignore"):
            exact = exact / b
        np.testing.assert_array_equal(quotients, exact)
        numbers = ~np.isnan(exact)
        np.testing.assert_array_equal(np.signbit(quotients[numbers]), np.signbit(exact[numbers]))


class TestIntegers:
    """Where the pages are silent of integers, the caller decides, and it is the same in every version."""

    @pytest.mark.clause("Div-6", "Div-7", "Div-13", "Div-14", "integer-zero-divisor-silent")
    @pytest.mark.clause("Divide-1", "division-by-zero")
    @with_integers
    def test_zero_divisors(self, row: OperatorSpec) -> None:
        for element_type in (t for t in row.element_types if t.kind is Kind.SIGNED):
            a, b = array([7, -7, 0, 4], element_type), array([0, 0, 0, 2], element_type)
            for rule, chosen in settings(row):
                with case(element_type, rule):
                    with pytest.raises(DivisionByZeroError) as error:
                        operator(row, **chosen)(a, b)
                    assert (error.value.count, error.value.first_index) == (3, (0,))
                    found = f"3 of 4 divisors of {row.title} are zero, the first at index (0,)"
                    assert str(error.value) == f"{found}; allowed with zero_divisor='zero' or 'saturate'"
                    zeroed = operator(row, **chosen, zero_divisor="zero")(a, b)
                    assert zeroed.astype(int).tolist() == [0, 0, 0, 2]
                    saturated = operator(row, **chosen, zero_divisor="saturate")(a, b)
                    assert saturated.astype(object).tolist() == [element_type.maximum, element_type.minimum, 0, 2]

    @pytest.mark.clause("Div-6", "Div-7", "Div-13", "Div-14", "Divide-1", "minimum-by-minus-one-silent")
    @with_integers
    def test_the_smallest_integer_by_minus_one(self, row: OperatorSpec) -> None:
        for element_type in (t for t in row.element_types if t.kind is Kind.SIGNED):
            least, most = element_type.minimum, element_type.maximum
            a, b = array([least, least], element_type), array([-1, 1], element_type)
            for rule, chosen in settings(row):
                with case(element_type, rule):
                    assert operator(row, **chosen)(a, b).astype(object).tolist() == [least, least]
                    saturated = operator(row, **chosen, overflow="saturate")(a, b)
                    assert saturated.astype(object).tolist() == [most, least]
                    with pytest.raises(IntegerOverflowError) as error:
                        operator(row, **chosen, overflow="raise")(a, b)
                    assert (error.value.count, error.value.first_index) == (1, (0,))
                    assert str(error.value).endswith("; allowed with overflow='wrap' or 'saturate'")

    @pytest.mark.clause("Div-6", "Div-7", "Div-13", "Div-14", "Divide-1", "empty-result-divides-nothing")
    @with_integers
    def test_an_empty_result(self, row: OperatorSpec) -> None:
        joined = {"broadcast": 1} if row.attribute("broadcast") else {}
        assert operator(row, **joined)(np.empty((0, 3), "i4"), np.zeros(3, "i4")).shape == (0, 3)
