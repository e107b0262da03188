"""The roofline: a pass over memory that reads and writes the same number of bytes without dividing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.benchmarking.cells import Cell
from vinculum.benchmarking.peers.protocol import Prepared
from vinculum.kernels import backend
from vinculum.kernels.threads import set_threads


class CopyRoofline:
    """A plain pass over memory, with the same number of threads."""

    title = "the plain pass over memory"
    packages = ("vinculum",)
    install = "pip install vinculum"
    most_threads = None

    def start(self, threads: int) -> None:
        """Set the number of threads."""
        set_threads(threads)

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        """Return a call of the pass; a single operand is combined with a scalar, which needs no memory."""
        a, b = operands if len(operands) == 2 else (*operands, np.zeros((), out.dtype))
        bits = np.dtype(f"u{out.dtype.itemsize}")

        def is_right(written: NDArray[Any]) -> bool:
            return np.array_equal(written.view(bits), np.bitwise_xor(a.view(bits), b.view(bits)))

        return Prepared(partial(backend().exclusive_or, a, b, out), lambda: out, is_right)
