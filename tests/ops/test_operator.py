"""`Operator`: it equals the function of the same name, and is prepared once for many calls."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from tests.cases import RULES, case, outcome, telling
from tests.kernels.comparing import assert_same
from vinculum import BroadcastError, ElementTypeError, Operator, div, divide, reciprocal
from vinculum.tensors.storage import dtype_of

Array = np.ndarray[Any, Any]
A = np.arange(-12, 12, dtype="i4").reshape(2, 3, 4)
B = np.array([[3], [-5], [7]], "i4")


class TestSpec:
    """`.spec` is the row in force."""

    def test_its_representation_tells_the_version_and_the_attributes(self) -> None:
        assert "Div-6" in repr(Operator("Div", opset=6, broadcast=1, axis=1))
        assert "axis=1" in repr(Operator("Div", opset=6, broadcast=1, axis=1))
        assert "SONNX Div (real)" in repr(Operator("Div", dialect="sonnx", variant="real"))


class TestEqualsTheFunctions:
    """The same arguments give the same quotients and errors, at the first call and at every later one."""

    @pytest.mark.parametrize("rule", RULES)
    def test_quotients(self, rule: str) -> None:
        arguments, shapes = RULES[rule]
        attributes = {name: value for name, value in arguments.items() if name != "name"}
        function: Any = {"Div": div, "Divide": divide}[arguments["name"]]
        operator, rng = Operator(**arguments), np.random.default_rng(0)
        for shape_a, shape_b in shapes:
            for element_type in operator.spec.element_types:
                a, b = (telling(rng, shape, dtype_of(element_type)) for shape in (shape_a, shape_b))
                with case(element_type, shape_a, shape_b):
                    expected = outcome(partial(function, a, b, **attributes))
                    assert [outcome(partial(operator, a, b)) for _ in range(2)] == [expected] * 2

    def test_reciprocals(self) -> None:
        operator = Operator("Reciprocal")
        for x in (np.array([4, 8], "float32"), np.float64(4), np.array([4], ml_dtypes.bfloat16)):
            np.testing.assert_array_equal(operator(x), reciprocal(x), strict=True)
        out = np.empty(2, "f4")
        assert operator(np.array([4, 8], "float32"), out=out) is out


class TestImmutable:
    """An operator cannot be changed, so its quotients, its copies and its repr agree."""

    def test_no_attribute_is_changed(self) -> None:
        operator = Operator("Divide", m_pythondiv=True)
        for name in ("spec", "attributes", "policies"):
            with pytest.raises(AttributeError):
                setattr(operator, name, getattr(Operator("Divide", zero_divisor="zero"), name))
        attributes: Any = operator.attributes
        with pytest.raises(TypeError):
            attributes["m_pythondiv"] = False
        a, b = np.array([-7], "i1"), np.array([2], "i1")
        assert "m_pythondiv=True" in repr(operator)
        assert operator(a, b) == pickle.loads(pickle.dumps(operator))(a, b) == [-4]


class Subclass(np.ndarray[Any, Any]):
    """An array of another class."""


SHAPE = (3, 4)
DIVIDENDS = np.arange(12, 24, dtype="i4").reshape(SHAPE)
DIVISORS = np.arange(1, 13, dtype="i4").reshape(SHAPE)
TAGGED = np.dtype("i4", metadata={"unit": "m"})

# Results for these operands that cannot hold their quotients.
REFUSED_RESULTS: dict[str, tuple[Callable[[], object], str]] = {
    **{
        f"of shape {shape}": (partial(np.zeros, shape, "i4"), r"the result has shape \(3, 4\)")
        for shape in ((4, 3), (), (12,), (1, 3, 4), (2, 3, 4))
    },
    **{
        f"of type {dtype}": (partial(np.zeros, SHAPE, dtype), "the result has type int32")
        for dtype in ("i8", "u4", "f4", ">i4", "O", "V4")
    },
    "masked": (lambda: np.ma.MaskedArray(np.zeros(SHAPE, "i4")), r"a MaskedArray; .*without a mask"),
    "read-only": (lambda: np.broadcast_to(np.int32(0), SHAPE), "read-only"),
    "that repeats memory": (lambda: as_strided(np.zeros(4, "i4"), SHAPE, (0, 4)), "repeats memory"),
    "a list": (lambda: [0], "a list; it must be an array of NumPy"),
    "a tuple": (lambda: (np.zeros(SHAPE, "i4"),), "a tuple; it must be an array of NumPy"),
    "a memoryview": (lambda: memoryview(bytearray(48)), "a memoryview; it must be an array of NumPy"),
    "a class": (lambda: np.ndarray, "a type; it must be an array of NumPy"),
}
# Operands, and a result, that are unlike plain arrays of one type, and divided like them.
UNLIKE: dict[str, tuple[Any, Any, Array]] = {
    "types with metadata": (DIVIDENDS.astype(TAGGED), DIVISORS.view(TAGGED), np.zeros(SHAPE, "i4")),
    "one type with metadata": (DIVIDENDS.view(TAGGED), DIVISORS, np.zeros(SHAPE, "i4")),
    "a subclass": (DIVIDENDS.view(Subclass), DIVISORS, np.zeros(SHAPE, "i4").view(Subclass)),
    "matrices": (DIVIDENDS.view(np.matrix), DIVISORS.view(np.matrix), np.zeros(SHAPE, "i4").view(np.matrix)),
}


class TestManyOperands:
    """An operator takes any operands, and no call depends on the one before."""

    def test_refused_results(self) -> None:
        operator = Operator("Div")
        for kind, (make, words) in REFUSED_RESULTS.items():
            out: Any = make()
            with case(kind), pytest.raises((ElementTypeError, BroadcastError), match=f"^out .*{words}"):
                operator(DIVIDENDS, DIVISORS, out)
            assert not isinstance(out, np.ndarray) or out.dtype.kind == "V" or not np.any(out)
            assert_same(operator(DIVIDENDS, DIVISORS), DIVIDENDS // DIVISORS)

    @pytest.mark.parametrize("kind", UNLIKE)
    def test_operands_unlike_plain_arrays(self, kind: str) -> None:
        a, b, out = UNLIKE[kind]
        assert div(a, b, out=out) is out
        quotients = div(a, b)
        assert type(quotients) is np.ndarray
        for found in (quotients, np.asarray(out)):
            assert_same(found, DIVIDENDS // DIVISORS)


@pytest.mark.parametrize("name", ["Div", "Divide"])
def test_two_operands(name: str) -> None:
    with pytest.raises(ElementTypeError, match=r"takes two operands, . and .; . is None"):
        Operator(name)(A)


def test_one_operand() -> None:
    operator, x = Operator("Reciprocal"), np.array([1], "float32")
    for _ in range(2):
        with pytest.raises(ElementTypeError, match="Reciprocal-13 takes one operand, X; two given"):
            operator(x, x)
        operator(x)


class TestCopies:
    """An operator can be copied and pickled, as Dask and multiprocessing do."""

    @pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda op: pickle.loads(pickle.dumps(op))])
    def test_a_copy_divides_alike(self, again: Any) -> None:
        operator = Operator("Div", opset=6, broadcast=1, axis=1, zero_divisor="zero", overflow="saturate")
        operator(A, B[:, 0])
        twin = again(operator)
        assert (twin.spec, twin.attributes, twin.policies) == (operator.spec, operator.attributes, operator.policies)
        np.testing.assert_array_equal(twin(A, B[:, 0] * 0), A * 0)


@pytest.mark.parametrize(
    ("dtype", "a", "b"),
    [
        *(("i1", (2**40, 1), (1, 2**40)), ("i1", (2**40, 1, 1), (1, 2**40, 0)), ("i1", (2**31, 1), (1, 2**32))),
        ("i1", (2**62, 1), (2,)),
        ("f8", (2**31, 1), (1, 2**31)),  # 2^62 elements can be counted; of 8 bytes each they cannot be addressed.
    ],
)
def test_a_result_that_no_memory_holds_is_refused(dtype: str, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    one = np.ones((), dtype)
    with pytest.raises(BroadcastError) as refusal:
        div(np.broadcast_to(one, a), np.broadcast_to(one, b))
    assert "\n" not in str(refusal.value)
