"""Division by the kernels: the twelve element types of Div-14."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from vinculum.ops.policies import ExceptionalElements, Policies
from vinculum.spec.element_types import BFLOAT16, FLOAT16, ElementType, Kind
from vinculum.spec.model import IntegerRounding
from vinculum.tensors.storage import dtype_of
from vinculum.tensors.walk import Walk, contiguous

Array = npt.NDArray[Any]


class NativeDivision:
    """Division of one element type by one rule, compiled at its first use.

    Parameters
    ----------
    element_type : ElementType
        One of the twelve of Div-14.
    rounding : IntegerRounding
        For integers.
    policies : Policies
        For integers.
    """

    def __init__(self, element_type: ElementType, rounding: IntegerRounding, policies: Policies) -> None:
        # Numba is imported here, at the first division, and not with the package: it takes longer than all else.
        from vinculum.kernels import entries, few_elements, jobs
        from vinculum.kernels.jit import kernel
        from vinculum.kernels.pool import pool

        # Unsigned quotients are never negative, so floor is truncation, and one kernel fewer is compiled.
        if element_type.kind is Kind.SIGNED and rounding is IntegerRounding.FLOOR:
            rule = entries.floor
        elif element_type.is_integer:
            rule = entries.truncating
        elif element_type is FLOAT16:
            rule = entries.binary16
        elif element_type is BFLOAT16:
            rule = entries.bfloat16
        else:
            rule = entries.ieee
        self._dtype = dtype_of(element_type)
        # The kernels carry 16-bit floats as bit patterns.
        element = "uint16" if element_type in (FLOAT16, BFLOAT16) else str(self._dtype)
        self._kernel = kernel(rule, element).address
        self._pool = pool
        self._attempt = few_elements.attempt
        self._policies = policies
        self._job = lru_cache(maxsize=1024)(self._new_job)
        self._jobs = jobs

    def attempt(self, dtype: np.dtype[Any], repeats: bool) -> Callable[[object, object, object], int]:
        """Return the quickest way for plain arrays; see `vinculum.kernels.few_elements.attempt`."""
        return self._attempt(self._kernel, dtype, repeats)

    def __call__(self, a: Array, b: Array, out: Array, walk: Walk) -> ExceptionalElements | None:
        """Divide over a walk whose result is not empty; return the exceptional elements, None if there are none."""
        places, shape = self._jobs, walk.alignment.shape
        job = self._job(walk).copy()
        if not (a.dtype.isnative and b.dtype.isnative):
            job[places.FOREIGN] = (not a.dtype.isnative) * places.OF_DIVIDENDS + (
                not b.dtype.isnative
            ) * places.OF_DIVISORS
        if not self._pool().run(self._kernel, job, a, b, out):
            return None
        return ExceptionalElements(
            int(job[places.ZERO_DIVISORS]),
            lambda: _index(job[places.FIRST_ZERO_DIVISOR], shape),
            int(job[places.OVERFLOWS]),
            lambda: _index(job[places.FIRST_OVERFLOW], shape),
        )

    def _new_job(self, walk: Walk) -> npt.NDArray[np.int64]:
        shape = walk.alignment.shape
        order: tuple[tuple[int, int], ...] = ()
        if not walk.row_major:
            steps = contiguous(shape, 1)
            order = tuple((shape[d], steps[d]) for d in walk.order)
        job = self._jobs.new_job(walk.nest, self._dtype.itemsize, order)
        job[self._jobs.SATURATE_ZERO_DIVISORS] = self._policies.zero_divisor == "saturate"
        job[self._jobs.SATURATE_OVERFLOW] = self._policies.overflow == "saturate"
        return job


def _index(position: np.int64, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Turn a row-major position into an index."""
    return tuple(int(i) for i in np.unravel_index(int(position), shape))
