"""The places of a model at which an audit looks: its divisions, and where the operands and the quotient of each are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from onnx import ModelProto

from vinculum.models.execution import Division
from vinculum.models.inner_divisions import InnerDivision
from vinculum.models.values import ModelTensor
from vinculum.spec.model import AttributeValue


@dataclass(frozen=True, eq=False)
class Source:
    """Where a value is to be had: as an input of the model, as a constant of its file, or from the runtime.

    Attributes
    ----------
    input : str or None
        The input whose value it is, where that is given.
    constant : ndarray or None
        The value in the file.
    place : int or None
        Which of the exposed values it is.
    """

    input: str | None = None
    constant: NDArray[Any] | None = None
    place: int | None = None

    def value(self, inputs: Mapping[str, Any], exposed: Sequence[Any]) -> Any:
        """Return the value in one run."""
        if self.input is not None and self.input in inputs:
            return inputs[self.input]
        return self.constant if self.place is None else exposed[self.place]

    def is_constant(self, inputs: Mapping[str, Any]) -> bool:
        """Tell whether it is the same in every run, so that a runtime may fold it."""
        return self.constant is not None and self.input not in inputs


class Layout(Enum):
    """How a runtime hands the values of a division out."""

    AS_THEY_ARE = "as they are"
    STACKED = "all iterations of a Loop together"
    BRANCH = "as the branch of an If returns them"


@dataclass(frozen=True, eq=False)
class Tap:
    """A division of the model.

    Attributes
    ----------
    division : Division
        The node.
    attributes : Mapping of str to AttributeValue
        Those that it sets.
    sources : tuple of Source
        Of its operands and then of its quotient.
    unobserved : str or None
        Why nothing can be said about it, if its values cannot be exposed.
    layout : Layout
        How its values come.
    guarded : bool
        Whether it stands for a guard, which `vinculum harden` put in the place of a division.
    """

    division: Division
    attributes: Mapping[str, AttributeValue]
    sources: tuple[Source, ...] = ()
    unobserved: str | None = None
    layout: Layout = Layout.AS_THEY_ARE
    guarded: bool = False


@dataclass(frozen=True, eq=False)
class AuditedModel:
    """A model that is to be audited.

    Attributes
    ----------
    file : Path
        Where it lies.
    inputs : tuple of ModelTensor
        What it takes.
    outputs : tuple of str
        The names of what it returns.
    taps : tuple of Tap
        Its divisions, in the file's order.
    exposed : ModelProto or None
        The model with the exposed values behind its own outputs; None if the runtime itself exposes them.
    inner : tuple of InnerDivision
        The nodes that divide inside.
    expanded : int
        How many of those gave way to their function bodies.
    """

    file: Path
    inputs: tuple[ModelTensor, ...]
    outputs: tuple[str, ...]
    taps: tuple[Tap, ...]
    exposed: ModelProto | None
    inner: tuple[InnerDivision, ...] = ()
    expanded: int = 0

    @property
    def exposes_bodies(self) -> bool:
        """Whether subgraphs were changed to expose what stands in them."""
        return any(tap.layout is not Layout.AS_THEY_ARE for tap in self.taps)


def distinct_name(name: str, path: str, taken: set[tuple[str, str]]) -> str:
    """Return the name of a division, numbered if another at its path has it, and take it."""
    wanted, number = name, 1
    while (path, name) in taken:
        number += 1
        name = f"{wanted} ({number})"
    taken.add((path, name))
    return name


def inside_body(path: str) -> str:
    """Return why nothing is observed at a path of a body: its values stay in it."""
    operator, _, attribute = path.rpartition("/")[2].partition(":")
    article = "an" if operator[:1] in "AEIO" else "a"
    return f"inside the {attribute} of {article} {operator.partition('#')[0]}"
