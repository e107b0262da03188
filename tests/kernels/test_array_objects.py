"""What compiled code reads of an array object is what NumPy says of it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numba
import numpy as np
import numpy.typing as npt
import pytest
from numba import types

from vinculum.kernels import array_objects
from vinculum.kernels.array_objects import array_object, field, type_of

Array = npt.NDArray[Any]


def compiled(read: Callable[[Any], int]) -> Callable[[object], int]:
    """Compile a function of an object."""
    # Without Numba's dispatcher, which would take an array for one of Numba's.
    function: Callable[[object], int] = numba.njit(types.int64(array_object))(read).get_overload((array_object,))
    return function


def reader(offset: int) -> Callable[[object], int]:
    """Return a function that reads a field."""
    return compiled(lambda value: field(value, offset))


ADDRESS = reader(array_objects.DATA)
RANK = reader(array_objects.RANK)
SHAPE = reader(array_objects.SHAPE)
ELEMENT_TYPE = reader(array_objects.ELEMENT_TYPE)
FLAGS = reader(array_objects.FLAGS)
TYPE = compiled(lambda value: type_of(value))


def arrays() -> list[Array]:
    """Return arrays of every kind of layout."""
    base = np.arange(120, dtype=np.int32).reshape(2, 3, 4, 5)
    raw = np.zeros(65, np.uint8)
    read_only = np.arange(3.0)
    read_only.flags.writeable = False
    return [
        base,
        base.T,
        base[::-1, 1:, ::2, ::-1],
        np.asfortranarray(base),
        np.array(3, np.int8),
        np.zeros((0, 7), np.float16),
        np.zeros(9, ml_dtypes.bfloat16),
        np.zeros(2, ">f8"),
        np.zeros((1,) * 64, np.uint64),
        np.broadcast_to(np.float32(2), (3, 1, 4)),
        raw[1:].view(np.int64),
        read_only,
        base.view(np.recarray),
    ]


@pytest.mark.parametrize("array", arrays(), ids=lambda x: f"{x.dtype}{x.shape}"[:40])
class TestFields:
    """A NumPy whose arrays begin otherwise is found here, and not by a wrong quotient."""

    def test_address(self, array: Array) -> None:
        assert ADDRESS(array) == array.__array_interface__["data"][0]

    def test_rank_and_shape(self, array: Array) -> None:
        rank = RANK(array) & 0xFFFF_FFFF
        assert rank == RANK(array) & 0xFF == array.ndim  # what the kernels keep of it is all of it
        if rank:
            shape = (ctypes.c_int64 * rank).from_address(SHAPE(array))
            assert tuple(shape) == array.shape

    def test_flags(self, array: Array) -> None:
        flags = FLAGS(array)
        assert bool(flags & array_objects.C_CONTIGUOUS) == array.flags.c_contiguous
        assert bool(flags & array_objects.ALIGNED) == array.flags.aligned
        assert bool(flags & array_objects.WRITEABLE) == array.flags.writeable

    def test_types(self, array: Array) -> None:
        assert ELEMENT_TYPE(array) == id(array.dtype)
        assert TYPE(array) == id(type(array))


def test_the_type_of_any_object_can_be_read() -> None:
    for value in (None, True, 3, 2.5, "text", [1], (), {}, object(), type, np.int8(3), np.dtype("i4"), range(3), len):
        assert TYPE(value) == id(type(value))
