"""The kernels, one for each rule, and how they are had.

A kernel takes the address of a job (see `jobs`), as a pointer to the type that it divides in.
"""

from __future__ import annotations

from typing import Any

from vinculum.kernels.direct_quotient import floor_51, truncating_51
from vinculum.kernels.float_quotient import (
    BFLOAT16_BY,
    BINARY16_BY,
    bfloat16_quotient,
    binary16_quotient,
    ieee_quotient,
)
from vinculum.kernels.integer_quotient import (
    floor_quotient,
    floor_quotient_by,
    truncating_quotient,
    truncating_quotient_by,
)
from vinculum.kernels.jit import inlined
from vinculum.kernels.loops import blockwise
from vinculum.kernels.runs import float_runs, float_runs_by_reciprocal, integer_runs
from vinculum.kernels.wrapping import exclusive_or

_plain = blockwise(float_runs(exclusive_or))
_ieee = blockwise(float_runs(ieee_quotient))
_binary16 = blockwise(float_runs_by_reciprocal(binary16_quotient, BINARY16_BY))
_bfloat16 = blockwise(float_runs_by_reciprocal(bfloat16_quotient, BFLOAT16_BY))
_truncating = blockwise(integer_runs(truncating_quotient, inlined(truncating_51), truncating_quotient_by))
_floor = blockwise(integer_runs(floor_quotient, inlined(floor_51), floor_quotient_by))


def ieee(job: Any) -> None:
    """Divide binary32 or binary64."""
    _ieee(job)


def binary16(job: Any) -> None:
    """Divide encodings of binary16."""
    _binary16(job)


def bfloat16(job: Any) -> None:
    """Divide encodings of bfloat16."""
    _bfloat16(job)


def truncating(job: Any) -> None:
    """Divide integers, fractions discarded."""
    _truncating(job)


def floor(job: Any) -> None:
    """Divide integers, rounding down."""
    _floor(job)


def plain(job: Any) -> None:
    """Combine bits with exclusive or: what division does to memory without division, to compare it with."""
    _plain(job)
