"""Python numbers beside an array take its element type where it holds them."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import dask.array as da
import ml_dtypes
import numpy as np
import pytest

from vinculum import ConstraintError, ElementTypeError, Operator, div, divide, sonnx
from vinculum.tensors.scalars import with_element_types


class TestHeld:
    """Nothing is lost."""

    @pytest.mark.parametrize(
        ("dtype", "number", "quotient"),
        [
            ("i4", 4, 1),
            ("u1", 255, 0),
            (">i8", 2**62, 0),
            (ml_dtypes.int4, -3, -2),
            ("f4", 4, 1.75),
            ("f4", 0.5, 14.0),
            ("f2", -2.0, -3.5),
            (ml_dtypes.bfloat16, 2**60, 7 / 2**60),
            (ml_dtypes.float8_e4m3fn, 0.5, 14.0),
            ("f8", 0.1, 70.0),
        ],
    )
    def test_the_arrays_type(self, dtype: Any, number: Any, quotient: float) -> None:
        a = np.array([7], np.dtype(dtype))
        result = divide(a, number, m_pythondiv=False)
        assert result.dtype == a.dtype.newbyteorder("=")
        assert result.item() == quotient
        assert divide(number, a).shape == (1,)
        assert Operator("Divide", m_pythondiv=False)(a, number).item() == quotient

    @pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan"), -0.0, 1e308])
    def test_special_numbers(self, number: float) -> None:
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(div(np.array([1.0, -1.0]), number), np.array([1.0, -1.0]) / number)

    def test_beside_a_buffer_and_a_dask_array(self) -> None:
        assert div(memoryview(bytearray(b"\x09")), 2).tolist() == [4]  # type: ignore[call-overload]  # checkers know no buffers
        assert div(da.arange(6, chunks=2), 2).compute().tolist() == [0, 0, 1, 1, 2, 2]

    @pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int8"])
    def test_beside_an_array_that_cannot_be_read_here(self, dtype: str) -> None:
        """As one on a device: only its element type is asked for."""
        array = SimpleNamespace(dtype=f"torch.{dtype}")
        for a, b in ((array, 2), (2, array)):
            held = with_element_types(a, b, "AB")
            assert [x.dtype.name for x in held if isinstance(x, np.ndarray)] == [dtype]


class TestRefused:
    """One clear line."""

    @pytest.mark.parametrize(
        ("dtype", "number", "advice"),
        [
            ("u1", -1, "give A a wider type: A.astype(numpy.int16)"),
            ("i1", 128, "give A a wider type: A.astype(numpy.int16)"),
            ("u8", 2**64, "no integer type holds both"),
            ("i4", 2**63, "no integer type holds both"),
            (ml_dtypes.int4, 8, "give A a wider type: A.astype(numpy.int16)"),
            ("i4", 2.0, "give an int, or make floats of A: A.astype(numpy.float64)"),
            ("i4", 0.5, "give an int, or make floats of A: A.astype(numpy.float64)"),
            ("f4", 0.1, "round it, as numpy.float32(...) does, or give A a wider type"),
            ("f4", 2**24 + 1, "round it, as numpy.float32(...) does, or give A a wider type"),
            ("f2", 65536.0, "round it, as numpy.float16(...) does, or give A a wider type"),
            ("f4", 10**400, "round it, as numpy.float32(...) does, or give A a wider type"),
            (ml_dtypes.bfloat16, 0.1, "round it, as ml_dtypes.bfloat16(...) does, or give A a wider type"),
            (ml_dtypes.float8_e4m3fn, float("inf"), "or give A a wider type"),
        ],
    )
    def test_what_would_be_lost(self, dtype: Any, number: Any, advice: str) -> None:
        words = rf"^B is the Python (int|float) .*element type \w+ does not hold it; .*{re.escape(advice)}$"
        with pytest.raises(ElementTypeError, match=words):
            div(np.ones(2, np.dtype(dtype)), number)

    @pytest.mark.parametrize(
        ("operands", "words"),
        [
            *(((np.ones(2, "f4"), number), "^B") for number in (True, np.True_, 1j, "2")),
            *(
                ((array, 2), "^A has NumPy type .*, which no division operator takes; allowed: ")
                for array in (np.array(["2"]), np.array([True]), np.array([1j]), memoryview(b"2").cast("c"))
            ),
            ((7, 2), r"^A is an int; pass np.asarray\(A, dtype=...\)"),
            ((2, [1]), "^B is a list; pass"),
            (([1], 2), "^A is a list; pass"),
            ((type("list", (), {"dtype": "odd"})(), 2), "^A is a list; pass"),
        ],
    )
    def test_beside_what_is_no_number(self, operands: Any, words: str) -> None:
        with pytest.raises(ElementTypeError, match=words):
            div(*operands)

    def test_gr2(self) -> None:
        """[GR2]: SONNX's operators take tensors, and no numbers."""
        with pytest.raises(ConstraintError, match=r"\[GR2\]"):
            sonnx.div(np.ones(2, "i4"), 2)  # type: ignore[call-overload]  # what it is about
        with pytest.raises(ElementTypeError, match="B is an int"):
            Operator("Div", dialect="sonnx", variant="int")(np.ones(2, "i4"), 2)

    def test_divide(self) -> None:
        with pytest.raises(ElementTypeError, match=r"^b is the Python int 300, and a's element type"):
            divide(np.ones(2, "u1"), 300)
        with pytest.raises(ElementTypeError, match=r"^a is the Python int 300, and b's element type"):
            divide(300, np.ones(2, "u1"))
        for limit in (-(2**15), 2**15 - 1):
            with pytest.raises(ElementTypeError, match=r"a wider type: a.astype\(numpy.int16\)"):
                divide(np.ones(2, "i1"), limit)
