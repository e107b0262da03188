"""Operations on elements of int64 arrays that several threads read and write."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _atomic(operation: str) -> Any:
    """Make an atomic operation on an element of an int64 array, which returns what stood there before."""

    @intrinsic
    def change(typing_context: Any, array: Any, place: Any, value: Any) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            first = context.make_array(array)(context, builder, arguments[0]).data
            return builder.atomic_rmw(operation, builder.gep(first, [arguments[1]]), arguments[2], "seq_cst")

        return types.int64(array, types.int64, types.int64), generate

    return change


fetch_add = _atomic("add")
exchange = _atomic("xchg")
# Unsigned: -1, which stands for none, is above every position.
fetch_least = _atomic("umin")


@intrinsic
def read(typing_context: Any, array: Any, place: Any) -> Any:
    """Read an element of an int64 array that other threads write to."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        first = context.make_array(array)(context, builder, arguments[0]).data
        return builder.load_atomic(builder.gep(first, [arguments[1]]), "seq_cst", 8)

    return types.int64(array, types.int64), generate


@intrinsic
def replace(typing_context: Any, array: Any, place: Any, expected: Any, value: Any) -> Any:
    """Write an element of an int64 array if it is what is expected; return whether it was."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        first = context.make_array(array)(context, builder, arguments[0]).data
        place = builder.gep(first, [arguments[1]])
        return builder.extract_value(builder.cmpxchg(place, arguments[2], arguments[3], "seq_cst", "seq_cst"), 1)

    return types.boolean(array, types.int64, types.int64, types.int64), generate


@intrinsic
def fence(typing_context: Any) -> Any:
    """Let no later store be seen before an earlier one, non-temporal ones included."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate
