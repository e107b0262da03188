"""The kernels that Python calls: for each rule one over flat arrays and one over a nest.

Arrays are one-dimensional and contiguous. A flat kernel takes operands as long as the quotients, or of one element that
is repeated. A nested kernel takes arrays whose first elements are the operands' first, and a nest (see `loops`).
Integer kernels fill a tally (see `loops`) and return how many of its elements are exceptional.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vinculum.kernels.environment import enter_ieee_754, restore
from vinculum.kernels.float_quotient import bfloat16_quotient, binary16_quotient, ieee_quotient
from vinculum.kernels.integer_quotient import (
    floor_quotient,
    floor_quotient_by,
    truncating_quotient,
    truncating_quotient_by,
)
from vinculum.kernels.loops import OVERFLOWS, ZERO_DIVISORS, Tally, flat, float_run, integer_run, nested

Array = np.ndarray[Any, Any]

_ieee_run = float_run(ieee_quotient)
_binary16_run = float_run(binary16_quotient)
_bfloat16_run = float_run(bfloat16_quotient)
_truncating_run = integer_run(truncating_quotient, truncating_quotient_by)
_floor_run = integer_run(floor_quotient, floor_quotient_by)

_ieee, _ieee_nest = flat(_ieee_run), nested(_ieee_run)
_binary16, _binary16_nest = flat(_binary16_run), nested(_binary16_run)
_bfloat16, _bfloat16_nest = flat(_bfloat16_run), nested(_bfloat16_run)
_truncating, _truncating_nest = flat(_truncating_run), nested(_truncating_run)
_floor, _floor_nest = flat(_floor_run), nested(_floor_run)


def ieee_flat(dividends: Array, divisors: Array, quotients: Array) -> None:
    """Divide flat arrays of binary32 or binary64."""
    environment = enter_ieee_754()
    _ieee(dividends, divisors, quotients, None, 0)
    restore(environment)


def ieee_nested(dividends: Array, divisors: Array, quotients: Array, nest: Array) -> None:
    """Divide binary32 or binary64 over a nest."""
    environment = enter_ieee_754()
    _ieee_nest(dividends, divisors, quotients, nest, None)
    restore(environment)


def binary16_flat(dividends: Array, divisors: Array, quotients: Array) -> None:
    """Divide flat arrays of binary16 encodings."""
    environment = enter_ieee_754()
    _binary16(dividends, divisors, quotients, None, 0)
    restore(environment)


def binary16_nested(dividends: Array, divisors: Array, quotients: Array, nest: Array) -> None:
    """Divide binary16 encodings over a nest."""
    environment = enter_ieee_754()
    _binary16_nest(dividends, divisors, quotients, nest, None)
    restore(environment)


def bfloat16_flat(dividends: Array, divisors: Array, quotients: Array) -> None:
    """Divide flat arrays of bfloat16 encodings."""
    environment = enter_ieee_754()
    _bfloat16(dividends, divisors, quotients, None, 0)
    restore(environment)


def bfloat16_nested(dividends: Array, divisors: Array, quotients: Array, nest: Array) -> None:
    """Divide bfloat16 encodings over a nest."""
    environment = enter_ieee_754()
    _bfloat16_nest(dividends, divisors, quotients, nest, None)
    restore(environment)


def truncating_flat(dividends: Array, divisors: Array, quotients: Array, tally: Tally) -> int:
    """Divide flat arrays of integers, fractions discarded."""
    environment = enter_ieee_754()
    _truncating(dividends, divisors, quotients, tally, 0)
    restore(environment)
    return tally[ZERO_DIVISORS] + tally[OVERFLOWS]


def truncating_nested(dividends: Array, divisors: Array, quotients: Array, nest: Array, tally: Tally) -> int:
    """Divide integers over a nest, fractions discarded."""
    environment = enter_ieee_754()
    _truncating_nest(dividends, divisors, quotients, nest, tally)
    restore(environment)
    return tally[ZERO_DIVISORS] + tally[OVERFLOWS]


def floor_flat(dividends: Array, divisors: Array, quotients: Array, tally: Tally) -> int:
    """Divide flat arrays of integers, rounding down."""
    environment = enter_ieee_754()
    _floor(dividends, divisors, quotients, tally, 0)
    restore(environment)
    return tally[ZERO_DIVISORS] + tally[OVERFLOWS]


def floor_nested(dividends: Array, divisors: Array, quotients: Array, nest: Array, tally: Tally) -> int:
    """Divide integers over a nest, rounding down."""
    environment = enter_ieee_754()
    _floor_nest(dividends, divisors, quotients, nest, tally)
    restore(environment)
    return tally[ZERO_DIVISORS] + tally[OVERFLOWS]
