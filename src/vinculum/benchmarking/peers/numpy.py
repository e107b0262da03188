"""NumPy, by its universal functions; ml_dtypes provides those for bfloat16."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.benchmarking.cells import Cell
from vinculum.benchmarking.peers.protocol import Prepared
from vinculum.benchmarking.rightness import rounding_of
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import IntegerRounding


class Numpy:
    """NumPy. For integers it has only floor division, which truncates unsigned integers."""

    title = "NumPy"
    packages = ("numpy", "ml_dtypes")
    install = "pip install numpy"
    most_threads = 1

    def start(self, threads: int) -> None:
        """Do nothing: its universal functions use one thread."""

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        """Return a call of the universal function."""
        if out.dtype.kind == "i" and rounding_of(cell) is IntegerRounding.TRUNCATING:
            raise UnsupportedError("it has no truncating division of signed integers")
        function = np.reciprocal if len(operands) == 1 else np.floor_divide if cell.is_integer else np.divide
        return Prepared(partial(function, *operands, out=out), lambda: out)
