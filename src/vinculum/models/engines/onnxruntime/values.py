"""Conversion of values between ONNX Runtime and Python; tensors share their memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from vinculum.errors import ModelError
from vinculum.models.engines.onnxruntime.session import TENSORS, onnxruntime
from vinculum.models.onnx.tensors import PACKED_BITS
from vinculum.text import quoted


def run_values(session: Any, names: Sequence[str], inputs: Mapping[str, Any]) -> list[Any]:
    """Return outputs of a session, in the form of the reference evaluator; ModelError if it does not take an input.

    Tensors share their memory with ONNX Runtime if all inputs are tensors of numbers and all outputs are tensors.
    """
    given = {name: to_runtime(name, value) if _holds_numbers(value) else value for name, value in inputs.items()}
    types = {output.name: output.type for output in session.get_outputs()}
    if all(kind.startswith("tensor(") for kind in types.values()) and all(map(_holds_numbers, inputs.values())):
        results = session.run_with_ort_values(list(names), given)
        return [to_python(name, value) for name, value in zip(names, results, strict=True)]
    for name in names:  # Of float8 `session.run` would give bytes, and of bfloat16 nothing.
        kind = types[name]
        if kind.startswith("tensor(") and kind not in (*TENSORS, "tensor(string)"):
            where = "beside strings, sequences and other values"
            kind = kind.removeprefix("tensor(").removesuffix(")")
            raise ModelError(f"value {quoted(name)} has elements of {kind}, which ONNX Runtime does not return {where}")
    return list(session.run(list(names), given))


def _holds_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype != object


def to_runtime(name: str, array: NDArray[Any]) -> Any:
    """Return a tensor of numbers as an OrtValue; ModelError if ONNX Runtime does not return its element type."""
    code = helper.np_dtype_to_tensor_dtype(array.dtype)
    _refuse_unshared(name, code)
    contiguous = np.ascontiguousarray(array).reshape(array.shape)  # ascontiguousarray makes a scalar one-dimensional.
    if array.dtype.isbuiltin == 1:  # One of NumPy's own types.
        return onnxruntime().OrtValue.ortvalue_from_numpy(contiguous)
    return onnxruntime().OrtValue.ortvalue_from_numpy_with_onnx_type(contiguous, code)


def to_python(name: str, value: Any) -> NDArray[Any]:
    """Return a tensor's array, which keeps the memory of its OrtValue alive; ModelError if its elements are packed."""
    code, shape = value.element_type(), tuple(value.shape())
    if code == TensorProto.STRING:
        return np.asarray(value.numpy())
    _refuse_unshared(name, code)
    dtype = helper.tensor_dtype_to_np_dtype(code)
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.asarray(_Memory(value, prod(shape) * dtype.itemsize)).view(dtype).reshape(shape)


def is_packed(dtype: np.dtype[Any]) -> bool:
    """Return whether ONNX Runtime stores several elements of a type in a byte."""
    return TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(dtype)) in PACKED_BITS


class _Memory:
    """The bytes of a value, as an array interface: a NumPy array keeps this object alive, and this object the value."""

    def __init__(self, value: Any, size: int) -> None:
        self.value = value
        data = (value.data_ptr(), False)
        self.__array_interface__ = {"version": 3, "shape": (size,), "typestr": "|u1", "data": data}


def _refuse_unshared(name: str, code: int) -> None:
    """Refuse element types that ONNX Runtime packs, and complex ones, which it does not return."""
    kind = TensorProto.DataType.Name(code)
    if kind in (*PACKED_BITS, "COMPLEX64", "COMPLEX128"):
        raise ModelError(f"value {quoted(name)} has elements of {kind.lower()}, which ONNX Runtime cannot return")
