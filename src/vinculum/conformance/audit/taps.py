"""The divisions that an audit observes, and the sources of their operands and quotients."""

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
    """The source of a value: an input of the model, a constant of its file, or an output of the runtime.

    - `input`: The input that has the value, if the input is given.
    - `constant`: The value in the file.
    - `place`: The position among the exposed values.
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
        """Tell whether the value is the same in every run, so that a runtime may fold it."""
        return self.constant is not None and self.input not in inputs


class Layout(Enum):
    """How a runtime returns the exposed values of a division."""

    AS_THEY_ARE = "as they are"
    STACKED = "all iterations of a Loop together"
    BRANCH = "as the branch of an If returns them"


@dataclass(frozen=True, eq=False)
class Tap:
    """A division of the model.

    - `division`: The node.
    - `attributes`: The attributes that it sets.
    - `sources`: The sources of its operands, then of its quotient.
    - `unobserved`: Why its values cannot be exposed; None if they can.
    - `layout`: How its values are returned.
    - `guarded`: Whether it is a guard by which `vinculum harden` replaced a division.
    """

    division: Division
    attributes: Mapping[str, AttributeValue]
    sources: tuple[Source, ...] = ()
    unobserved: str | None = None
    layout: Layout = Layout.AS_THEY_ARE
    guarded: bool = False


@dataclass(frozen=True, eq=False)
class AuditedModel:
    """A model to audit.

    - `file`: The file.
    - `inputs`: The inputs.
    - `outputs`: The names of the outputs.
    - `taps`: The divisions, in the file's order.
    - `exposed`: The model with the exposed values after its own outputs; None if the runtime itself exposes them.
    - `inner`: The nodes that divide internally.
    - `expanded`: How many of those were replaced by their function bodies.
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
        """Whether subgraphs were changed to expose values in them."""
        return any(tap.layout is not Layout.AS_THEY_ARE for tap in self.taps)


def distinct_name(name: str, path: str, taken: set[tuple[str, str]]) -> str:
    """Return the name of a division, numbered if it is taken at this path, and add it to the taken names."""
    wanted, number = name, 1
    while (path, name) in taken:
        number += 1
        name = f"{wanted} ({number})"
    taken.add((path, name))
    return name


def inside_body(path: str) -> str:
    """Return the reason why a division at a path inside a body is not observed."""
    operator, _, attribute = path.rpartition("/")[2].partition(":")
    article = "an" if operator[:1] in "AEIO" else "a"
    return f"inside the {attribute} of {article} {operator.partition('#')[0]}"
