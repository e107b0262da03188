"""The floating-point environment of IEEE 754 around a kernel, whatever other libraries left in the processor.

A library built with -ffast-math, or a call such as PyTorch's ``set_flush_denormal``, switches the processor to flush
subnormal numbers to zero; the switch holds for every division of the thread.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from vinculum.kernels.processor import ON_X86

# Every exception masked, rounding to nearest, no flushing of subnormal operands or results.
_IEEE_754 = 0x1F80


def _control_word(builder: Any, instruction: str, slot: Any) -> None:
    """Emit the instruction that reads or writes MXCSR, the control word, at a stack slot."""
    byte = ir.IntType(8).as_pointer()
    function = builder.module.declare_intrinsic(
        f"llvm.x86.sse.{instruction}", (), ir.FunctionType(ir.VoidType(), [byte])
    )
    builder.call(function, [builder.bitcast(slot, byte)])


@intrinsic
def enter_ieee_754(typing_context: Any) -> Any:
    """Switch to IEEE 754's default environment and return the one that was in force (x86 only; elsewhere 0)."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(32)
        if not ON_X86:
            return word(0)
        slot = builder.alloca(word)
        _control_word(builder, "stmxcsr", slot)
        before = builder.load(slot)
        builder.store(word(_IEEE_754), slot)
        _control_word(builder, "ldmxcsr", slot)
        return before

    return types.uint32(), generate


@intrinsic
def restore(typing_context: Any, environment: Any) -> Any:
    """Switch back to the environment that `enter_ieee_754` returned."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        if ON_X86:
            slot = builder.alloca(ir.IntType(32))
            builder.store(arguments[0], slot)
            _control_word(builder, "ldmxcsr", slot)
        return context.get_dummy_value()

    return types.void(types.uint32), generate
