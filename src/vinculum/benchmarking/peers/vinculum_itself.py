"""Our own engine, called in the way recommended for many divisions of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from vinculum.benchmarking.cells import Cell
from vinculum.benchmarking.peers.protocol import Prepared
from vinculum.benchmarking.rightness import are_exact, operator_of
from vinculum.kernels.threads import set_threads


class VinculumItself:
    """Vinculum: an operator prepared once, and quotients written into existing memory."""

    title = "Vinculum"
    packages = ("vinculum", "numpy")
    install = "pip install vinculum"
    most_threads = None

    def start(self, threads: int) -> None:
        """Set the number of threads."""
        set_threads(threads)

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        """Return a call of the operator; its quotients are compared with the reference, not with themselves."""
        a, b = (*operands, None)[:2]
        return Prepared(
            partial(operator_of(cell), a, b, out),
            lambda: out,
            lambda quotients: are_exact(cell, operands, quotients),
        )
