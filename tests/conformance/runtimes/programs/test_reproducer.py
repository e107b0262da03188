"""Arrays as Python source: whatever they hold, the text gives the same array back, to the last bit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from tests.conformance.asking import same_bits
from vinculum.conformance.runtimes.reproducer import array_source, python_program
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, ElementType
from vinculum.tensors.storage import dtype_of


def _evaluated(source: str) -> NDArray[Any]:
    names: dict[str, Any] = {}
    exec(python_program(f"array = {source}"), names)
    array: NDArray[Any] = names["array"]
    return array


class TestExact:
    """What the source gives is the array."""

    @pytest.mark.parametrize("element_type", [t for t in ELEMENT_TYPES if t is not REAL], ids=str)
    @settings(max_examples=40)  # of each type
    @given(data=st.data())
    def test_any_bits(self, element_type: ElementType, data: st.DataObject) -> None:
        shape = data.draw(array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
        dtype = dtype_of(element_type)
        bits = data.draw(arrays(f"u{dtype.itemsize}", shape))
        array = (bits & np.array(15, bits.dtype)).astype(dtype) if element_type.bits == 4 else bits.view(dtype)
        assert same_bits(_evaluated(array_source(array)), array)

    @pytest.mark.parametrize("shape", [(), (3,), (2, 0), (70,), (5, 17)])
    def test_rationals(self, shape: tuple[int, ...]) -> None:
        array = np.empty(shape, object)
        for number, index in enumerate(np.ndindex(*shape)):
            array[index] = Fraction(1 - number, 3)
        assert same_bits(_evaluated(array_source(array)), array)

    def test_many_different_numbers(self) -> None:
        array = np.arange(65536, dtype=np.uint16).view(np.float16).reshape(256, 256)
        source = array_source(array)
        assert same_bits(_evaluated(source), array)
        assert max(map(len, source.splitlines())) <= 120


class TestReadable:
    """A person can read what can be written so."""

    @pytest.mark.parametrize(
        ("array", "source"),
        [
            (np.array([1.5, -np.inf, -0.0], np.float32), "np.array([1.5, -np.inf, -0.0], np.float32)"),
            (np.array([0x3F800001], np.uint32).view(np.float32), "np.array([1.0000001], np.float32)"),
            (np.array([0.1 + 0.2]), "np.array([0x3fd3333333333334], np.uint64).view(np.float64)"),
            (np.full((2, 3), -(2**63)), "np.full((2, 3), np.array(-9223372036854775808, np.int64))"),
            (np.array([2, -3]).astype(ml_dtypes.int4), "np.array([2, -3]).astype(ml_dtypes.int4)"),
            (np.array([0.5]).astype(ml_dtypes.bfloat16), "np.array([0.5]).astype(ml_dtypes.bfloat16)"),
            (np.arange(12, dtype=np.float32).reshape(3, 4), "np.arange(12).reshape(3, 4).astype(np.float32)"),
            (np.arange(40, 20, -2).astype(np.int8), "np.arange(40, 20, -2).astype(np.int8)"),
            (np.arange(3, 83).astype(ml_dtypes.bfloat16), "np.arange(3, 83).astype(ml_dtypes.bfloat16)"),
            (np.empty((0, 2), np.int8), "np.empty((0, 2), np.int8)"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_text(self, array: NDArray[Any], source: str) -> None:
        assert array_source(array) == source


class TestProgram:
    """The imports are those of the names that the lines use."""

    def test_imports(self) -> None:
        source = python_program("print(np.array(1), Fraction(1), x.torch)  # jax", 'print("ml_dtypes")')
        assert source.splitlines()[:3] == ["from fractions import Fraction", "import numpy as np", ""]

    def test_more_imports(self) -> None:
        assert python_program("a.b.c()", "import a.b") == "import a.b\n\na.b.c()\n"
