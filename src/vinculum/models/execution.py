"""One run of a model: its divisions, computed under its policies, timed and reported to its observer; and its limits.

Errors of divisions are labelled. The limits are those of a trial run: how long its loops may take, and how large a
result may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from time import perf_counter, process_time
from typing import Any

from numpy.typing import NDArray

from vinculum.errors import ModelError, VinculumError
from vinculum.ops.policies import Policies
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import OperatorSpec
from vinculum.tensors.shapes import SymbolicShape
from vinculum.text import quoted, shape_text


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
    shapes: tuple[SymbolicShape | None, ...] | None = None

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

    def divide(
        self, division: Division, dividend: NDArray[Any] | None, divisor: NDArray[Any], compute: Compute
    ) -> NDArray[Any]:
        """Return the quotient from `compute`; errors keep their class and get the node's label."""
        with labelled(division):
            start = perf_counter()
            quotient = compute(dividend, divisor)
        seconds = perf_counter() - start
        if self.observer is not None:
            shown = None if dividend is None else read_only(dividend)
            self.observer(DivisionRecord(division, shown, read_only(divisor), read_only(quotient), seconds))
        return quotient


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


class LimitError(ModelError):
    """A trial run would exceed its limit of time or memory."""


_WAITED = [0.0]  # Seconds spent waiting for runtimes in other processes.


def work_time() -> float:
    """Return the seconds of work so far: processor time of this process, and time waited for runtimes in others.

    So load by other programs only counts while a runtime in another process is running.
    """
    return process_time() + _WAITED[0]


@contextmanager
def waiting() -> Iterator[None]:
    """Count the wall time of the block as work, which another process does."""
    start = perf_counter()
    try:
        yield
    finally:
        _WAITED[0] += perf_counter() - start


_LIMITS: ContextVar[tuple[float, float]] = ContextVar("vinculum.models.limits", default=(inf, inf))
"""Until which `work_time` a run may take, and how many bytes a result."""


@contextmanager
def limited(seconds: float, largest: int | None = None) -> Iterator[None]:
    """Limit the time and memory of runs in the block, which input values can determine; runs raise `LimitError`.

    - `seconds`: the `work_time` that the block may take; loops check it before every iteration.
    - `largest`: the bytes that one result may take, for operators with an operand that determines its size; None for
      any number.
    """
    token = _LIMITS.set((work_time() + seconds, inf if largest is None else largest))
    try:
        yield
    finally:
        _LIMITS.reset(token)


def check_time() -> None:
    """Raise `LimitError` if the time of the run is over."""
    if not seconds_left():
        raise LimitError("a loop takes longer than a trial run may")


def seconds_left() -> float:
    """Return how many seconds of work the run has left, infinity if there is no limit."""
    deadline, _ = _LIMITS.get()
    return max(deadline - work_time(), 0.0)


def check_bytes(size: int) -> None:
    """Raise `LimitError` if a result of that many bytes is too large for the run."""
    _, largest = _LIMITS.get()
    if size > largest:
        raise LimitError(f"a result would take {size} bytes, more than a trial run may")
