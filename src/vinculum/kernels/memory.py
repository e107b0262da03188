"""Typed access to memory by address, where no array of Numba's can describe the view.

An address is an int64. The type that is read comes from a *sample*, any value of that type.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# What one non-temporal store writes: a line of the cache, whole.
LINE = 64
# So short that a processor divides one buffer while it already gathers the next.
BUFFER = 2048
# Columns of a block of which an operand is stored by columns. Lines of the cache are still there when the next lines of
# the block want the rest of them.
TILE = 256
TILE_BYTES = 16 * TILE * 4
# Three buffers, a counter for each dimension that NumPy knows, and two tiles.
COUNTERS = 3 * BUFFER
TILES = COUNTERS + 64 * 8
ROOM = TILES + 2 * TILE_BYTES


@intrinsic
def pointer(typing_context: Any, address: Any, sample: Any) -> Any:
    """Return an address as a pointer, for ``numba.carray``; it has to be aligned."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_data_type(sample).as_pointer())

    return types.CPointer(sample)(types.int64, sample), generate


@intrinsic
def address_of(typing_context: Any, pointer: Any) -> Any:
    """Return a pointer as an address."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    return types.int64(pointer), generate


@intrinsic
def load(typing_context: Any, address: Any, sample: Any) -> Any:
    """Read one element, aligned or not."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        source = builder.inttoptr(arguments[0], context.get_data_type(sample).as_pointer())
        return builder.load(source, align=1)

    return sample(types.int64, sample), generate


@intrinsic
def store(typing_context: Any, address: Any, value: Any) -> Any:
    """Write one element, aligned or not."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        target = builder.inttoptr(arguments[0], arguments[1].type.as_pointer())
        builder.store(arguments[1], target, align=1)
        return context.get_dummy_value()

    return types.void(types.int64, value), generate


@intrinsic
def zero_of(typing_context: Any, address: Any) -> Any:
    """Return the zero of the type that a pointer points to."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return context.get_constant(address.dtype, 0)

    return address.dtype(address), generate


@intrinsic
def size_of(typing_context: Any, sample: Any) -> Any:
    """Return how many bytes a value takes."""
    return types.int64(sample), lambda context, *emission: context.get_constant(types.int64, sample.bitwidth // 8)


@intrinsic
def int64_pointer(typing_context: Any, address: Any) -> Any:
    """Return a pointer as one to int64."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64).as_pointer())

    return types.CPointer(types.int64)(address), generate


@intrinsic
def room_on_the_stack(typing_context: Any) -> Any:
    """Return the address of ROOM bytes, which are there until the function returns."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        # Not by cgutils.alloca_once, which also stores a zero in each byte, by an instruction each.
        with builder.goto_entry_block():
            room = builder.alloca(ir.ArrayType(ir.IntType(8), ROOM))
        room.align = LINE
        return builder.ptrtoint(room, ir.IntType(64))

    return types.int64(), generate


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


def _call(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
    function = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * (len(arguments) - 1)).as_pointer()
    builder.call(builder.inttoptr(arguments[0], function), arguments[1:])
    return context.get_dummy_value()


@intrinsic
def call(typing_context: Any, kernel: Any, job: Any) -> Any:
    """Call a kernel by its address with the address of a job."""
    return types.void(types.int64, types.int64), _call


@intrinsic
def call_copy(typing_context: Any, copy: Any, source: Any, stride: Any, target: Any, count: Any, option: Any) -> Any:
    """Call a function of `copies` by its address."""
    return types.void(*(types.int64,) * 6), _call


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
