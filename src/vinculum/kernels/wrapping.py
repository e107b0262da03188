"""Integer operations modulo 2^N in the width of their operands, N bits.

Numba's own operators widen to 64 bits, which leaves a vector with fewer elements, and LLVM takes its signed sums for
sums that do not wrap.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _operation(instruction: str) -> Any:
    """Make an operation on two integers of one type from LLVM's instruction."""

    @intrinsic
    def operation(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments)

        return a(a, a), generate

    return operation


add = _operation("add")
subtract = _operation("sub")
exclusive_or = _operation("xor")
shift_right = _operation("lshr")


def _unsigned(integer: Any) -> Any:
    return getattr(types, f"uint{integer.bitwidth}")


@intrinsic
def as_signed(typing_context: Any, value: Any) -> Any:
    """Return the signed integer of the same bits."""
    signed = getattr(types, f"int{value.bitwidth}")
    return signed(value), lambda context, builder, signature, arguments: arguments[0]


@intrinsic
def sign_mask(typing_context: Any, value: Any) -> Any:
    """Return all ones for a negative integer, else zero."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        width = value.bitwidth
        return builder.ashr(arguments[0], ir.IntType(width)(width - 1))

    return _unsigned(value)(value), generate


@intrinsic
def magnitude(typing_context: Any, value: Any) -> Any:
    """Return the absolute value as an unsigned integer, 2^(N-1) for the smallest."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        width = value.bitwidth
        sign = builder.ashr(arguments[0], ir.IntType(width)(width - 1))
        return builder.sub(builder.xor(arguments[0], sign), sign)

    return _unsigned(value)(value), generate


@intrinsic
def less_mask(typing_context: Any, a: Any, b: Any) -> Any:
    """Return all ones where a < b as signed integers, else zero."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.sext(builder.icmp_signed("<", *arguments), ir.IntType(a.bitwidth))

    return _unsigned(a)(a, a), generate


@intrinsic
def high_half(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the upper half of the product of two unsigned integers of at most 32 bits."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        twice = ir.IntType(2 * a.bitwidth)
        product = builder.mul(*(builder.zext(factor, twice) for factor in arguments))
        return builder.trunc(builder.lshr(product, twice(a.bitwidth)), ir.IntType(a.bitwidth))

    return a(a, a), generate


@intrinsic
def opaque(typing_context: Any, value: Any) -> Any:
    """Return a uint64 unchanged, by no instruction, such that LLVM does not know where it came from."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        return builder.asm(ir.FunctionType(word, [word]), "", "=r,0", arguments, False)

    return value(value), generate
