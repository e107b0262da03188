"""The results of a check as data: findings, their places in the user's code, and their evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from typing import Any

from numpy.typing import NDArray

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom
from vinculum.shown import Shown


class Severity(Enum):
    """How sure a finding is, from its evidence."""

    CERTAIN = "certain"  # Every run shows it.
    WITNESSED = "witnessed"  # A run on inputs inside the declared ranges shows it.
    WITNESSED_OUTSIDE = "witnessed outside"  # A run on finite inputs outside the declared ranges does.
    POSSIBLE = "possible"  # The bounds hold it.
    UNCONFIRMED = "unconfirmed"  # The bounds hold it, and a search for a witness found none.


@dataclass(frozen=True)
class Frame:
    """One line of the user's Python program."""

    file: str  # As the exporter wrote it.
    line: int  # Counted from 1.
    function: str  # The function that it is in.
    code: str  # The line itself.
    in_library: bool  # Whether the file is of an installed package, not the user's own.


@dataclass(frozen=True)
class Effect:
    """The effect of a finding on an output."""

    output: str
    value: str  # ``"NaN"`` or ``"infinite"``.
    count: int  # In how many places.


@dataclass(frozen=True, eq=False)
class Witness:
    """Inputs that show a finding."""

    # ``"model"``: inputs of the model; ``"outside"``: inputs outside the declared ranges; ``"inner"``: an inner
    # tensor, besides inputs of the model; ``"definition"``: inputs of the model on which an operator divides by zero
    # as ONNX defines it, and no runtime that was asked shows it.
    kind: str
    inputs: Mapping[str, NDArray[Any]]  # The inputs of the model, by name.
    how: str  # What they hold, or how they were found; for an inner tensor, what it holds.
    confirmed_by: tuple[str, ...]  # The runtimes that show it.
    tensor: str = ""  # The inner tensor; empty for inputs.
    value: NDArray[Any] | None = None  # Its value.
    effects: tuple[Effect, ...] = ()  # The outputs that are then NaN or infinite.


@dataclass(frozen=True)
class Search:
    """The result of a search for a witness."""

    runs: int  # How many times the model was run.
    smallest: float  # The smallest magnitude of the divisor reached from the inputs; infinite if there was none.
    stopped: str = ""  # Why it ended before its runs were used up, other than by a witness.


Key = tuple[str, str, str]
"""The rule, the scope and the node of a finding."""


@dataclass(frozen=True, eq=False)
class Finding:
    """A hazard of a division at a node.

    Attributes
    ----------
    rule : str
        The code of the hazard, such as ``"zero-divisor"``.
    severity : Severity
        How sure the finding is.
    node, operator : str
        The name of the node, and its operator.
    scope : str
        Where the node is, as in `Division.path`; empty for the main graph.
    divisor : str
        The value in question: the divisor, or another operand.
    low, high : float
        The bounds of that value.
    element_type : str
        The element type of that value.
    bounds_from : BoundsFrom
        What the bounds rest on.
    path : tuple of str
        Values from an input to the divisor, each computed from the one before.
    frames : tuple of Frame
        The lines of the user's program that made the node, outermost first.
    fingerprint : str
        Equal for the same hazard in another version of the model.
    fix : str
        What to do about it.
    detail : mapping
        Numbers about the hazard, by name.
    cause : str
        What similar findings share: an operator's definition, a line of the program, or how the divisor is computed.
    witness : Witness, optional
        Inputs that show the hazard.
    search : Search, optional
        The result of the search for such inputs.
    dividend : float
        The largest magnitude of the dividend; infinite if it is not known.
    """

    rule: str
    severity: Severity
    node: str
    operator: str
    scope: str
    divisor: str
    low: float
    high: float
    element_type: str
    bounds_from: BoundsFrom
    path: tuple[str, ...]
    frames: tuple[Frame, ...]
    fingerprint: str
    fix: str
    detail: Mapping[str, Any]
    cause: str = ""
    witness: Witness | None = None
    search: Search | None = None
    dividend: float = inf

    @property
    def key(self) -> Key:
        """What it is recognised by in other checks of the model, and in runs."""
        return self.rule, self.scope, self.node


def surest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by their severity."""
    order = list(Severity)
    return tuple(sorted(findings, key=lambda finding: order.index(finding.severity)))


def by_cause(findings: Iterable[Finding]) -> tuple[tuple[Finding, ...], ...]:
    """Return findings in groups: of one rule, one severity, one operator and one cause."""
    groups: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for one in findings:
        groups[one.rule, one.severity, one.operator, one.cause or one.fingerprint].append(one)
    return tuple(map(tuple, groups.values()))


@dataclass(frozen=True)
class Blocked:
    """A node that has to stay in float32."""

    node: str  # Its name, or its first result's if it has none.
    operator: str
    is_named: bool  # Whether it has a name, so that a block list of nodes can hold it.
    why: str  # What the narrower type would do.


@dataclass(frozen=True, eq=False)
class Report(Shown):
    """What a check found.

    Attributes
    ----------
    findings : tuple of Finding
        The most certain first.
    unknown_operators : mapping of str to int
        The operators of which only the declared element types are known, and how many nodes each has.
    nodes : int
        How many nodes were analysed.
    seconds : float
        How long the check took.
    divisions : int
        How many nodes are Div, Mod or Reciprocal.
    resting : int
        How many of these have a divisor that can be zero only because an unknown operator may return anything.
    values : mapping of str to AbstractTensor
        What is known of each value of the main graph.
    model : str
        The file of the model.
    block_list : tuple of Blocked
        The nodes of the main graph that have to stay in float32, if the model was checked as a narrower type.
    unknown_weights : tuple of str
        The initializers that were taken for any finite numbers.
    """

    findings: tuple[Finding, ...]
    unknown_operators: Mapping[str, int]
    nodes: int
    seconds: float
    divisions: int = 0
    resting: int = 0
    values: Mapping[str, AbstractTensor] = field(default_factory=dict, repr=False)
    model: str = "the model"
    block_list: tuple[Blocked, ...] = ()
    unknown_weights: tuple[str, ...] = ()

    def at_least(self, severity: str) -> tuple[Finding, ...]:
        """Return the findings for which ``--fail-on`` of this severity fails: ``"certain"`` or ``"possible"``."""
        sure = (Severity.CERTAIN, Severity.WITNESSED)
        return tuple(f for f in self.findings if severity == "possible" or f.severity in sure)
