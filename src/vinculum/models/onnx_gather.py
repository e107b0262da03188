"""GatherElements, where the reference evaluator's own never comes back from an index far out of bounds.

It also knows no more than 32 elements along the axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx.reference.op_run import OpRun


class GatherElements(OpRun):
    """ONNX GatherElements."""

    def _run(self, data: NDArray[Any], indices: NDArray[Any], axis: int = 0) -> tuple[NDArray[Any]]:
        if data.ndim != indices.ndim or not data.ndim:
            raise ValueError(f"the shapes {data.shape} and {indices.shape} have different ranks, or rank 0")
        axis = range(data.ndim)[axis]
        parts = [slice(None) if own == axis else slice(size) for own, size in enumerate(indices.shape)]
        near = data[tuple(parts)]
        if any(own != axis and a != b for own, (a, b) in enumerate(zip(near.shape, indices.shape, strict=True))):
            raise ValueError(f"the indices of shape {indices.shape} reach beyond the data of shape {data.shape}")
        return (np.take_along_axis(near, indices, axis),)
