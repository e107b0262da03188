"""NumPy arrays as compiled code meets them: Python objects whose first fields are known.

Numba's own arrays have a type for each element type, rank, layout and writability, and cost more to look at than
sixteen elements to divide. The fields that are read here lie where NumPy's C interface has had them since its first
version.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import NativeValue, intrinsic, models, register_model, unbox

# A Python object begins with its reference count and its type; NumPy's fields follow.
_HEAD = object.__basicsize__
_TYPE = _HEAD - 8
DATA, RANK, SHAPE, STRIDES, _BASE, ELEMENT_TYPE, FLAGS = range(_HEAD, _HEAD + 7 * 8, 8)

C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x0001, 0x0100, 0x0400


class ArrayObject(types.Opaque):  # type: ignore[misc]  # Numba has no types
    """The type of an argument that is a Python object; it is not looked at before the call."""


register_model(ArrayObject)(models.OpaqueModel)

array_object = ArrayObject("ArrayObject")


@unbox(ArrayObject)
def _unbox(numba_type: Any, value: Any, context: Any) -> Any:
    return NativeValue(value)


@intrinsic
def field(typing_context: Any, value: Any, offset: Any) -> Any:
    """Read eight bytes of an object, at an offset."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        place = builder.gep(arguments[0], [arguments[1]])
        return builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))

    return types.int64(array_object, types.int64), generate


@intrinsic
def type_of(typing_context: Any, value: Any) -> Any:
    """Return the address of an object's type, which ``id`` gives in Python."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        place = builder.gep(arguments[0], [ir.IntType(64)(_TYPE)])
        return builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))

    return types.int64(array_object), generate
