"""Division of the SONNX reals: exact rationals in object arrays."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from vinculum.ops.policies import ExceptionalElements
from vinculum.reference.exact_quotient import rational_quotient
from vinculum.tensors.walk import Walk, expanded

Array = npt.NDArray[Any]


def divide_rationals(a: Array, b: Array, out: Array, walk: Walk) -> ExceptionalElements | None:
    """Divide over a walk, nothing of it if a divisor is zero; return the zero divisors, None if there are none."""
    shape = walk.alignment.shape
    dividends, divisors = expanded(a, walk.alignment.a, shape), expanded(b, walk.alignment.b, shape)
    zeros = [index for index in np.ndindex(shape) if not divisors[index]]
    if zeros:
        return ExceptionalElements(len(zeros), lambda: zeros[0], 0, lambda: zeros[0])
    for index in np.ndindex(shape):
        dividend: Fraction = dividends.item(index)
        out[index] = rational_quotient(dividend, divisors.item(index))
    return None
