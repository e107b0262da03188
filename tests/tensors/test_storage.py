"""Operands are viewed without copies and conversions."""

from __future__ import annotations

import array
import ctypes
import io
import itertools
import mmap
from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.lib import format as npy

from vinculum import div
from vinculum.errors import BroadcastError, ElementTypeError
from vinculum.tensors.storage import (
    as_operand,
    check_out_layout,
    element_type_of,
    read_npy_header,
    stored_dtype,
)


class Duck:
    """An object of another package that offers NumPy's array interface and nothing else."""

    def __init__(self, owned: np.ndarray[Any, Any]) -> None:
        self.owned = owned

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.owned.__array_interface__


def mapped() -> Any:
    """Return memory that is mapped like a file's."""
    memory = mmap.mmap(-1, 2)
    memory[:] = b"\x06\x07"
    return memory


# What makes a buffer of 6 and 7, and the element type that it has; bytes are uint8.
BUFFERS: dict[str, tuple[Callable[[], Any], str]] = {
    **{f"array.array of {code}": (partial(array.array, code, [6, 7]), code) for code in "bBhHiIlLqQfd"},
    "ctypes": (lambda: (ctypes.c_int32 * 2)(6, 7), "i4"),
    "a memoryview of ctypes": (lambda: memoryview((ctypes.c_int32 * 2)(6, 7)), "i4"),
    "a bytearray": (lambda: bytearray(b"\x06\x07"), "u1"),
    "a memoryview of a bytearray": (lambda: memoryview(bytearray(b"\x06\x07")), "u1"),
    "a memoryview of bytes": (lambda: memoryview(b"\x06\x07"), "u1"),
    "a mapped file": (mapped, "u1"),
}


class TestElementTypes:
    """Element types of NumPy's types."""

    def test_others_are_refused_with_those_that_are_not(self) -> None:
        with pytest.raises(ElementTypeError, match=r"x has NumPy type complex64, .* float32, ") as refusal:
            element_type_of(np.ones(1, "c8"), "x")
        assert " object, " not in str(refusal.value)


class TestViews:
    """Arrays and buffers in memory are viewed without a copy."""

    @pytest.mark.parametrize(
        "view",
        [
            lambda x: x,
            lambda x: x[::-1],
            lambda x: x.reshape(2, 3).T,
            lambda x: np.broadcast_to(x[:1], 5),
            memoryview,
            lambda x: memoryview(x)[::2],
            Duck,
            lambda x: np.asarray(x).view(type("Subclass", (np.ndarray,), {})),
        ],
        ids=["array", "reversed", "transposed", "repeated", "memoryview", "strided", "interface", "subclass"],
    )
    def test_no_copy(self, view: Any) -> None:
        base = np.arange(6, dtype="i4")
        operand = as_operand(view(base), "A")
        assert type(operand) is np.ndarray
        assert operand.dtype == base.dtype
        assert np.may_share_memory(operand, base)

    @pytest.mark.parametrize("buffer", BUFFERS)
    def test_buffers(self, buffer: str) -> None:
        make, dtype = BUFFERS[buffer]
        values = make()
        operand = as_operand(values, "A")
        assert operand.dtype == np.dtype(dtype)
        assert div(values, values).tolist() == [1, 1]
        if operand.flags.writeable:
            operand[0] = 9
            assert as_operand(values, "A").tolist() == [9, 7]
        del operand  # a mapped file cannot be closed while it is viewed

    def test_an_object_with_array(self) -> None:
        """As NumPy has taken them since version 2, and as before, when nobody passed `copy`."""
        base = np.arange(1, 7, dtype="i4")
        old = type("Old", (), {"__array__": lambda self, dtype=None: base})
        new = type("New", (), {"__array__": lambda self, dtype=None, copy=None: base})
        for holder in (old(), new()):
            assert np.may_share_memory(as_operand(holder, "A"), base)
            assert div(holder, np.int32(2)).tolist() == [0, 1, 1, 2, 2, 3]


class TestOut:
    """Results are written only to arrays whose elements do not overlap."""

    def test_no_layout_in_which_two_elements_meet(self) -> None:
        """Layouts of slices of an array are accepted."""
        sliced = set()
        for axes, steps in itertools.product(itertools.permutations(range(3)), itertools.product((1, -2, 3), repeat=3)):
            view = np.empty((3, 3, 3), "i4")[tuple(slice(None, None, step) for step in steps)].transpose(axes)
            sliced.add((view.shape, view.strides))
        small = itertools.product(
            itertools.product((1, 2, 3), repeat=3), itertools.product((-6, 0, 2, 4, 8, 12), repeat=3)
        )
        for shape, strides in [*small, *sliced, ((1 << 20, 2, 1 << 20), (0, 4, 8))]:
            indices = itertools.product(*(range(min(size, 3)) for size in shape))
            places = sorted(sum(i * s for i, s in zip(index, strides, strict=True)) for index in indices)
            meet = any(after - before < 4 for before, after in itertools.pairwise(places))
            try:
                check_out_layout(shape, strides, shape, 4)
            except BroadcastError as error:
                assert "repeats memory, or its dimensions interleave" in str(error)  # noqa: PT017 - not always raised
                assert (shape, strides) not in sliced
            else:
                assert not meet

    @pytest.mark.parametrize("shape", [(0,), (3, 0), (3, 0, 2), (0, 0)])
    def test_without_elements_nothing_is_repeated(self, shape: tuple[int, ...]) -> None:
        """NumPy gives empty arrays strides of 0."""
        check_out_layout(shape, np.empty(shape, "f4").strides, shape, 4)
        check_out_layout((1, 2), (0, 4), (1, 2), 4)


class TestFiles:
    """Headers of NumPy's files."""

    @pytest.mark.parametrize("write", [npy.write_array_header_1_0, npy.write_array_header_2_0])
    @pytest.mark.parametrize("dtype", ["<f4", "<f1", "|V2"])
    def test_headers(self, write: Any, dtype: str) -> None:
        file = io.BytesIO()
        write(file, {"descr": dtype, "fortran_order": True, "shape": (2, 3)})
        end = file.tell()
        file.write(b"elements")
        file.seek(0)
        stored = np.dtype({"<f1": "V1"}.get(dtype, dtype))  # as NumPy writes float8_e5m2
        assert (read_npy_header(file), file.tell()) == (((2, 3), True, stored), end)

    def test_named_fields(self) -> None:
        with pytest.raises(ValueError, match="named fields"):
            read_npy_header(io.BytesIO(npy.magic(3, 0)))

    def test_types_of_ml_dtypes_are_raw_bytes(self) -> None:
        assert [str(stored_dtype(np.dtype(t))) for t in ("f4", ml_dtypes.bfloat16)] == ["float32", "|V2"]
