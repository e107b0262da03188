"""Operands and results of any layout, broadcast by any rule, give the quotients of contiguous ones of one shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vinculum
from tests.kernels.comparing import DTYPES, FLOATS, assert_same, encodings, lenient
from tests.property.views import broadcastable, half_as_often, names, shapes, views

Array = npt.NDArray[Any]
Attributes = dict[str, Any]

# A function, its attributes for broadcasting, and its attributes for equal shapes.
RULES: dict[str, tuple[Callable[..., Array], Attributes, Attributes]] = {
    "Div-14": (vinculum.div, {}, {}),
    "Divide-1": (vinculum.divide, {}, {"auto_broadcast": "none"}),
    "limited": (vinculum.div, {"opset": 6, "broadcast": 1}, {"opset": 6}),
    "pdpd": (vinculum.divide, {"auto_broadcast": "pdpd"}, {"auto_broadcast": "none"}),
}
OF_DIV_6 = st.sampled_from(["int32", "uint64", "int64", "float16", "float32", "float64"])


def placed(b: Array, axis: int, rank: int) -> Array:
    """View B so that NumPy's rule aligns it with A's dimension `axis`."""
    return b.reshape((1,) * axis + b.shape + (1,) * (rank - axis - b.ndim))


def assert_only_written_in(memory: Array, before: Array, out: Array) -> None:
    """Fail if memory outside of a view has changed."""
    marks = np.zeros(memory.shape, bool)
    offset = out.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    places = np.full(out.shape, offset // memory.itemsize)
    for d, (size, stride) in enumerate(zip(out.shape, out.strides, strict=True)):
        shape = [1] * out.ndim
        shape[d] = size
        places = places + (np.arange(size) * (stride // memory.itemsize)).reshape(shape)
    marks.reshape(-1)[places.reshape(-1)] = True
    assert np.array_equal(encodings(memory)[~marks], encodings(before)[~marks])


@pytest.mark.parametrize("rule", RULES)
@half_as_often
@given(st.data())
def test_views_of_any_memory(rule: str, data: st.DataObject) -> None:
    """No operand is written, no layout changes the result, and nothing outside of `out` is written."""
    function, broadcasting, equal_shapes = RULES[rule]
    name, shape = data.draw(OF_DIV_6 if rule == "limited" else names), data.draw(shapes())
    if rule in ("limited", "pdpd"):
        axis = data.draw(st.integers(0, len(shape)))
        end = data.draw(st.integers(axis, len(shape)))
        run = shape[axis:end]
        if rule == "pdpd":
            run = tuple(data.draw(st.sampled_from([size, size, 1])) for size in run)
        a, b = data.draw(views(name, shape)), data.draw(views(name, run))
        full_b = placed(b.array, axis, len(shape))
        if end < len(shape) or data.draw(st.booleans()):  # else it is the default
            broadcasting = broadcasting | {"axis": axis}
    else:
        a, b = (data.draw(views(name, each)) for each in data.draw(broadcastable(shape)))
        full_b, shape = b.array, np.broadcast_shapes(a.array.shape, b.array.shape)
    out = data.draw(views(name, shape, writable=True))
    before = [x.memory.copy() for x in (a, b, out)]
    full = [np.array(np.broadcast_to(x, shape), DTYPES[name], order="C") for x in (a.array, full_b)]
    expected = function(*full, **equal_shapes, **lenient(name))
    assert_same(function(a.array, b.array, **broadcasting, **lenient(name)), expected)
    assert function(a.array, b.array, out=out.array, **broadcasting, **lenient(name)) is out.array
    assert_same(out.array, expected)
    assert_only_written_in(out.memory, before[2], out.array)
    if name not in FLOATS and len(zero := np.argwhere(full[1] == 0)):
        with pytest.raises(vinculum.DivisionByZeroError) as caught:
            function(a.array, b.array, **broadcasting)
        assert (caught.value.count, caught.value.first_index) == (len(zero), tuple(zero[0].tolist()))
    for x, copy in zip((a, b), before, strict=False):
        assert x.memory.tobytes() == copy.tobytes()
