"""The least that any division does to memory: read every operand, write every result."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.spec.model import Broadcasting
from vinculum.tensors.broadcasting import Shape, join
from vinculum.tensors.walk import Strides, plan


def plain_pass(a: NDArray[Any], b: NDArray[Any], out: NDArray[Any]) -> None:
    """Write the exclusive or of the operands' bits to `out`, walked, cut and shared among threads as a division is.

    Parameters
    ----------
    a, b : ndarray
        Of one element type, with shapes that multidirectional broadcasting joins.
    out : ndarray
        Of the same, and of the joined shape; memory of its own.
    """
    from vinculum.kernels import entries
    from vinculum.kernels.jit import kernel
    from vinculum.kernels.pool import pool

    address = kernel(entries.plain, f"uint{8 * out.itemsize}").address
    job = _job(a.shape, a.strides, b.shape, b.strides, out.strides, out.itemsize).copy()
    pool().run(address, job, a, b, out)


@lru_cache(maxsize=64)
def _job(
    a: Shape, a_strides: Strides, b: Shape, b_strides: Strides, out_strides: Strides, item_size: int
) -> NDArray[np.int64]:
    from vinculum.kernels.jobs import new_job

    walk = plan(join(Broadcasting.MULTIDIRECTIONAL, a, b, None), a_strides, b_strides, out_strides, item_size)
    return new_job(walk.nest, item_size, ())
