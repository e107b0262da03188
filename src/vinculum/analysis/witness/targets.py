"""How a run shows a finding: the distance of a division from it, and a value of the main graph that shows the same."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto

from vinculum.analysis.domain.formats import FORMATS
from vinculum.analysis.findings import Finding, Key
from vinculum.analysis.hazards.hazard import DIVISOR
from vinculum.analysis.transfer.operators import divides_inside
from vinculum.models.execution import DivisionRecord
from vinculum.models.onnx.divisions import DIVIDES
from vinculum.models.onnx.scopes import name_of
from vinculum.spec.element_types import by_numpy_name

_ZERO = frozenset({"zero-divisor", "zero-over-zero", "integer-zero-divisor"})
_OF_DIVISIONS = frozenset({"quotient-overflow", "min-over-minus-one", "subnormal-divisor"})
_DIVISOR = {**DIVISOR, "QuantizeLinear": 1}


@dataclass(frozen=True)
class Target:
    """A finding to show."""

    key: Key  # Which it is.
    is_division: bool  # Whether our engine reports each of its divisions.
    value: str = ""  # The value of the main graph that shows the same; empty if there is none.
    # What that value has an element of: ``"zero"``, ``"not finite"``, ``"subnormal"``; empty if it tells nothing.
    wanted: str = ""
    is_inside: bool = False  # Whether the divisor is inside an operator, which every runtime computes in its own way.

    @property
    def rule(self) -> str:
        """The hazard's code."""
        return self.key[0]

    @property
    def is_zero(self) -> bool:
        """Whether a zero divisor shows it."""
        return self.rule in _ZERO

    def is_shown_by(self, value: NDArray[Any]) -> bool:
        """Tell whether the value of the main graph shows it."""
        if self.wanted == "zero":
            return bool((value == 0).any())
        if self.wanted == "subnormal":
            return bool(_subnormal(value).any())
        return self.wanted == "not finite" and not bool(np.isfinite(value).all())


def target(finding: Finding, model: ModelProto) -> Target | None:
    """Return how a run of a model shows a finding; None if runs cannot show it."""
    key = finding.key
    is_division = finding.operator in DIVIDES
    if finding.rule not in (_ZERO if not is_division else _ZERO | _OF_DIVISIONS):
        return None
    constants = {tensor.name for tensor in model.graph.initializer}
    constants |= {node.output[0] for node in model.graph.node if node.op_type == "Constant"}
    node = None if finding.scope else _node(finding, model)
    if node is not None and (
        name_of(node) != finding.node or (divides_inside(node.domain, node.op_type) and node.op_type not in _DIVISOR)
    ):
        return _inside(key, node)
    if node is None or finding.rule == "min-over-minus-one":
        return Target(key, is_division) if is_division else None
    if finding.rule == "quotient-overflow" or node.op_type not in _DIVISOR:
        return Target(key, is_division, str(node.output[0]), "not finite")
    divisor = str(node.input[_DIVISOR[node.op_type]])
    if divisor in constants:  # No run exposes it.
        return Target(key, is_division) if is_division else None
    return Target(key, is_division, divisor, "subnormal" if finding.rule == "subnormal-divisor" else "zero")


def _inside(key: Key, node: NodeProto) -> Target:
    """Return how a run shows a zero divisor that no node of the model computes: by what the whole operator returns."""
    if node.op_type == "DynamicQuantizeLinear":
        return Target(key, False, str(node.output[1]), "zero", is_inside=True)
    return Target(key, False, str(node.output[0]), "not finite", is_inside=True)


def _node(finding: Finding, model: ModelProto) -> NodeProto | None:
    """Return the node of the main graph that a finding is about, or in whose defining body it is."""
    names = (finding.node, finding.node.rpartition("/")[0])
    found = {name_of(node): node for node in model.graph.node if name_of(node) in names}
    return next((found[name] for name in names if name in found), None)


def distance(rule: str, record: DivisionRecord) -> float:
    """Return how far a division is from showing a finding of a rule: 0 if it does."""
    if rule in _ZERO:
        return float(np.fmin.reduce(np.abs(record.divisor.astype(np.float64)), axis=None, initial=inf))
    if rule == "subnormal-divisor":
        shown = bool(_subnormal(record.divisor).any())
        return 0.0 if shown else distance("zero-divisor", record) or inf
    if rule == "quotient-overflow":
        if np.isinf(record.quotient).any() and bool((record.divisor != 0).all()):
            return 0.0
        largest = float(np.fmax.reduce(np.abs(record.quotient.astype(np.float64)), axis=None, initial=0.0))
        return 1 / largest if 0 < largest < inf else inf
    if record.dividend is None:
        return inf
    smallest = by_numpy_name(record.dividend.dtype.name).minimum
    shown = bool((np.equal(record.dividend, smallest) & np.equal(record.divisor, -1)).any())
    return 0.0 if shown else inf


def _subnormal(value: NDArray[Any]) -> NDArray[np.bool_]:
    form = FORMATS.get(value.dtype.name)
    magnitude = np.abs(value.astype(np.float64))
    return np.asarray((magnitude > 0) & (magnitude < (0 if form is None else form.smallest_normal)))
