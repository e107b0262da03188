"""The results of a trace as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from vinculum.analysis.findings import Effect, Frame
from vinculum.shown import Shown


class Kind(Enum):
    """The ways in which a node can go wrong."""

    ZERO_DIVISOR = "zero divisor"
    INFINITY = "infinity"
    NAN = "NaN"


@dataclass(frozen=True)
class Summary:
    """A summary of a tensor."""

    name: str
    element_type: str  # As NumPy or ml_dtypes calls it.
    shape: tuple[int, ...]
    zeros: int  # How many elements are zero.
    nan: int  # How many are NaN.
    infinite: int  # How many are infinite.
    low: float  # The smallest element that is a number; NaN if there is none.
    high: float  # The largest.
    bytes: int


@dataclass(frozen=True)
class Operand:
    """An operand of a node that went wrong."""

    summary: Summary
    # The index of the element that the result at the event's index was computed from, if it is a single one.
    index: tuple[int, ...] | None = None
    value: float | None = None  # That element.


@dataclass(frozen=True)
class Event:
    """A node that makes a NaN or infinity that none of its operands has, or divides by zero."""

    kind: Kind  # What it makes.
    node: str  # Its name.
    operator: str
    scope: str  # Where it stands, as in `Division.path`.
    place: int  # Which of the main graph's nodes it is, or is in, from 0.
    value: str  # Its result.
    # The first such element of the result in row-major order; of a zero divisor the first quotient.
    index: tuple[int, ...] | None
    result: float | None  # That element.
    count: int  # How many elements of the result are like it.
    size: int  # How many elements the result has.
    element_type: str  # The result's.
    operands: tuple[Operand, ...]  # What it was computed from.
    path: tuple[str, ...]  # Values from an input to the result; of a zero divisor to that.
    frames: tuple[Frame, ...]  # The user's program, outermost first.


@dataclass(frozen=True)
class EngineTrace:
    """The result of a run in one engine."""

    engine: str  # Its name and version.
    events: tuple[Event, ...] = ()  # The first of each kind, in the order of the nodes.
    effects: tuple[Effect, ...] = ()  # The outputs that hold NaN or infinities.
    refused: str = ""  # Why there was no run, or how it ended; empty if it returned.
    died: bool = False  # Whether the process crashed.


@dataclass(frozen=True)
class TraceReport(Shown):
    """What a trace found.

    Attributes
    ----------
    inputs : tuple of Summary
        The inputs that hold NaN or an infinity themselves.
    traces : tuple of EngineTrace
        The result in each engine.
    nodes : int
        How many nodes the main graph has.
    model : str
        The file of the model.
    """

    inputs: tuple[Summary, ...]
    traces: tuple[EngineTrace, ...]
    nodes: int
    model: str = "the model"

    @property
    def finds(self) -> bool:
        """Whether anything went wrong."""
        return any(trace.events or trace.died for trace in self.traces)
