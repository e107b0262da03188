"""NumPy as a runtime: its universal functions, and silence."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest

from tests.conformance.asking import operation, same_bits, small
from vinculum import reference
from vinculum.conformance.runtimes.backends import runtime
from vinculum.sandbox import UnsupportedError
from vinculum.spec.element_types import ElementType, Kind
from vinculum.spec.model import IntegerRounding
from vinculum.spec.onnx_div import DIV_13, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1

NUMPY = runtime("numpy")


class TestNumpy:
    """It divides as its functions do; what it has no function for is not supported."""

    @pytest.mark.parametrize("element_type", DIVIDE_1.element_types, ids=str)
    def test_floor_division_and_floats(self, element_type: ElementType) -> None:
        asked = small(DIVIDE_1, element_type, False)
        a, b = asked.operands
        expected = reference.divide(a, b, element_type, rounding=IntegerRounding.FLOOR)
        assert same_bits(NUMPY.answer(asked), expected)

    @pytest.mark.parametrize("element_type", [t for t in DIV_14.element_types if t.kind is Kind.SIGNED], ids=str)
    def test_it_does_not_truncate(self, element_type: ElementType) -> None:
        with pytest.raises(UnsupportedError, match="NumPy has no truncating division of integers"):
            NUMPY.answer(small(DIV_14, element_type, False))

    @pytest.mark.parametrize("element_type", RECIPROCAL_13.element_types, ids=str)
    def test_reciprocals(self, element_type: ElementType) -> None:
        asked = small(RECIPROCAL_13, element_type, False)
        assert same_bits(NUMPY.answer(asked), reference.reciprocal(asked.operands[0], element_type))

    @pytest.mark.parametrize("dtype", [np.float32, np.int64, ml_dtypes.bfloat16])
    def test_it_never_warns(self, dtype: type[np.generic]) -> None:
        a, b = np.array([[1, 0, 3], [0, 0, 1]]).astype(dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert NUMPY.answer(operation(DIVIDE_1, a, b)).dtype == dtype

    def test_a_mixture_is_asked(self) -> None:
        asked = operation(DIV_14, np.ones(1, np.float32), np.ones(1, np.float64))
        assert NUMPY.covers(asked)
        assert NUMPY.answer(asked).dtype == np.float64


class TestCovers:
    """A function call has no constants, no versions and no attributes but rounding."""

    @pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
    def test_covers(self, backend: str) -> None:
        subject = runtime(backend)
        one, three = np.ones(1, np.float32), np.ones(3, np.float32)
        for asked in (
            operation(DIV_14, one, three),
            operation(RECIPROCAL_13, one),
            operation(DIVIDE_1, one, three),
            operation(DIVIDE_1, one, three, m_pythondiv=False, auto_broadcast="numpy"),
            operation(DIVIDE_1, one, one, auto_broadcast="none"),
        ):
            assert subject.covers(asked)
        for asked in (
            operation(DIV_13, one, three),
            operation(DIV_14, one, three, constant=(False, True)),
            operation(DIV_14, one, three, axis=0),
            operation(RECIPROCAL_13, one, constant=True),
            operation(DIVIDE_1, one, three, auto_broadcast="none"),
            operation(DIVIDE_1, one, one, auto_broadcast="pdpd"),
            operation(DIVIDE_1, one, one, m_pythondiv="yes"),
            operation(DIVIDE_1, one, one, axis=0),
        ):
            assert not subject.covers(asked)
