"""Operands on a CUDA device, with a stand-in for CuPy: they are divided on the device, and the quotients stay there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import vinculum
from tests.device_arrays import cpu_cupy
from tests.device_arrays.cpu_cupy import Array, Device
from tests.kernels.comparing import assert_same
from tests.kernels.witness import DTYPES, values
from vinculum import (
    BroadcastError,
    ConstraintError,
    DivisionByZeroError,
    ElementTypeError,
    IntegerOverflowError,
    Operator,
    VinculumError,
    div,
    divide,
    reciprocal,
    sonnx,
)

MODULES = ("vinculum.device_arrays.backend", "vinculum.device_arrays.kernels")


@pytest.fixture(autouse=True)
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the backend import the stand-in, and forget it afterwards."""
    monkeypatch.setitem(sys.modules, "cupy", cpu_cupy)
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    for name in MODULES:
        sys.modules.pop(name, None)


def outcome(call: Any, *operands: Any, **options: Any) -> Any:
    """Return the quotients, or the error."""
    try:
        return call(*operands, **options)
    except VinculumError as error:
        return error


def same(call: Any, *operands: Any, **options: Any) -> None:
    """Fail unless a division on the device gives what it gives in CPU memory, or raises the same."""
    moved = [Array(x) for x in operands]
    expected, result = outcome(call, *operands, **options), outcome(call, *moved, **options)
    if isinstance(expected, VinculumError):
        assert type(result) is type(expected)
        assert str(result) == str(expected)
        assert vars(result) == vars(expected)
    else:
        assert type(result) is Array
        assert_same(result.array, expected)
    for operand, array in zip(operands, moved, strict=True):
        assert array.array is operand


class TestQuotients:
    """The same bits as in CPU memory."""

    @pytest.mark.parametrize("name", [name for name in DTYPES if not name.endswith("int4")])
    def test_every_element_type(self, name: str) -> None:
        a, b = values(name)[:, None], values(name)
        policies = {"zero_divisor": "saturate", "overflow": "saturate"} if "int" in name else {}
        same(divide, a, b, **policies)
        same(divide, a[1:, 0], b[:-1], **policies)

    @pytest.mark.parametrize("policies", [("zero", "wrap"), ("raise", "raise")])
    @pytest.mark.parametrize("floor", [False, True])
    def test_integers(self, floor: bool, policies: tuple[Any, Any]) -> None:
        a, b = values("int32")[:, None], values("int32")
        named: Any = dict(zip(("zero_divisor", "overflow"), policies, strict=True))
        same(divide, a, b, m_pythondiv=floor, **named)
        same(divide, a, b[b != 0], m_pythondiv=floor, **named)

    @pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
    def test_reciprocals(self, name: str) -> None:
        same(reciprocal, values(name))
        same(reciprocal, values(name)[:0])

    def test_broadcasting(self) -> None:
        a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        same(div, a, np.array([[2], [3], [5]], "f4"))
        same(div, a.T, a[::-1, :, 0].T)
        same(div, a, np.array(3, "f4"))
        same(div, a[0, 0], a[:, :1])
        same(div, a, np.array([2, 3, 5], "f4"), opset=6, broadcast=1, axis=1)
        same(divide, a, np.array([2, 3], "f4").reshape(2, 1, 1), auto_broadcast="pdpd", axis=0)
        same(div, a, np.ones((5, 4), "f4"))
        same(div, a, np.ones((3, 4), "f4"), opset=6)
        same(sonnx.div, a, a[:1])

    def test_a_single_element_in_cpu_memory(self) -> None:
        a: Any = Array(np.array([7, -7], "i4"))
        assert div(a, np.int32(2)).array.tolist() == [3, -3]
        assert div(np.array(100, ">i4"), a).array.tolist() == [14, -14]
        h: Any = Array(np.array([1, 2], "f2"))
        assert div(np.array(4, h.array.dtype.newbyteorder()), h).array.tolist() == [4, 2]
        x: Any = Array(np.array([1, 2], ml_dtypes.bfloat16))
        assert div(x, ml_dtypes.bfloat16(4)).array.tolist() == [0.25, 0.5]
        with pytest.raises(DivisionByZeroError, match=r"2 of 2 divisors of Div-14 are zero, the first at index \(0,\)"):
            div(a, np.int32(0))

    def test_on_the_operands_device(self) -> None:
        a = Array(np.array([6.0]), Device(1))
        result: Any = div(a, a)
        assert result.device.id == 1
        assert Device.current == 0


class TestPolicies:
    """Counts and indices are those of the whole arrays."""

    def test_zero_divisors(self) -> None:
        a = np.arange(12, dtype=np.int64).reshape(3, 4)
        b = np.array([[1], [0], [0]])
        same(div, a, b)
        same(sonnx.div, a, np.broadcast_to(b, a.shape))
        same(div, a.T, b.T)
        with pytest.raises(DivisionByZeroError) as raised:
            div(Array(a), Array(b))
        assert (raised.value.count, raised.value.first_index) == (8, (1, 0))

    def test_overflow(self) -> None:
        a, b = np.array([[5, -128], [-128, 0]], "i1"), np.array([1, -1], "i1")
        same(div, a, b)
        same(div, a, b, overflow="raise")
        same(sonnx.div, a, np.broadcast_to(b, (2, 2)))
        same(div, a, np.array([0, -1], "i1"), overflow="raise")
        with pytest.raises(IntegerOverflowError, match=r"1 of 4 quotients .* at index \(0, 1\)"):
            div(Array(a), Array(b), overflow="raise")
        with pytest.raises(ConstraintError, match=r"^\[V1\]"):
            sonnx.div(Array(a), Array(np.full((2, 2), -1, "i1")))


class TestOut:
    """Where to write."""

    def test_given(self) -> None:
        memory = np.zeros((2, 4), "f4")
        out: Any = Array(memory[:, ::2])
        a: Any = Array(np.array([[1, 2], [3, 4]], "f4"))
        assert div(a, np.float32(2), out=out) is out
        assert memory.tolist() == [[0.5, 0, 1, 0], [1.5, 0, 2, 0]]

    def test_an_operand_and_what_overlaps_one(self) -> None:
        a: Any = Array(np.array([8, 6, 4], "i2"))
        assert div(a, np.int16(2), out=a) is a
        assert a.array.tolist() == [4, 3, 2]
        memory = np.array([2, 8, 32, 99], "i2")
        shifted: Any = Array(memory[1:])
        assert div(Array(memory[:3]), np.int16(1), out=shifted) is shifted
        assert memory.tolist() == [2, 2, 8, 32]

    @pytest.mark.parametrize(
        ("out", "message"),
        [
            (np.ones(2, "f4"), "out is a ndarray in CPU memory; the operands lie on a CUDA device"),
            ([0.0], "out is a list in CPU memory"),
            (Array(np.ones(2)), "out has type float64; the result has type float32, as the operands do"),
            (Array(np.ones(2, "f4"), Device(3)), "operands and out lie on CUDA devices 0 and 3; move them to one"),
        ],
    )
    def test_refused(self, out: Any, message: str) -> None:
        a: Any = Array(np.ones(2, "f4"))
        with pytest.raises(ElementTypeError, match=message):
            div(a, a, out=out)

    def test_layout(self) -> None:
        a: Any = Array(np.ones(2, "f4"))
        with pytest.raises(BroadcastError, match=r"out has shape \(3,\); the result has shape \(2,\)"):
            div(a, a, out=Array(np.ones(3, "f4")))
        with pytest.raises(BroadcastError, match="results could overwrite each other"):
            div(a, a, out=Array(np.broadcast_to(np.float32(1), 2)))


class TestRefused:
    """One clear line."""

    @pytest.mark.parametrize(
        ("a", "b", "message"),
        [
            (np.ones(2, "f4"), Array(np.ones(2, "f4")), "A lies in CPU memory and the other operand on a CUDA device"),
            (Array(np.ones(2, "f4")), [1.0], "B is a list"),
            (Array(np.ones(2, "f4")), Array(np.ones(2)), "A float and B double: Div-14 has one element type"),
            (Array(np.ones(2, "?")), Array(np.ones(2, "?")), "A has NumPy type bool, which no division operator takes"),
            (Array(np.ones(2)), Array(np.ones(2), Device(2)), "operands and out lie on CUDA devices 0 and 2"),
        ],
    )
    def test_operands(self, a: Any, b: Any, message: str) -> None:
        with pytest.raises(ElementTypeError, match=message) as refusal:
            div(a, b)
        assert "\n" not in str(refusal.value)

    def test_types_of_an_operator_version(self) -> None:
        same(div, np.ones(2, "i1"), np.ones(2, "i1"), opset=7)
        same(Operator("Divide"), np.ones(2, "?"), np.ones(2, "?"))

    def test_without_cupy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "cupy", None)  # its import fails then
        with pytest.raises(ElementTypeError, match=r"pip install 'cupy-cuda12x\[ctk\]'") as refusal:
            vinculum.div(Array(np.ones(2)), Array(np.ones(2)))
        assert "\n" not in str(refusal.value)
