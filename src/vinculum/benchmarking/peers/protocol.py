"""What every peer's file provides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from vinculum.benchmarking.cells import Cell


@dataclass(frozen=True)
class Prepared:
    """A division that is ready to be computed again and again.

    Attributes
    ----------
    call : callable
        Computes it; when it returns, all quotients are there.
    quotients : callable
        Returns what the latest call has computed.
    is_right : callable or None
        Tells whether it is what had to be computed; None if it is to have the bits of our own engine's.
    """

    call: Callable[[], object]
    quotients: Callable[[], NDArray[Any]]
    is_right: Callable[[NDArray[Any]], bool] | None = None


class Peer(Protocol):
    """A package that divides.

    Its class is made without arguments, in our process, where only what it says of itself is read, and in the process
    where it is measured. Making one imports nothing foreign.
    """

    title: str
    """What sentences call it: ``"ONNX Runtime"``."""

    packages: tuple[str, ...]
    """What it is imported as, and what else its speed depends on; it is there if the first of them is."""

    install: str
    """What installs it: ``"pip install torch"``."""

    most_threads: int | None
    """How many threads it can use; None if as many as it is given."""

    def start(self, threads: int) -> None:
        """Import what divides, and give it so many threads; called once, before anything is prepared."""

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        """Make everything ready that can be done once for many calls.

        Parameters
        ----------
        cell : Cell
            What is to be computed.
        operands : sequence of ndarray
            As many as the operator takes.
        out : ndarray
            Where the quotients are to be written, if the package can be told so.

        Raises
        ------
        Exception
            Any, here or in the first call: it cannot compute this; its text says why.
        """
