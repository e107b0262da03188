"""Kernels that divide on a CUDA device, compiled by CuPy from the source of the quotient of two elements.

That source is C++17 and CUDA. CuPy is imported for the first kernel.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

SOURCE = (Path(__file__).parent / "quotients.cuh").read_text(encoding="utf-8")
# Floating-point types whose encodings the kernels take as unsigned integers, and the source's names of the formats.
NARROW = {
    "float16": "Binary16",
    "bfloat16": "BFloat16",
    "float8_e4m3fn": "Float8E4M3FN",
    "float8_e5m2": "Float8E5M2",
}


@cache
def integer_kernel(*, floor: bool, zero_divisor: str, overflow: str) -> Any:
    """Return the kernel ``(dividend, divisor, quotient, exceptional)`` of integers of one type, and of policies.

    It writes 1 to the first of `exceptional`, int32, if a policy raises.
    """
    import cupy

    arguments = f"T, {str(floor).lower()}, vinculum::{zero_divisor.upper()}, vinculum::{overflow.upper()}"
    return cupy.ElementwiseKernel(
        "T dividend, T divisor",
        "T quotient, raw int32 exceptional",
        f"""
        bool found;
        quotient = vinculum::integer_quotient<{arguments}>(dividend, divisor, found);
        if (found) exceptional[0] = 1;
        """,
        name="vinculum_integer_quotient",
        preamble=SOURCE,
    )


@cache
def float_kernel(numpy_name: str) -> Any:
    """Return the kernel ``(dividend, divisor, quotient)`` of a floating-point type, by its NumPy name."""
    import cupy

    narrow = NARROW.get(numpy_name)
    function = "float_quotient" if narrow is None else f"narrow_quotient<vinculum::{narrow}>"
    return cupy.ElementwiseKernel(
        "T dividend, T divisor",
        "T quotient",
        f"quotient = vinculum::{function}(dividend, divisor)",
        name=f"vinculum_{numpy_name}_quotient",
        preamble=SOURCE,
    )
