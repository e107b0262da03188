"""Typed access to an array's memory at a byte offset, where no array of Numba's can describe the view."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _address(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    """Emit the pointer to the array's first element, moved by an offset in bytes (of either sign)."""
    first = context.make_array(array_type)(context, builder, array).data
    moved = builder.add(builder.ptrtoint(first, offset.type), offset)
    return builder.inttoptr(moved, first.type)


@intrinsic
def address(typing_context: Any, array: Any) -> Any:
    """Return the address of an array's first element as an integer."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(first, ir.IntType(64))

    return types.int64(array), generate


@intrinsic
def load(typing_context: Any, base: Any, offset: Any) -> Any:
    """Read the element that lies `offset` bytes after the first element of `base`."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.load(_address(context, builder, signature.args[0], *arguments))

    return base.dtype(base, types.int64), generate


@intrinsic
def pointer(typing_context: Any, base: Any, offset: Any) -> Any:
    """Return the address `offset` bytes after the first element of `base`, for ``numba.carray``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return _address(context, builder, signature.args[0], *arguments)

    return types.CPointer(base.dtype)(base, types.int64), generate


@intrinsic
def store(typing_context: Any, base: Any, offset: Any, value: Any) -> Any:
    """Write the element that lies `offset` bytes after the first element of `base`."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        array, position, element = arguments
        builder.store(element, _address(context, builder, signature.args[0], array, position))
        return context.get_dummy_value()

    return types.void(base, types.int64, base.dtype), generate
