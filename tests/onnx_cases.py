"""ONNX's own node tests, which the onnx package makes when their modules are imported."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx.backend.test.case import base
from onnx.reference.ops import op_pool_common

_window_by_window: Any = op_pool_common.pool


@cache
def node_cases() -> list[Any]:
    """Return all node tests, in a fifth of the time that the onnx package takes."""
    with (
        warnings.catch_warnings(),
        patch.object(op_pool_common, "pool", pool),
        patch.object(base, "process_snippet"),  # It reads the source of each, for ONNX's documentation.
    ):
        warnings.simplefilter("ignore")  # Some expected results overflow on purpose.
        from onnx.backend.test.case.node import collect_testcases

        return list(collect_testcases(None))


def pool(
    padded: NDArray[Any],
    x_shape: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    out_shape: Sequence[int],
    pooling_type: str,
    *pads: Any,
    **others: Any,
) -> Any:
    """Replace `pool`: compute all windows at once where there is no padding or dilation, which is much faster."""
    p = others.get("p", 1)
    axes = tuple(range(2, padded.ndim))
    plain = (
        not pads and not others.keys() - {"p"} and all(a <= b for a, b in zip(kernel, padded.shape[2:], strict=True))
    )
    windows = sliding_window_view(padded, kernel, axes) if plain else padded
    if plain:
        windows = windows[(slice(None), slice(None), *(slice(None, None, step) for step in strides))]
    if not plain or windows.shape[2 : padded.ndim] != tuple(out_shape):
        return _window_by_window(padded, x_shape, kernel, strides, out_shape, pooling_type, *pads, **others)
    windows = windows.reshape(*x_shape[:2], *out_shape, -1)
    ways: dict[str, Callable[[], Any]] = {
        "AVG": lambda: np.average(windows, -1),
        "LPPOOL": lambda: np.sum(np.abs(windows) ** p, -1) ** (1.0 / p),
        "MAX": lambda: np.max(windows, -1),
    }
    return np.asarray(ways[pooling_type](), padded.dtype)
