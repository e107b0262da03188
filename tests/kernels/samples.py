"""A sample of every element type through every loop: for comparing one environment or processor with another."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import vinculum
from tests.kernels.comparing import FLOATS, encodings, is_nan, random_encodings

Array = npt.NDArray[Any]
Loops = Literal["truncating flat", "flat", "every"]

# The encodings up to here are subnormal, or normal of the least exponents.
_TINY = {"float16": 0x07FF, "bfloat16": 0x00FF, "float32": 0x00FF_FFFF, "float64": 0x001F_FFFF_FFFF_FFFF}


@cache
def operands(name: str) -> tuple[Array, Array]:
    """Return operands: half of the floats are tiny, so that operands and quotients are subnormal."""
    shape = (16, 67)
    a, b = random_encodings(name, shape, 0), random_encodings(name, shape, 1)
    if name in FLOATS:
        for x in (a, b):
            bits = x.view(f"u{x.dtype.itemsize}")
            sign = bits.dtype.type(1 << (8 * x.dtype.itemsize - 1))
            bits[:8] &= sign | bits.dtype.type(_TINY[name])
    return a, b


def quotients(name: str, loops: Loops = "every") -> list[Array]:
    """Divide the operands through the loops named."""
    a, b = operands(name)
    policy: dict[str, Any] = {} if name in FLOATS else {"zero_divisor": "saturate"}
    pairs = [(a, b), (a, b[0, 5]), (a[0, 5], b)]
    if loops == "every":
        pairs += [(a[:, ::2], b[:, ::2]), (a, b[:, :1]), (a, b[0])]
    results = [vinculum.div(x, y, **policy) for x, y in pairs]
    if loops != "truncating flat":
        results += [vinculum.divide(x, y, **policy) for x, y in pairs]
    if name in FLOATS:
        results.append(vinculum.reciprocal(b))
    return results


def digest(results: list[Array]) -> str:
    """Return a digest that differs where a quotient does, all NaNs being one."""
    state = hashlib.sha256()
    for result in results:
        bits = encodings(result).copy()
        bits[is_nan(result)] = np.iinfo(bits.dtype).max
        state.update(bits.tobytes())
    return state.hexdigest()


def digests(names: tuple[str, ...], loops: Loops) -> dict[str, str]:
    """Return the digest of each type."""
    return {name: digest(quotients(name, loops)) for name in names}
