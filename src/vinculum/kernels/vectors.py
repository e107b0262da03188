"""Copies of a few vectors at once: by lines of the cache, and by squares of elements. An address is an int64."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# A line of the cache, which is also what one non-temporal store writes.
LINE = 64
# Columns of a block of which an operand is stored by columns, and bytes of as many lines of them as a square has. Lines
# of the cache are still there when the next lines of the block want the rest of them.
TILE = 256
TILE_BYTES = TILE * LINE


def copy_line(step: int) -> Any:
    """Make a copy of every `step`-th element to a line of 64 bytes; with -1, of each element and those before it.

    Vectors are read whole and shuffled. What lies between the last element and the one that would follow is read too.
    """

    @intrinsic
    def copy(typing_context: Any, source: Any, target: Any, sample: Any) -> Any:
        count = LINE // (sample.bitwidth // 8)
        taken = range(count - 1, -1, -1) if step == -1 else range(0, count * step, step)

        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            element = context.get_data_type(sample)
            address, line, _ = arguments
            if step == -1:
                address = builder.sub(address, ir.Constant(ir.IntType(64), LINE - sample.bitwidth // 8))
            read = ir.VectorType(element, count * abs(step))
            values = builder.load(builder.inttoptr(address, read.as_pointer()), align=1)
            mask = ir.Constant(ir.VectorType(ir.IntType(32), count), list(taken))
            gathered = builder.shuffle_vector(values, ir.Constant(read, ir.Undefined), mask)
            builder.store(gathered, builder.inttoptr(line, gathered.type.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, sample), generate

    return copy


def square_side(item_size: int) -> int:
    """Return how many lines and columns `transpose` takes at once: a line of the cache, but no more than registers."""
    return min(16, LINE // item_size)


@intrinsic
def transpose(typing_context: Any, source: Any, pitch: Any, target: Any, sample: Any) -> Any:
    """Copy a square of elements, columns to lines: those lie a pitch apart, these a line of a tile."""
    side = square_side(sample.bitwidth // 8)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        address, step, to, _ = arguments
        vector = ir.VectorType(context.get_data_type(sample), side)
        mask = ir.VectorType(ir.IntType(32), side)
        # Halves of two vectors, their elements taken in turns. Each round doubles how far neighbours lie apart.
        halves = [[half + i // 2 + i % 2 * side for i in range(side)] for half in (0, side // 2)]
        vectors = []
        for _ in range(side):
            vectors.append(builder.load(builder.inttoptr(address, vector.as_pointer()), align=1))
            address = builder.add(address, step)
        for _ in range(side.bit_length() - 1):
            pairs = zip(vectors[: side // 2], vectors[side // 2 :], strict=True)
            vectors = [
                builder.shuffle_vector(first, second, ir.Constant(mask, half))
                for first, second in pairs
                for half in halves
            ]
        for line in vectors:
            builder.store(line, builder.inttoptr(to, vector.as_pointer()), align=1)
            to = builder.add(to, ir.Constant(ir.IntType(64), TILE * sample.bitwidth // 8))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, sample), generate


@intrinsic
def side_of(typing_context: Any, sample: Any) -> Any:
    """Return the `square_side` of a value's type."""
    side = square_side(sample.bitwidth // 8)
    return types.int64(sample), lambda context, *emission: context.get_constant(types.int64, side)


@intrinsic
def swap_line(typing_context: Any, address: Any, sample: Any) -> Any:
    """Turn the bytes of each element of a line of 64 bytes round."""
    size = sample.bitwidth // 8
    turned = [byte - byte % size + size - 1 - byte % size for byte in range(LINE)]

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        line = ir.VectorType(ir.IntType(8), LINE)
        place = builder.inttoptr(arguments[0], line.as_pointer())
        mask = ir.Constant(ir.VectorType(ir.IntType(32), LINE), turned)
        builder.store(
            builder.shuffle_vector(builder.load(place, align=1), ir.Constant(line, ir.Undefined), mask), place, align=1
        )
        return context.get_dummy_value()

    return types.void(types.int64, sample), generate


@intrinsic
def stream_line(typing_context: Any, source: Any, target: Any) -> Any:
    """Copy 64 bytes past the caches to an address that is a multiple of 64."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        line = ir.VectorType(ir.IntType(64), LINE // 8).as_pointer()
        value = builder.load(builder.inttoptr(arguments[0], line), align=1)
        written = builder.store(value, builder.inttoptr(arguments[1], line), align=LINE)
        written.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate
