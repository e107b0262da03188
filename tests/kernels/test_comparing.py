"""The tester is tested: the quotients that fast comparisons are made with are those of the exact reference."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.cases import case
from tests.kernels.comparing import DTYPES, FLOATS, assert_same, encodings, exact_quotients, random_encodings
from vinculum import reference
from vinculum.spec.element_types import ELEMENT_TYPES
from vinculum.spec.model import IntegerRounding

TYPES = {element_type.numpy: element_type for element_type in ELEMENT_TYPES}


@pytest.mark.parametrize("name", DTYPES)
class TestExactQuotients:
    """By NumPy, and yet those of the reference."""

    def test_random_operands(self, name: str) -> None:
        a, b = random_encodings(name, (30, 30), 1), random_encodings(name, (30, 30), 2)
        for floor, zero_divisor, overflow in product((False, True), ("zero", "saturate"), ("wrap", "saturate")):
            rounding = IntegerRounding.FLOOR if floor else IntegerRounding.TRUNCATING
            policies: dict[str, Any] = {} if name in FLOATS else {"zero_divisor": zero_divisor, "overflow": overflow}
            for divisors in (b, b[0], b[:, :1].T):
                full = np.broadcast_to(divisors, a.shape)
                with case(rounding, policies):
                    expected = reference.divide(a, full, TYPES[name], rounding=rounding, **policies)
                    assert_same(exact_quotients(a, divisors, floor=floor, **policies), expected)
            if name in FLOATS:
                break

    def test_one_wrong_bit_is_found(self, name: str) -> None:
        a, b = random_encodings(name, (500,), 1), random_encodings(name, (500,), 2)
        quotients = exact_quotients(a, b)
        wrong = (encodings(quotients) ^ encodings(np.ones_like(quotients)).dtype.type(1)).view(quotients.dtype)
        with pytest.raises(AssertionError, match="differ, the first at"):
            assert_same(wrong, quotients)
