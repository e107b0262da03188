"""The divisions of one run: computed under its policies, timed, and reported to its observer; errors are labelled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def division_label(name: str, operator: str, path: str) -> str:
    """Return a division's label in messages: its node, its operator version, and its path."""
    where = f" in {quoted(path)[1:-1]}" if path else ""
    return f"node {quoted(name)} ({operator}{where})"


@dataclass(frozen=True, repr=False)
class Division:
    """A division node of a model.

    Attributes
    ----------
    name : str
        The node's name, or its output's if it has none.
    path : str
        The node's place: ``""`` in the main graph, ``"If:then_branch"`` in a subgraph, the function's name in a
        function, joined by ``/`` where they are nested.
    spec : OperatorSpec
        The version of the operator.
    element_type : ElementType or None
        Of the operands, if it is known before a run.
    shapes : tuple of (tuple or None), or None
        The operands' shapes and then the quotient's, if any of them is known before a run.
    """

    name: str
    path: str
    spec: OperatorSpec
    element_type: ElementType | None = None
    shapes: tuple[Shape | None, ...] | None = None

    @property
    def operator(self) -> str:
        """The operator version in messages: ``"Div-14"``."""
        return self.spec.title

    def __repr__(self) -> str:
        shapes = "" if self.shapes is None else f" {', '.join(shape_text(shape) for shape in self.shapes)}"
        return f"<{self.label}: {self.element_type or 'of unknown type'}{shapes}>"

    @property
    def label(self) -> str:
        """The node's label in messages."""
        return division_label(self.name, self.operator, self.path)


@dataclass(frozen=True, eq=False)
class DivisionRecord:
    """One executed division; its arrays are read-only.

    Attributes
    ----------
    division : Division
        The node.
    dividend : ndarray or None
        None for Reciprocal, whose dividend is 1.
    divisor, quotient : ndarray
        The second operand, and the result.
    seconds : float
        How long the division alone took.
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
    """The settings for the divisions of one run of a model."""

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
        """Return the quotient from `compute`; errors keep their class and get the node's label."""
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
        """Divide a few ones of the operands' type and rank first, so that loading the kernel is not timed."""
        few = [None if x is None else _few_ones(x) for x in (dividend, divisor)]
        kind = (division.spec, *((x.dtype, x.shape, x.flags.c_contiguous) for x in few if x is not None))
        if kind not in self._loaded:
            self._loaded.add(kind)
            compute(*few)


def _few_ones(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the same type, rank and contiguity, since these determine the kernel."""
    ones = np.ones([2 * min(size, 2) for size in array.shape], array.dtype)
    view = ones[tuple(slice(0, 2 * min(size, 2), 2) for size in array.shape)]
    return view.copy() if array.flags.c_contiguous else view


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view


@contextmanager
def labelled(division: Division) -> Iterator[None]:
    """Put a division's label before the message of a VinculumError; its class, count and index are kept."""
    try:
        yield
    except VinculumError as error:
        error.locate(division.label)
        raise
