"""The conventions of other specifications: the quotients, and the rows of each specification."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from vinculum.conformance.vectors.conventions import SPECIFICATIONS, Specification, convention_lines
from vinculum.conformance.vectors.records import ConventionLine, Tensor, array_of
from vinculum.spec.element_types import by_name

LINES = list(convention_lines())


def numbers(tensor: Tensor | None) -> list[int]:
    assert tensor is not None
    return [int(n) for n in array_of(tensor.elements, tensor.shape, by_name(tensor.type))[0]]


def quotients(line: ConventionLine) -> dict[tuple[int, int], int]:
    """Return the quotients of a line by dividend and divisor."""
    a, b = map(numbers, line.operands)
    return dict(zip(zip(a, b, strict=True), numbers(line.quotient), strict=True))


class TestRounding:
    """Quotients are compared with exact rationals."""

    @pytest.mark.parametrize(
        "line", [line for line in LINES if line.convention == "ordinary quotients"], ids=lambda line: line.id
    )
    def test_ordinary_quotients(self, line: ConventionLine) -> None:
        found = quotients(line)
        for (a, b), quotient in found.items():
            exact = Fraction(a, b)
            if line.rounding == "euclidean":
                assert 0 <= a - quotient * b < abs(b)
            else:
                assert quotient == (math.trunc(exact) if line.rounding == "truncating" else math.floor(exact))
        assert len(found) > 50

    def test_numpy_is_as_its_rows_say(self) -> None:
        for line in LINES:
            if "numpy.floor_divide" in line.specifications:
                element_type = by_name(line.operands[0].type)
                a, b = (np.array(numbers(operand), element_type.numpy) for operand in line.operands)
                with np.errstate(all="ignore"):
                    assert np.floor_divide(a, b).tolist() == numbers(line.quotient), line.id


@pytest.mark.parametrize("specification", SPECIFICATIONS, ids=lambda s: s.name)
def test_rows_of_each_specification(specification: Specification) -> None:
    """Each specification has rows of ordinary quotients, x/0 and MIN/-1 for its element types."""
    own = [line for line in LINES if specification.name in line.specifications]
    signed = [t for t in specification.element_types if t.minimum]
    assert sorted(line.id for line in own) == sorted(
        [f"{specification.rounding}/{t}/ordinary quotients" for t in specification.element_types]
        + [f"{specification.rounding}/{t}/x/0 {specification.by_zero.value}" for t in specification.element_types]
        + [f"{specification.rounding}/{t}/MIN/-1 {specification.overflow.value}" for t in signed]
    )
