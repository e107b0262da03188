"""`Operator`: prepared once, called many times, and equal to the function of the same name."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from tests.kernels.comparing import assert_same, exact_quotients
from vinculum import BroadcastError, ElementTypeError, Operator, div, divide, reciprocal
from vinculum.spec.onnx_div import DIV_6, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.sonnx_div import DIV_INT

Array = np.ndarray[Any, Any]
A = np.arange(-12, 12, dtype="i4").reshape(2, 3, 4)
B = np.array([[3], [-5], [7]], "i4")


class TestSpec:
    """`.spec` is the row in force."""

    def test_rows(self) -> None:
        assert Operator("Div").spec is DIV_14
        assert Operator("Div", opset=6, broadcast=1, axis=1).spec is DIV_6
        assert Operator("Reciprocal").spec is RECIPROCAL_13
        assert Operator("Divide").spec is DIVIDE_1
        assert Operator("Div", dialect="sonnx", variant="int").spec is DIV_INT

    def test_its_representation_tells_the_version_and_the_attributes(self) -> None:
        assert "Div-6" in repr(Operator("Div", opset=6, broadcast=1, axis=1))
        assert "axis=1" in repr(Operator("Div", opset=6, broadcast=1, axis=1))
        assert "SONNX Div (real)" in repr(Operator("Div", dialect="sonnx", variant="real"))


class TestEqualsTheFunctions:
    """The same arguments give the same quotients, at the first call and at every later one."""

    @pytest.mark.parametrize(
        ("operator", "function"),
        [
            (Operator("Div"), div),
            (Operator("Div", opset=7), lambda a, b: div(a, b, opset=7)),
            (Operator("Div", opset=6, broadcast=1, axis=1), lambda a, b: div(a, b[:, 0], opset=6, broadcast=1, axis=1)),
            (Operator("Divide"), divide),
            (Operator("Divide", m_pythondiv=False), lambda a, b: divide(a, b, m_pythondiv=False)),
            (
                Operator("Divide", auto_broadcast="pdpd", axis=1),
                lambda a, b: divide(a, b, auto_broadcast="pdpd", axis=1),
            ),
        ],
        ids=["Div", "Div-7", "Div-6", "Divide", "truncating", "pdpd"],
    )
    @pytest.mark.parametrize("dtype", ["i4", "i8", "f2", "f4", "f8"])
    def test_quotients(self, operator: Operator, function: Any, dtype: str) -> None:
        a, b = A.astype(dtype), B.astype(dtype)
        divisor = b[:, 0] if operator.spec is DIV_6 else b
        for _ in range(3):
            np.testing.assert_array_equal(operator(a, divisor), function(a, b), strict=True)
            np.testing.assert_array_equal(operator(a + 1, divisor), function(a + 1, b), strict=True)

    def test_reciprocals(self) -> None:
        operator = Operator("Reciprocal")
        for x in (np.array([4, 8], "float32"), np.float64(4), np.array([4], ml_dtypes.bfloat16)):
            np.testing.assert_array_equal(operator(x), reciprocal(x), strict=True)
        out = np.empty(2, "f4")
        assert operator(np.array([4, 8], "float32"), out=out) is out

    @pytest.mark.parametrize("zero_divisor", ["raise", "zero", "saturate"])
    def test_no_policy_makes_up_a_real(self, zero_divisor: Any) -> None:
        """The policies are of integers; a real quotient by zero is undefined whatever they say."""
        a, b = np.array([Fraction(1)], object), np.array([Fraction(0)], object)
        with pytest.raises((ValueError, ZeroDivisionError)):
            Operator("Div", dialect="sonnx", variant="real", zero_divisor=zero_divisor)(a, b)


class TestImmutable:
    """What an operator was made from cannot change, so that its quotients, its copies and what it prints agree."""

    @pytest.mark.parametrize("name", ["spec", "attributes", "policies"])
    def test_no_part_is_replaced(self, name: str) -> None:
        operator = Operator("Divide", m_pythondiv=True)
        before = getattr(operator, name)
        with pytest.raises(AttributeError):
            setattr(operator, name, getattr(Operator("Divide", m_pythondiv=False, zero_divisor="zero"), name))
        assert getattr(operator, name) is before

    def test_no_attribute_is_changed(self) -> None:
        operator = Operator("Divide", m_pythondiv=True)
        attributes: Any = operator.attributes
        with pytest.raises(TypeError):
            attributes["m_pythondiv"] = False
        a, b = np.array([-7], "i1"), np.array([2], "i1")
        assert "m_pythondiv=True" in repr(operator)
        assert operator(a, b) == pickle.loads(pickle.dumps(operator))(a, b) == [-4]


class TestOneOperatorManyOperands:
    """What one call was about does not show in the next."""

    def test_types_take_turns(self) -> None:
        operator = Operator("Div")
        for _ in range(2):
            for dtype in ("i1", "u8", "f2", "f4", "i4", ml_dtypes.bfloat16, ">f4", "f8"):
                quotient = operator(np.array([6, 7], dtype), np.array([2, 7], dtype))
                assert quotient.dtype == np.dtype(dtype).newbyteorder("=")
                assert quotient.astype("f8").tolist() == [3, 1]

    def test_equal_types_that_are_other_objects(self) -> None:
        """Such as a type with metadata, which NumPy compares as equal."""
        operator = Operator("Div")
        tagged = np.dtype("i4", metadata={"unit": "m"})
        a, b = np.arange(6, 18, dtype="i4"), np.full(12, 3, "i4")
        for _ in range(2):
            for x, y in ((a.astype(tagged), b.astype(tagged)), (a.view(tagged), b), (a, b)):
                assert operator(x, y).tolist() == (a // b).tolist()

    def test_types_are_checked_in_every_call(self) -> None:
        """Also after a call with each of the two types, and where the shapes are known already."""
        operator = Operator("Div")
        one, two = np.ones(2, "i4"), np.ones(2, "u4")
        operator(one, one)
        operator(two, two)
        for a, b in ((one, two), (two, one)):
            with pytest.raises(ElementTypeError, match="one element type"):
                operator(a, b)
        for wrong in (np.ones(2, bool), np.ones(2, ml_dtypes.int4)):
            with pytest.raises(ElementTypeError):
                operator(wrong, wrong)


class Subclass(np.ndarray[Any, Any]):
    """An array of another class."""


SHAPE = (3, 4)
DIVIDENDS = np.arange(12, 24, dtype="i4").reshape(SHAPE)
DIVISORS = np.arange(1, 13, dtype="i4").reshape(SHAPE)

# Results for the plain operands that cannot hold their quotients.
REFUSED_RESULTS: dict[str, tuple[Callable[[], object], str]] = {
    "of another shape": (lambda: np.zeros((4, 3), "i4"), r"the result has shape \(3, 4\)"),
    "of no dimension": (lambda: np.zeros((), "i4"), r"the result has shape \(3, 4\)"),
    "of lower rank": (lambda: np.zeros(12, "i4"), r"the result has shape \(3, 4\)"),
    "of higher rank": (lambda: np.zeros((1, 3, 4), "i4"), r"the result has shape \(3, 4\)"),
    "that the operands do not fill": (lambda: np.zeros((2, 3, 4), "i4"), r"the result has shape \(3, 4\)"),
    **{f"of {dtype}": (partial(np.zeros, SHAPE, dtype), "the result has type int32") for dtype in ("i8", "u4", "f4")},
    "of the other byte order": (lambda: np.zeros(SHAPE, ">i4"), "the result has type int32"),
    "of objects": (lambda: np.zeros(SHAPE, object), "the result has type int32"),
    "of raw memory": (lambda: np.zeros(SHAPE, "V4"), "the result has type int32"),
    "masked": (lambda: np.ma.MaskedArray(np.zeros(SHAPE, "i4")), r"a MaskedArray; .*without a mask"),
    "read-only": (lambda: np.broadcast_to(np.int32(0), SHAPE), "read-only"),
    "that repeats memory": (lambda: as_strided(np.zeros(4, "i4"), SHAPE, (0, 4)), "repeats memory"),
    "a list": (lambda: [0], "out is a list; it must be an array of NumPy"),
    "a tuple": (lambda: (np.zeros(SHAPE, "i4"),), "out is a tuple; it must be an array of NumPy"),
    "a memoryview": (lambda: memoryview(bytearray(48)), "out is a memoryview; it must be an array of NumPy"),
    "a class": (lambda: np.ndarray, "out is a type; it must be an array of NumPy"),
}
# Operands, and a result, that are unlike plain arrays of one type, and divided like them.
DIVIDED: dict[str, Callable[[], tuple[Any, Any, Array]]] = {
    "another type": lambda: (DIVIDENDS.astype("f8"), DIVISORS.astype("f8"), np.zeros(SHAPE, "f8")),
    "the other byte order": lambda: (DIVIDENDS.astype(">i4"), DIVISORS.astype(">i4"), np.zeros(SHAPE, "i4")),
    "NumPy scalars": lambda: (np.int32(6), np.int32(3), np.zeros((), "i4")),
    "a subclass": lambda: (DIVIDENDS.view(Subclass), DIVISORS, np.zeros(SHAPE, "i4")),
    "a subclass as the result": lambda: (DIVIDENDS, DIVISORS, np.zeros(SHAPE, "i4").view(Subclass)),
    "matrices": lambda: (DIVIDENDS.view(np.matrix), DIVISORS.view(np.matrix), np.zeros(SHAPE, "i4")),
    "a matrix as the result": lambda: (DIVIDENDS, DIVISORS, np.zeros(SHAPE, "i4").view(np.matrix)),
    "a divisor of higher rank": lambda: (DIVIDENDS, DIVISORS[None], np.zeros((1, *SHAPE), "i4")),
}


class TestUnusualOperands:
    """They are refused or divided, in each call."""

    @pytest.mark.parametrize("kind", REFUSED_RESULTS)
    def test_refused_results(self, kind: str) -> None:
        operator = Operator("Div")
        make, words = REFUSED_RESULTS[kind]
        out: Any = make()
        for _ in range(2):
            with pytest.raises((ElementTypeError, BroadcastError), match=words) as refusal:
                operator(DIVIDENDS, DIVISORS, out)
            assert str(refusal.value).startswith("out")
        assert not isinstance(out, np.ndarray) or out.dtype.kind == "V" or not np.any(out)

    @pytest.mark.parametrize("kind", DIVIDED)
    def test_divided(self, kind: str) -> None:
        operator = Operator("Div")
        a, b, out = DIVIDED[kind]()
        expected = exact_quotients(np.asarray(a), np.asarray(b))
        for _ in range(2):
            assert operator(a, b, out) is out
            assert_same(np.asarray(out), expected)
            quotients = operator(a, b)
            assert type(quotients) is np.ndarray
            assert_same(quotients, expected)
            out[...] = 0


class TestRules:
    """A version joins the shapes that its rule lets it, whatever was divided before."""

    def test_div_6_without_broadcast(self) -> None:
        operator = Operator("Div", opset=6)
        a, b = np.arange(12, dtype="i4").reshape(3, 4), np.ones((3, 4), "i4")
        for _ in range(2):
            np.testing.assert_array_equal(operator(a, b), a)
            for one in (b[0, 0, ...], b[:1, :1]):
                for x, y in ((a, one), (one, a + 1)):
                    for out in (None, np.empty_like(a)):
                        with pytest.raises(BroadcastError):
                            operator(x, y, out)

    def test_a_type_is_checked_though_another_operator_takes_it(self) -> None:
        Operator("Div")(np.ones(2, "i1"), np.ones(2, "i1"))
        with pytest.raises(ElementTypeError):
            Operator("Div", opset=6)(np.ones(2, "i1"), np.ones(2, "i1"))


class TestOperands:
    """As many as the operator has."""

    @pytest.mark.parametrize("name", ["Div", "Divide"])
    def test_two(self, name: str) -> None:
        with pytest.raises(ElementTypeError, match=r"takes two operands, . and .; . is None"):
            Operator(name)(A)

    def test_one(self) -> None:
        with pytest.raises(ElementTypeError, match="Reciprocal-13 takes one operand, X; two given"):
            Operator("Reciprocal")(np.array([1], "float32"), np.array([1], "float32"))
        operator = Operator("Reciprocal")
        operator(np.array([1], "float32"))
        with pytest.raises(ElementTypeError, match="Reciprocal-13 takes one operand, X; two given"):
            operator(np.array([1], "float32"), np.array([1], "float32"))


class TestCopies:
    """An operator travels to another process, as dask and multiprocessing send it."""

    @pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda op: pickle.loads(pickle.dumps(op))])
    def test_a_copy_divides_alike(self, again: Any) -> None:
        operator = Operator("Div", opset=6, broadcast=1, axis=1, zero_divisor="zero", overflow="saturate")
        operator(A, B[:, 0])
        twin = again(operator)
        assert (twin.spec, twin.attributes, twin.policies) == (operator.spec, operator.attributes, operator.policies)
        np.testing.assert_array_equal(twin(A, B[:, 0] * 0), A * 0)
