"""Typed access to memory by address, where no array of Numba's can describe the view.

An address is an int64. The type that is read comes from a *sample*, any value of that type.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from vinculum.kernels.vectors import LINE, TILE_BYTES

# So short that a processor divides one buffer while it already gathers the next.
BUFFER = 2048
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
def room_on_the_stack(typing_context: Any) -> Any:
    """Return the address of ROOM bytes, which are there until the function returns."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        # Not by cgutils.alloca_once, which also stores a zero in each byte, by an instruction each.
        with builder.goto_entry_block():
            room = builder.alloca(ir.ArrayType(ir.IntType(8), ROOM))
        room.align = LINE
        return builder.ptrtoint(room, ir.IntType(64))

    return types.int64(), generate


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
