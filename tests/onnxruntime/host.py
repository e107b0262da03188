"""A minimal host for the library: the functions of ONNX Runtime's C interface that it calls, over NumPy arrays.

Handles are numbers, by which the host knows its objects. Places in the table and in the structure of an operator are
written here as `api.hpp` has them, which tests/machine compares with ONNX Runtime's own header.
"""

# ruff: noqa: N802  # methods are named after the functions that they are

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import helper

from tests.kernels.comparing import DTYPES
from vinculum.onnxruntime import get_library_path

Array = npt.NDArray[Any]
Shape = tuple[int | str, ...]

# ONNX Runtime numbers element types as ONNX does.
NUMBERS = {dtype: int(helper.np_dtype_to_tensor_dtype(dtype)) for dtype in DTYPES.values()}
# The fields of an operator that are called here, by their place among its pointers.
NAME, INPUT_TYPE, INPUTS, DESTROY, CREATE, COMPUTE, INFER, START = 2, 4, 5, 9, 17, 18, 19, 20

_Pointer, _Number, _Size = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
_Out, _Text = ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p
_Sizes, _Dimensions = ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_int64)
_Part = ctypes.CFUNCTYPE(None, _Pointer, _Size)


_LOADED: list[Host] = []  # the library knows a host by where its table stands, and none is unloaded


class HostError(Exception):
    """A status that the library returned."""


class Host:
    """A host of a version; `failing` is a function of the interface that fails."""

    def __init__(self, version: str = "1.32.0", failing: str = "") -> None:
        _LOADED.append(self)
        self._objects: dict[int, Any] = {}
        self._failing = failing
        self.operators: list[int] = []
        self.parts = 0
        self.registered = 0
        newer = int(version.split(".")[1]) >= 24
        self._table = (ctypes.c_void_p * 415)()
        self._kept: list[Any] = []
        for name, (place, *_) in _FUNCTIONS.items():
            if newer or place < 390:
                self._table[place] = ctypes.cast(self._function(name), ctypes.c_void_p).value
        table = ctypes.addressof(self._table)
        get_api = ctypes.CFUNCTYPE(_Pointer, ctypes.c_uint32)(lambda wanted: table if wanted <= 23 + newer else None)
        said = ctypes.create_string_buffer(version.encode())
        get_version = ctypes.CFUNCTYPE(_Pointer)(lambda: ctypes.addressof(said))
        self._kept += [get_api, get_version]
        self.base = (ctypes.c_void_p * 2)(*(ctypes.cast(one, ctypes.c_void_p).value for one in (get_api, get_version)))
        self._library = ctypes.CDLL(get_library_path())
        self._library.RegisterCustomOps.restype = ctypes.c_void_p

    def register(self, entries: Mapping[str, str] | None = None) -> int:
        """Register the library with new session options, and return the options."""
        options = self._handle(dict(entries or {}))
        self.register_again(options)
        return options

    def register_again(self, options: int) -> None:
        """Register it with the options of another registration."""
        self.operators = []
        self._check(self._library.RegisterCustomOps(ctypes.c_void_p(options), self.base))

    def node(self, name: str, dtype: Any, **attributes: int | str) -> Node:
        """Make a node of an operator that was registered last."""
        for op in self.operators:
            own = field(op, NAME, _Text, _Pointer)(op) == name.encode()
            if own and field(op, INPUT_TYPE, _Number, _Pointer, _Size)(op, 0) == NUMBERS[np.dtype(dtype)]:
                return Node(self, op, attributes)
        raise LookupError(f"{name} of {dtype}")

    def _function(self, name: str) -> Any:
        method: Callable[..., Any] = getattr(self, "_" + name)
        _, *arguments, result = _FUNCTIONS[name]

        def called(*given: Any) -> Any:
            if name == self._failing:
                return self._CreateStatus(1, f"{name} fails".encode())
            return method(*given)

        function = ctypes.CFUNCTYPE(result, *arguments)(called)
        self._kept.append(function)
        return function

    def _handle(self, held: Any) -> int:
        number = 1000 + len(self._objects)
        self._objects[number] = held
        return number

    def _check(self, status: int | None) -> None:
        if status:
            raise HostError(self._objects[status])

    def _CreateStatus(self, code: int, message: bytes) -> int:
        return self._handle(message.decode())

    def _ReleaseStatus(self, status: int) -> None:
        assert isinstance(self._objects[status], str)

    def _CreateCustomOpDomain(self, name: bytes, out: Any) -> None:
        assert name == b""
        out[0] = self._handle([])

    def _CustomOpDomain_Add(self, domain: int, op: int) -> None:
        self._objects[domain].append(op)

    def _AddCustomOpDomain(self, options: int, domain: int) -> None:
        self.registered += 1
        self.operators = self._objects[domain]

    def _AddSessionConfigEntry(self, options: int, key: bytes, value: bytes) -> None:
        self._objects[options][key.decode()] = value.decode()

    def _HasSessionConfigEntry(self, options: int, key: bytes, out: Any) -> None:
        out[0] = key.decode() in self._objects[options]

    def _GetSessionConfigEntry(self, options: int, key: bytes, out: int | None, size: Any) -> None:
        _give_text(self._objects[options][key.decode()], out, size)

    def _KernelInfo_GetNodeName(self, info: int, out: int | None, size: Any) -> None:
        _give_text("node", out, size)

    def _KernelInfoGetAttribute_int64(self, info: int, name: bytes, out: Any) -> int | None:
        value = self._objects[info].get(name.decode())
        if not isinstance(value, int):
            return self._CreateStatus(1, b"there is no such integer")
        out[0] = value
        return None

    def _KernelInfoGetAttribute_string(self, info: int, name: bytes, out: int | None, size: Any) -> int | None:
        value = self._objects[info].get(name.decode())
        if not isinstance(value, str):
            return self._CreateStatus(1, b"there is no such text")
        _give_text(value, out, size)
        return None

    def _KernelContext_GetInput(self, context: int, index: int, out: Any) -> None:
        out[0] = self._objects[context]["inputs"][index]

    def _KernelContext_GetOutput(self, context: int, index: int, shape: Any, rank: int, out: Any) -> None:
        call = self._objects[context]
        assert index == 0
        call["output"] = np.empty(tuple(shape[:rank]), call["dtype"])
        out[0] = self._handle(call["output"])

    def _GetTensorMutableData(self, value: int, out: Any) -> None:
        out[0] = self._objects[value].ctypes.data

    def _GetTensorTypeAndShape(self, value: int, out: Any) -> None:
        out[0] = self._handle(self._objects[value].shape)

    def _ReleaseTensorTypeAndShapeInfo(self, info: int) -> None:
        assert isinstance(self._objects[info], tuple)

    def _GetDimensionsCount(self, info: int, out: Any) -> None:
        out[0] = len(self._objects[info])

    def _GetDimensions(self, info: int, out: Any, count: int) -> None:
        for place, size in enumerate(self._objects[info]):
            out[place] = -1 if isinstance(size, str) else size

    def _GetSymbolicDimensions(self, info: int, out: Any, count: int) -> None:
        for place, size in enumerate(self._objects[info]):
            name = ctypes.create_string_buffer(size.encode() if isinstance(size, str) else b"")
            self._kept.append(name)
            out[place] = ctypes.addressof(name)

    def _GetTensorElementTypeAndShapeDataReference(self, value: int, element: Any, shape: Any, rank: Any) -> None:
        array = self._objects[value]
        sizes = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        self._kept.append(sizes)
        element[0], shape[0], rank[0] = NUMBERS[array.dtype], ctypes.addressof(sizes), array.ndim

    def _ShapeInferContext_GetInputTypeShape(self, context: int, index: int, out: Any) -> None:
        out[0] = self._objects[context]["shapes"][index]

    def _ShapeInferContext_SetOutputTypeShape(self, context: int, index: int, info: int) -> None:
        self._objects[context]["result"] = self._objects[info]

    def _KernelContext_ParallelFor(self, context: int, part: Any, total: int, batches: int, data: int) -> None:
        self.parts += total
        for number in range(total):
            part(data, number)


class Node:
    """A node of a host."""

    def __init__(self, host: Host, op: int, attributes: Mapping[str, int | str]) -> None:
        self._host, self.op = host, op
        made = ctypes.c_void_p()
        info = host._handle(dict(attributes))
        table = ctypes.addressof(host._table)
        create = field(op, CREATE, _Pointer, _Pointer, _Pointer, _Pointer, _Out)
        host._check(create(op, table, info, ctypes.byref(made)))
        self._kernel = made.value

    def __call__(self, *operands: Array) -> Array:
        """Compute."""
        host = self._host
        call = {"inputs": [host._handle(operand) for operand in operands], "dtype": operands[0].dtype}
        context = host._handle(call)
        host._check(field(self.op, COMPUTE, _Pointer, _Pointer, _Pointer)(self._kernel, context))
        output: Array = host._objects[context]["output"]
        return output

    def infer(self, *shapes: Shape) -> Shape | None:
        """Return the inferred shape, None if there is none; a name stands for an unknown size."""
        host = self._host
        context = host._handle({"shapes": [host._handle(shape) for shape in shapes], "result": None})
        host._check(field(self.op, INFER, _Pointer, _Pointer, _Pointer)(self.op, context))
        result: Shape | None = host._objects[context]["result"]
        return result

    def close(self) -> None:
        """Free its memory."""
        field(self.op, DESTROY, None, _Pointer)(self._kernel)


def field(op: int, place: int, *signature: Any) -> Any:
    """Return a function of an operator by its place among the pointers; the operator's version is at place 0."""
    pointer = ctypes.c_void_p.from_address(op + place * ctypes.sizeof(ctypes.c_void_p)).value
    assert pointer is not None
    return ctypes.CFUNCTYPE(*signature)(pointer)


def _give_text(text: str, out: int | None, size: Any) -> None:
    if out:
        assert size[0] == len(text) + 1
        ctypes.memmove(out, text.encode() + b"\0", len(text) + 1)
    size[0] = len(text) + 1


_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "CreateStatus": (0, _Number, _Text, _Pointer),
    "ReleaseStatus": (93, _Pointer, None),
    "CreateCustomOpDomain": (26, _Text, _Out, _Pointer),
    "CustomOpDomain_Add": (27, _Pointer, _Pointer, _Pointer),
    "AddCustomOpDomain": (28, _Pointer, _Pointer, _Pointer),
    "AddSessionConfigEntry": (130, _Pointer, _Text, _Text, _Pointer),
    "HasSessionConfigEntry": (237, _Pointer, _Text, ctypes.POINTER(_Number), _Pointer),
    "GetSessionConfigEntry": (238, _Pointer, _Text, _Pointer, _Sizes, _Pointer),
    "KernelInfo_GetNodeName": (244, _Pointer, _Pointer, _Sizes, _Pointer),
    "KernelInfoGetAttribute_int64": (86, _Pointer, _Text, _Dimensions, _Pointer),
    "KernelInfoGetAttribute_string": (87, _Pointer, _Text, _Pointer, _Sizes, _Pointer),
    "KernelContext_GetInput": (90, _Pointer, _Size, _Out, _Pointer),
    "KernelContext_GetOutput": (91, _Pointer, _Size, _Dimensions, _Size, _Out, _Pointer),
    "GetTensorMutableData": (51, _Pointer, _Out, _Pointer),
    "GetTensorTypeAndShape": (65, _Pointer, _Out, _Pointer),
    "ReleaseTensorTypeAndShapeInfo": (99, _Pointer, None),
    "GetDimensionsCount": (61, _Pointer, _Sizes, _Pointer),
    "GetDimensions": (62, _Pointer, _Dimensions, _Size, _Pointer),
    "GetSymbolicDimensions": (63, _Pointer, _Out, _Size, _Pointer),
    "GetTensorElementTypeAndShapeDataReference": (414, _Pointer, ctypes.POINTER(_Number), _Out, _Sizes, _Pointer),
    "ShapeInferContext_GetInputTypeShape": (268, _Pointer, _Size, _Out, _Pointer),
    "ShapeInferContext_SetOutputTypeShape": (270, _Pointer, _Size, _Pointer, _Pointer),
    "KernelContext_ParallelFor": (274, _Pointer, _Part, _Size, _Size, _Pointer, _Pointer),
}
"""The place of each in the table, the types of its arguments and, last, of its result."""
