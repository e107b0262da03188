"""Division of the SONNX reals: exact rationals in object arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vinculum.kernels.contract import Exceptions
from vinculum.reference.exact_quotient import rational_quotient

Array = npt.NDArray[Any]


def divide_rationals(a: Array, b: Array) -> Array | Exceptions:
    """Divide arrays of one shape, of `fractions.Fraction`; if a divisor is zero nothing is divided."""
    zeros = [index for index in np.ndindex(b.shape) if not b.item(index)]
    if zeros:
        return Exceptions(b.size, len(zeros), zeros[0], 0, None)
    quotients = np.empty(a.shape, object)
    for index in np.ndindex(a.shape):
        quotients[index] = rational_quotient(a.item(index), b.item(index))
    return quotients
