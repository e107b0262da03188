"""The protocol of peers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from vinculum.benchmarking.cells import Cell


@dataclass(frozen=True)
class Prepared:
    """A division that is ready to be computed repeatedly.

    Attributes
    ----------
    call : callable
        Computes it, and returns when all quotients are done.
    quotients : callable
        Returns the result of the latest call.
    is_right : callable or None
        Returns whether the result is right; None if it is compared with Vinculum's bits.
    """

    call: Callable[[], object]
    quotients: Callable[[], NDArray[Any]]
    is_right: Callable[[NDArray[Any]], bool] | None = None


class Peer(Protocol):
    """A package that divides.

    Its class is called without arguments, in our process, where only its attributes are read, and in the process
    where it is measured. Calling it imports nothing foreign.
    """

    title: str
    """The name in sentences: ``"ONNX Runtime"``."""

    packages: tuple[str, ...]
    """Its import name, then other packages that its speed depends on; it is installed if the first is."""

    install: str
    """The command that installs it: ``"pip install torch"``."""

    most_threads: int | None
    """The most threads that it can use; None if there is no limit."""

    def start(self, threads: int) -> None:
        """Import the package, and set its number of threads; called once, before `prepare`."""

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        """Do everything that can be done once for many calls.

        Parameters
        ----------
        cell : Cell
            The cell to compute.
        operands : sequence of ndarray
            The operands of the operator.
        out : ndarray
            Where to write the quotients, if the package takes an output array.

        Raises
        ------
        Exception
            Any exception, here or in the first call, if it cannot compute this; the message gives the reason.
        """
