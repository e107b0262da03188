"""Operands in memory: anything that NumPy can view, and its element type."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from io import BytesIO
from threading import Lock
from typing import IO, Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from vinculum.errors import BroadcastError, ConstraintError, ElementTypeError
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, ElementType
from vinculum.tensors.libraries import library_of, packages_of
from vinculum.text import kind_of

Array = npt.NDArray[Any]

_LONGEST_NPY_HEADER = 1 << 16  # Bytes; NumPy itself refuses more than 10,000.
_PARSING = Lock()  # NumPy parses headers with `ast`, which fails in Python 3.11 when threads use it at once.


@cache
def dtype_of(element_type: ElementType) -> np.dtype[Any]:
    """Return the NumPy type that stores an element type; objects for the reals."""
    return np.dtype(getattr(ml_dtypes, element_type.numpy, element_type.numpy))


def native_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return an element type's NumPy type in the processor's byte order."""
    return dtype if dtype.isnative else np.dtype(dtype.type)


_ELEMENT_TYPES = {dtype_of(element_type): element_type for element_type in ELEMENT_TYPES}


def element_type_of_dtype(dtype: np.dtype[Any]) -> ElementType | None:
    """Return the element type that a NumPy type stores, None if no operator divides it."""
    return _ELEMENT_TYPES.get(dtype)


def element_type_of(array: Array, name: str = "operand") -> ElementType:
    """Return the element type of an array.

    ElementTypeError if no operator divides it, or if an object array holds anything but ``fractions.Fraction``.
    """
    element_type = _ELEMENT_TYPES.get(native_dtype(array.dtype))
    if element_type is None:
        raise ElementTypeError(
            f"{name} has NumPy type {array.dtype}, which no division operator takes; "
            f"allowed: {', '.join(str(dtype) for dtype in _ELEMENT_TYPES if dtype.kind != 'O')}, "
            "and object arrays of fractions.Fraction"
        )
    if element_type is REAL:
        for element in array.flat:
            if type(element) is not Fraction:
                raise ElementTypeError(
                    f"{name} is an object array that holds {type(element).__name__}; "
                    "the reals are fractions.Fraction, and nothing is converted"
                )
    return element_type


def as_operand(value: object, name: str) -> Array:
    """View an operand as an array, without converting or copying its elements.

    It is an array, NumPy scalar, buffer, DLPack exporter in CPU memory, or object with ``__array__``, in either byte
    order. Buffers are what `memoryview` takes, except `bytes`, which are text. The name is for messages.

    ElementTypeError if it has no element type (a Python number, a list), if it has a mask, or if it defines arithmetic
    of its own (``__array_ufunc__``), which a division here would ignore: arrays with units, pandas and xarray objects.
    ConstraintError [GR1] if it is sparse.
    """
    if type(value) is np.ndarray:
        return value
    _refuse_sparse(value, name)
    if isinstance(value, np.ma.MaskedArray):
        raise ElementTypeError(f"{name} is a masked array, and an operator has no masks; pass its .data or .filled()")
    _refuse_own_arithmetic(value, name)
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if not isinstance(value, type):  # a class has its instances' attributes
        if hasattr(value, "__array_interface__") or _is_buffer(value):
            return _as_numpy_views(value, name)
        if hasattr(value, "__dlpack__"):
            return _from_dlpack(value, name)
        if hasattr(value, "__array__"):
            return _as_numpy_views(value, name)
    raise ElementTypeError(f"{name} is {kind_of(value)}; pass {_as_array(value, name)}")


def _as_array(value: object, name: str) -> str:
    """Return the Python that makes an array of a value."""
    argument = name if name.isidentifier() else "..."
    if type(value).__name__ == "TensorProto":
        return f"onnx.numpy_helper.to_array({argument})"
    return f"np.asarray({argument}, dtype=...)"


def native(array: Array) -> Array:
    """Return an array in the processor's byte order: itself, or a copy."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _is_buffer(value: object) -> bool:
    if isinstance(value, bytes):
        return False
    try:
        memoryview(value).release()  # type: ignore[arg-type]  # a non-buffer raises TypeError
    except TypeError:
        return False
    except (BufferError, ValueError):  # It was released or closed; NumPy's error says which.
        return True
    return True


def _refuse_sparse(value: object, name: str) -> None:
    layout = str(getattr(value, "layout", ""))
    module = type(value).__module__
    if layout.startswith("torch.sparse") or module.startswith(("scipy.sparse", "sparse")):
        raise ConstraintError(
            f"[GR1] {name} is a sparse tensor ({type(value).__name__}); no division operator takes one: "
            "convert it to a dense array",
            tag="[GR1]",
        )


def _refuse_own_arithmetic(value: object, name: str) -> None:
    kind = type(value)
    packages = packages_of(value)
    if "pandas" in packages:
        raise ElementTypeError(
            f"{name} is {kind_of(value)} of pandas, whose division aligns by index, and an operator's does not; pass "
            f"its values in their order: {name}.to_numpy()"
        )
    if "xarray" in packages:
        raise ElementTypeError(
            f"{name} is {kind_of(value)} of xarray, whose dimensions have names, and an operator's do not; let xarray "
            'join them: xarray.apply_ufunc(vinculum.div, a, b, dask="allowed")'
        )
    if getattr(kind, "__array_ufunc__", np.ndarray.__array_ufunc__) is not np.ndarray.__array_ufunc__:
        raise ElementTypeError(
            f"{name} is {kind_of(value)} of {kind.__module__}, which defines its own arithmetic (__array_ufunc__); "
            f"a division here would lose what that keeps, such as a unit or an index: "
            f"pass its values, such as numpy.asarray({name})"
        )


def _as_numpy_views(value: object, name: str) -> Array:
    try:
        array = np.asarray(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ElementTypeError(f"{name} is {kind_of(value)} that NumPy cannot view ({reason})") from None
    if array.dtype == object:  # NumPy wraps what it cannot view
        raise ElementTypeError(f"{name} is {kind_of(value)} that NumPy cannot view; pass an array")
    return array


def _from_dlpack(value: Any, name: str) -> Array:
    if getattr(value, "is_neg", bool)():
        # PyTorch exports the memory, which holds the numbers with the opposite sign.
        raise ElementTypeError(f"{name} is {kind_of(value)} negated lazily; pass its .resolve_neg()")
    try:
        library = library_of(value)
        exported, dtype = (value, None) if library is None else library.exported(value)
        array = np.from_dlpack(exported)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        if getattr(value, "requires_grad", False) is True:
            raise ElementTypeError(f"{name} is {kind_of(value)} that requires a gradient; pass its .detach()") from None
        raise ElementTypeError(
            f"{name} is {kind_of(value)} that NumPy cannot view ({reason}); it must lie in CPU memory, and have a type "
            "that DLPack shares with NumPy"
        ) from None
    return array if dtype is None else array.view(dtype)


def stored_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that NumPy's files use for elements: raw bytes, ``V2``, for the types of ml_dtypes.

    NumPy would write a name for them that it cannot read back, or none.
    """
    return np.dtype(f"V{dtype.itemsize}") if dtype.isbuiltin == 2 else dtype


def read_npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether the order is Fortran's, and the type of an ``.npy`` file, and leave it at the elements.

    ValueError if it is not an ``.npy`` file, or its elements have named fields.
    """
    readers = {(1, 0): (npy.read_array_header_1_0, 2), (2, 0): (npy.read_array_header_2_0, 4)}
    version = npy.read_magic(file)
    if version not in readers:
        raise ValueError("its element type has named fields, which no tensor has")
    read, width = readers[version]
    length = file.read(width)
    header = file.read(min(int.from_bytes(length, "little"), _LONGEST_NPY_HEADER))
    # NumPy writes float8_e5m2 under a name that it cannot read back; as raw bytes it can.
    with _PARSING:
        return read(BytesIO(length + header.replace(b"'<f1'", b"'|V1'", 1)))


def checked_out(out: object, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """View the target of results of a NumPy type and a shape as an array.

    ElementTypeError if it is not an array of that type that may be written. BroadcastError if it has another shape, or
    stores two results in one place.
    """
    library = library_of(out)
    if isinstance(out, np.ma.MaskedArray) or not (library is not None or isinstance(out, np.ndarray)):
        raise ElementTypeError(
            f"out is {kind_of(out)}; it must be an array of NumPy (without a mask), PyTorch or another library "
            "of arrays that may be written"
        )
    array = np.asarray(out) if library is None else as_operand(out, "out")
    if array.dtype != dtype:
        raise ElementTypeError(f"out has type {array.dtype}; the result has type {dtype}, as the operands do")
    if not array.flags.writeable or (library is not None and not library.writable):
        raise ElementTypeError("out is read-only; give an array that may be written")
    check_out_layout(array.shape, array.strides, shape, array.itemsize)
    return array


def check_out_layout(out: tuple[int, ...], strides: tuple[int, ...], shape: tuple[int, ...], item_size: int) -> None:
    """Check that results of a shape can be written to an array of that shape and strides.

    BroadcastError if the shapes differ, or the array may store two results in one place.
    """
    if out != shape:
        raise BroadcastError(f"out has shape {out}; the result has shape {shape}")
    if not is_nested(shape, strides, item_size):
        raise BroadcastError(
            f"out of shape {out} repeats memory, or its dimensions interleave: results could overwrite each other"
        )


def is_nested(shape: tuple[int, ...], strides: tuple[int, ...], item_size: int) -> bool:
    """Whether each stride exceeds the extent of all shorter ones, so that no two elements share a byte."""
    if 0 in shape:
        return True
    extent = item_size
    for stride, size in sorted((abs(stride), size) for stride, size in zip(strides, shape, strict=True) if size > 1):
        if stride < extent:
            return False
        extent += (size - 1) * stride
    return True
