"""`Operator`: prepared once, called many times, and equal to the function of the same name."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from vinculum import ConstraintError, ElementTypeError, Operator, div, divide, reciprocal, sonnx
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

    def test_out_may_be_given_by_place(self) -> None:
        out = np.empty_like(A)
        assert Operator("Div")(A, B, out) is out
        np.testing.assert_array_equal(out, div(A, B))

    @pytest.mark.parametrize(("variant", "dtype"), [("float", "f4"), ("int", "i4")])
    def test_sonnx(self, variant: str, dtype: str) -> None:
        operator = Operator("Div", dialect="sonnx", variant=variant)
        a = A.astype(dtype)
        np.testing.assert_array_equal(operator(a, a * a + 1), sonnx.div(a, a * a + 1), strict=True)

    def test_sonnx_refuses_what_sonnx_div_refuses(self) -> None:
        """[C3] and [V1] are constraints of the operator, not of the function that calls it."""
        operator = Operator("Div", dialect="sonnx", variant="int")
        with pytest.raises((ConstraintError, ZeroDivisionError)):
            operator(np.array([1], "int8"), np.array([0], "int8"))
        with pytest.raises((ConstraintError, OverflowError)):
            operator(np.array([-128], "int8"), np.array([-1], "int8"))

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

    def test_layouts_take_turns(self) -> None:
        operator = Operator("Div")
        base = np.arange(1, 25, dtype="f4").reshape(4, 6)
        for _ in range(2):
            for a in (
                base,
                base.T,
                base[::-1],
                base[:, ::2],
                base[:0],
                base[1:3, 2],
                base[0, 0],
                np.asfortranarray(base),
            ):
                for b in (base[0, 1], a, a[..., :1] if a.ndim else a, np.broadcast_to(base[0, 2], a.shape)):
                    np.testing.assert_array_equal(operator(a, b), a / b, strict=True)

    def test_policies_belong_to_the_operator(self) -> None:
        lenient, strict = Operator("Div", zero_divisor="zero"), Operator("Div")
        a, b = np.array([1, 2], "int32"), np.array([0, 2], "int32")
        for _ in range(2):
            assert lenient(a, b).tolist() == [0, 1]
            with pytest.raises(ZeroDivisionError):
                strict(a, b)

    def test_the_results_are_their_own(self) -> None:
        operator = Operator("Div")
        first = operator(A, B)
        kept = first.copy()
        operator(A + 5, B)
        np.testing.assert_array_equal(first, kept)

    def test_in_many_threads_at_once(self) -> None:
        operator = Operator("Div", zero_divisor="raise")
        b = np.arange(1, 5001, dtype="i4")

        def count(zeros: int) -> tuple[int, int | None]:
            divisors = b.copy()
            divisors[5000 - zeros :] = 0
            try:
                return int(operator(b, divisors).sum()), None
            except ZeroDivisionError as error:
                return 0, error.count  # type: ignore[attr-defined]  # DivisionByZeroError has it

        with ThreadPoolExecutor(8) as threads:
            results = list(threads.map(count, list(range(20)) * 5))
        assert results == [(5000, None) if zeros == 0 else (0, zeros) for zeros in range(20)] * 5


class TestOperands:
    """As many as the operator has."""

    @pytest.mark.parametrize("name", ["Div", "Divide"])
    def test_two(self, name: str) -> None:
        with pytest.raises(ElementTypeError, match=r"takes two operands, . and .; one given"):
            Operator(name)(A)

    def test_one(self) -> None:
        with pytest.raises(ElementTypeError, match="Reciprocal-13 takes one operand, X; two given"):
            Operator("Reciprocal")(np.array([1], "float32"), np.array([1], "float32"))


class TestCopies:
    """An operator travels to another process, as dask and multiprocessing send it."""

    @pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda op: pickle.loads(pickle.dumps(op))])
    def test_a_copy_divides_alike(self, again: Any) -> None:
        operator = Operator("Div", opset=6, broadcast=1, axis=1, zero_divisor="zero")
        operator(A, B[:, 0])
        twin = again(operator)
        assert (twin.spec, twin.attributes, twin.policies) == (operator.spec, operator.attributes, operator.policies)
        np.testing.assert_array_equal(twin(A, B[:, 0] * 0), A * 0)
