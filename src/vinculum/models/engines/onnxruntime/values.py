"""Conversion of values between ONNX Runtime and Python; tensors share their memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, TypeProto, helper, numpy_helper, parser

from vinculum.errors import ModelError
from vinculum.models.engines.onnxruntime.session import IR_VERSION, new_session, onnxruntime
from vinculum.text import quoted

_NAMES = TensorProto.DataType.keys()
_PACKED = ("int4", "uint4", "float4e2m1", "int2", "uint2", "float6e2m3", "float6e3m2")
_OPSET = 16  # The first whose Identity takes sequences.


def to_runtime(name: str, value: Any) -> Any:
    """Return a value as an OrtValue; ModelError if ONNX Runtime does not accept it."""
    if isinstance(value, np.ndarray):
        return _tensor(name, value)
    if isinstance(value, list) and value:
        items = {f"{name}[{number}]": item for number, item in enumerate(value)}
        held = {name: to_runtime(name, item) for name, item in items.items()}
        return _session("SequenceConstruct", held).run_with_ort_values(["result"], held)[0]
    if isinstance(value, onnxruntime().OrtValue):
        return value
    kind = "an empty sequence" if isinstance(value, list) else f"a {type(value).__name__}"
    raise ModelError(f"value {quoted(name)} is {kind}, which ONNX Runtime does not accept")


def to_python(name: str, value: Any) -> Any:
    """Return a value in the form of the reference evaluator; a tensor's array keeps the memory of its OrtValue alive.

    ModelError if ONNX Runtime packs its elements.
    """
    if not isinstance(value, onnxruntime().OrtValue):
        return value
    if not value.has_value():
        return None
    if not value.is_tensor():
        return _session("Identity", {name: value}).run(None, {name: value})[0]
    code, shape = value.element_type(), tuple(value.shape())
    if code == TensorProto.STRING:
        return value.numpy()
    _refuse_unshared(name, code)
    dtype = helper.tensor_dtype_to_np_dtype(code)
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.asarray(_Memory(value, prod(shape) * dtype.itemsize)).view(dtype).reshape(shape)


def is_packed(dtype: np.dtype[Any]) -> bool:
    """Return whether ONNX Runtime stores several elements of a type in a byte."""
    return str(TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(dtype))).lower() in _PACKED


def _type_of(name: str, value: Any) -> TypeProto:
    """Return an OrtValue's type as ONNX declares it; ModelError unless it is of tensors."""
    known = re.fullmatch(r"(seq\()?tensor\((\w+)\)\)?", value.data_type())
    if known is None or known[2].upper() not in _NAMES:
        raise ModelError(f"value {quoted(name)} is of type {value.data_type()}, which cannot be passed on")
    tensor = helper.make_tensor_type_proto(TensorProto.DataType.Value(known[2].upper()), None)
    return helper.make_sequence_type_proto(tensor) if known[1] else tensor


class _Memory:
    """The bytes of a value, as an array interface: a NumPy array keeps this object alive, and this object the value."""

    def __init__(self, value: Any, size: int) -> None:
        self.value = value
        data = (value.data_ptr(), False)
        self.__array_interface__ = {"version": 3, "shape": (size,), "typestr": "|u1", "data": data}


def _tensor(name: str, array: NDArray[Any]) -> Any:
    runtime = onnxruntime()
    if array.dtype == object:
        strings = _model("strings")
        strings.graph.initializer.append(numpy_helper.from_array(array, "result"))
        return new_session(strings.SerializeToString()).run_with_ort_values(["result"], {})[0]
    code = helper.np_dtype_to_tensor_dtype(array.dtype)
    _refuse_unshared(name, code)
    contiguous = np.ascontiguousarray(array).reshape(array.shape)  # ascontiguousarray makes a scalar one-dimensional.
    if array.dtype.isbuiltin == 1:  # One of NumPy's own types.
        return runtime.OrtValue.ortvalue_from_numpy(contiguous)
    return runtime.OrtValue.ortvalue_from_numpy_with_onnx_type(contiguous, code)


def _refuse_unshared(name: str, code: int) -> None:
    """Refuse element types that ONNX Runtime packs, and complex ones, which it does not return."""
    element_type = TensorProto.DataType.Name(code).lower()
    if element_type in (*_PACKED, "complex64", "complex128"):
        raise ModelError(f"value {quoted(name)} has elements of {element_type}, which ONNX Runtime cannot return")


def _session(operator: str, operands: Mapping[str, Any]) -> Any:
    """Return a session for one operator, whose output is ``"result"``."""
    model = _model(operator)
    model.graph.node.append(helper.make_node(operator, list(operands), ["result"]))
    for name, value in operands.items():
        model.graph.input.add(name=name, type=_type_of(name, value))
    return new_session(model.SerializeToString())


def _model(name: str) -> ModelProto:
    return parser.parse_model(f'<ir_version: {IR_VERSION}, opset_import: ["": {_OPSET}]> {name} () => (result) {{ }}')
