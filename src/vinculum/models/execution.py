"""One run's divisions: computed under its policies, timed, reported to its observer, their errors labelled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import VinculumError
from vinculum.ops.policies import Policies
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import OperatorSpec
from vinculum.text import quoted, shape_text

Shape = tuple[int | str | None, ...]


def settled_sizes(actual: Sequence[int], declared: Shape | None) -> tuple[int | None, ...]:
    """Return a value's sizes as far as they are the same in every run, by what is declared; None for the others."""
    if declared is None or len(declared) != len(actual):
        return (None,) * len(actual)
    return tuple(size if size == wanted else None for size, wanted in zip(actual, declared, strict=True))


def division_label(name: str, operator: str, path: str) -> str:
    """Return how a message calls a division: its node, its operator version, and where it stands."""
    where = f" in {quoted(path)[1:-1]}" if path else ""
    return f"node {quoted(name)} ({operator}{where})"


@dataclass(frozen=True, repr=False)
class Division:
    """A division node of a model.

    Attributes
    ----------
    name : str
        The node's name, or its output's where it has none.
    path : str
        Where the node stands: ``""`` at the top, ``"If:then_branch"`` in a subgraph, the function's name in a
        function, joined by ``/`` where they nest.
    spec : OperatorSpec
        The operator version in force there.
    element_type : ElementType or None
        The operands', if it is known without running.
    shapes : tuple of (tuple or None), or None
        The operands' shapes and then the quotient's, if any of them is known without running.
    """

    name: str
    path: str
    spec: OperatorSpec
    element_type: ElementType | None = None
    shapes: tuple[Shape | None, ...] | None = None

    @property
    def operator(self) -> str:
        """The operator version as messages call it: ``"Div-14"``."""
        return self.spec.title

    def __repr__(self) -> str:
        shapes = "" if self.shapes is None else f" {', '.join(shape_text(shape) for shape in self.shapes)}"
        return f"<{self.label}: {self.element_type or 'of unknown type'}{shapes}>"

    @property
    def label(self) -> str:
        """How a message calls the node."""
        return division_label(self.name, self.operator, self.path)


@dataclass(frozen=True, eq=False)
class DivisionRecord:
    """One division that was executed; its arrays may not be written.

    Attributes
    ----------
    division : Division
        The node.
    dividend : ndarray or None
        None for Reciprocal, whose dividend is 1.
    divisor, quotient : ndarray
        The second operand, and the result.
    seconds : float
        How long the division took, and nothing else.
    """

    division: Division
    dividend: NDArray[Any] | None
    divisor: NDArray[Any]
    quotient: NDArray[Any]
    seconds: float


Observer = Callable[[DivisionRecord], None]
Compute = Callable[[Any, Any], NDArray[Any]]
"""Divides a dividend (None for Reciprocal) by a divisor."""


@dataclass(frozen=True)
class RunContext:
    """What one run of a model is to do at its divisions."""

    policies: Policies
    observer: Observer | None = None
    _loaded: set[object] = field(default_factory=set, init=False)

    def divide(
        self,
        division: Division,
        dividend: NDArray[Any] | None,
        divisor: NDArray[Any],
        compute: Compute,
    ) -> NDArray[Any]:
        """Return the quotient that `compute` gives; its errors keep their class and gain the node's name."""
        with labelled(division):
            if self.observer is not None:
                self._load_kernel(division, dividend, divisor, compute)
            start = perf_counter()
            quotient = compute(dividend, divisor)
        seconds = perf_counter() - start
        if self.observer is not None:
            shown = None if dividend is None else read_only(dividend)
            self.observer(DivisionRecord(division, shown, read_only(divisor), read_only(quotient), seconds))
        return quotient

    def _load_kernel(
        self, division: Division, dividend: NDArray[Any] | None, divisor: NDArray[Any], compute: Compute
    ) -> None:
        """Divide a few ones of the operands' type and rank first: a kernel's loading is not the division's time."""
        few = [None if x is None else _few_ones(x) for x in (dividend, divisor)]
        kind = (division.spec, *((x.dtype, x.shape, x.flags.c_contiguous) for x in few if x is not None))
        if kind not in self._loaded:
            self._loaded.add(kind)
            compute(*few)


def _few_ones(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the same type and rank, contiguous if the array is: another kernel divides the others."""
    ones = np.ones([2 * min(size, 2) for size in array.shape], array.dtype)
    view = ones[tuple(slice(0, 2 * min(size, 2), 2) for size in array.shape)]
    return view.copy() if array.flags.c_contiguous else view


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array through which it cannot be written."""
    view = array.view()
    view.flags.writeable = False
    return view


@contextmanager
def labelled(division: Division) -> Iterator[None]:
    """Put a division's label before the message of any error of ours; class, count and index stay."""
    try:
        yield
    except VinculumError as error:
        error.locate(division.label)
        raise
