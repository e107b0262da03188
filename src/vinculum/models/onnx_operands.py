"""Operands that the standard refuses and the reference evaluator takes for something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import NodeProto


def check_operands(node: NodeProto, operands: Sequence[Any]) -> None:
    """Refuse the shape operand of a Reshape that holds anything but sizes, and -1 at most once.

    NumPy, on which the evaluator relies, takes every negative size for -1.

    Raises
    ------
    ValueError
        The line says what is allowed.
    """
    if node.op_type != "Reshape" or node.domain or len(operands) < 2 or not isinstance(operands[1], np.ndarray):
        return
    sizes = [int(size) for size in operands[1].flat]
    if min(sizes, default=0) < -1 or sizes.count(-1) > 1:
        raise ValueError(f"its shape operand holds {min(sizes)}; allowed: sizes from 0 on, and -1 once")
