"""The CUDA stream of a division: the one that the operands' library uses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.device_arrays import cpu_cupy
from tests.device_arrays.cpu_cupy import EVENTS, Array, Stream
from tests.device_arrays.test_backend import cupy
from vinculum import DivisionByZeroError
from vinculum import div as typed_div

__all__ = ["cupy"]

div: Any = typed_div  # typed as for NumPy arrays
SIDE = 7


class Tensor(Array):
    """A stand-in for a tensor of PyTorch."""

    __module__ = "torch"
    is_cuda = True


class Foreign(Array):
    """An array of a library whose stream is unknown."""

    def __array_namespace__(self) -> Any:
        return SimpleNamespace(__name__="foreign", from_dlpack=lambda array: Foreign(array.array))


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let PyTorch work on a side stream."""
    stream = SimpleNamespace(cuda_stream=SIDE)
    stand_in = SimpleNamespace(
        from_dlpack=lambda array: Tensor(cpu_cupy.from_dlpack(array).array),
        cuda=SimpleNamespace(current_stream=lambda device: stream),
    )
    monkeypatch.setitem(sys.modules, "torch", stand_in)
    EVENTS.clear()


def on(kind: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return operands of a kind."""
    return kind(np.array([6, 9], "i4")), kind(np.array([2, 0], "i4"))


def divisions() -> list[tuple[object, ...]]:
    """Return the calls of streams except views."""
    return [event for event in EVENTS if event[1] != "views"]


BETWEEN = [(SIDE, "waits for", 0), (SIDE, "divides"), (0, "waits for", SIDE)]


class TestPyTorch:
    """A tensor's memory is accessed in the order of its own stream."""

    def test_both_operands(self) -> None:
        quotients = div(*on(Tensor), zero_divisor="zero")
        assert type(quotients) is Tensor
        assert quotients.array.tolist() == [3, 0]
        assert divisions() == BETWEEN
        assert EVENTS[-2:] == [(SIDE, "views"), (0, "waits for", SIDE)]  # handed over on the stream that divided

    @pytest.mark.parametrize("kinds", [(Tensor, Array), (Array, Tensor)])
    def test_one_operand(self, kinds: tuple[Any, Any]) -> None:
        a, b = (on(kind)[place] for place, kind in enumerate(kinds))
        assert type(div(a, b, zero_divisor="zero")) is kinds[0]
        assert divisions() == BETWEEN

    def test_out(self) -> None:
        out = Tensor(np.zeros(2, "i4"))
        assert div(*on(Array), zero_divisor="zero", out=out) is out
        assert out.array.tolist() == [3, 0]
        assert divisions() == BETWEEN

    def test_an_error(self) -> None:
        with pytest.raises(DivisionByZeroError):
            div(*on(Tensor))
        assert divisions() == BETWEEN
        assert Stream.current == [0]


class TestOthers:
    """CuPy's current stream divides, and the call waits for it if the library may reuse the operands' memory."""

    def test_cupy(self) -> None:
        with Stream(5):
            div(*on(Array), zero_divisor="zero")
        assert divisions() == [(5, "divides")]

    def test_a_library_that_does_not_tell_its_stream(self) -> None:
        assert type(div(*on(Foreign), zero_divisor="zero")) is Foreign
        assert divisions() == [(0, "divides"), (0, "is waited for")]

    def test_with_pytorch(self) -> None:
        div(on(Foreign)[0], on(Tensor)[1], zero_divisor="zero")
        assert divisions() == [*BETWEEN[:2], (SIDE, "is waited for"), BETWEEN[2]]
