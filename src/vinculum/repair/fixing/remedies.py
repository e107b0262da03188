"""The least remedy for a finding: a guard before or after its node, another constant, or another attribute.

A guard changes only the elements for which it was written, and returns all others bit for bit. So an input on which no
guard changes an element gives the same outputs as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from math import ceil, isfinite, log2

from onnx import NodeProto

from vinculum.analysis import Finding, Severity
from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.formats import FORMATS, Format, is_discrete, type_range
from vinculum.analysis.hazards.hazard import DIVISOR

FIRST_OPSET = 11
"""The first operator set with Equal of floats."""
FIRST_WHERE = {"bfloat16": 16}
"""The first operator set with Where of an element type, if that is a later one."""
_MAX_OF_INTEGERS = 12
"""The first operator set with Max of integers."""
_IN_FLOATS = ("integers-through-float", "rounded-quotient")
_MARGIN = 1.001
"""The distance of the largest quotient from the largest number of its type, since its bounds are rounded outward."""
OPERAND = {**DIVISOR, "QuantizeLinear": 1, "Pow": 0}
"""The position of the operand that can be guarded: the divisor, or the base of a negative power."""
_NORMS = ("Batch", "Group", "Instance", "Layer", "RMS", "SimplifiedLayer", "SkipLayer", "SkipSimplifiedLayer")
_ATTRIBUTES = {**{f"{kind}Normalization": "epsilon" for kind in _NORMS}, "LRN": "bias"}
"""The attribute that an operator adds to a divisor which it computes itself."""


class Where(Enum):
    """What a remedy changes."""

    OPERAND = "an operand of the node"
    RESULT = "the result of the node"
    CONSTANT = "a constant operand of the node"
    ATTRIBUTE = "an attribute of the node"


@dataclass(frozen=True)
class Remedy:
    """What is written for a finding.

    - `what`: The change, in words.
    - `equal`: The elements whose results stay the same bits; empty if that is not known.
    - `place`: The position of the operand.
    - `text`: Nodes in ONNX's text that compute `guarded` from `a`, the value to guard, and `b`, the dividend.
    - `numbers`: The constants that the text reads; the new value of a constant or an attribute is ``"new"``.
    - `is_adjustable`: Whether it keeps floats from zero, so that a larger ``"epsilon"`` does too.
    """

    where: Where
    what: str
    equal: str
    place: int = 0
    attribute: str = ""
    text: str = ""
    numbers: Mapping[str, float | int] = field(default_factory=dict)
    is_adjustable: bool = False

    def replaces(self, other: Remedy) -> bool:
        """Tell whether it keeps a divisor from zero, so that the other guard of the same divisor has no effect."""
        both = self.where is other.where is Where.OPERAND
        return both and self.text in (_RAISED, _LOWERED, _APART) and other.text in (_REPLACED, _SMALL_REPLACED)


_RAISED = "guarded = Max (a, epsilon)"
_LOWERED = "guarded = Min (a, minus_epsilon)"
_REPLACED = "is_zero = Equal (a, zero) guarded = Where (is_zero, epsilon, a)"
# A runtime may hold a float16 in float32: what is not zero there can still round to zero.
_SMALL_REPLACED = """
  magnitude = Abs (a)
  is_small = Less (magnitude, smallest)
  guarded = Where (is_small, epsilon, a)
"""
_APART = """
  is_negative = Less (a, zero)
  below = Min (a, minus_epsilon)
  above = Max (a, epsilon)
  guarded = Where (is_negative, below, above)
"""
_NO_OVERFLOW = """
  dividend_is_min = Equal (b, smallest)
  divisor_is_minus_1 = Equal (a, minus_1)
  overflows = And (dividend_is_min, divisor_is_minus_1)
  guarded = Where (overflows, one, a)
"""
_NO_NAN = "is_nan = IsNaN (a) guarded = Where (is_nan, masked, a)"


def remedy(finding: Finding, node: NodeProto, values: Mapping[str, AbstractTensor], opset: int) -> Remedy | str:
    """Return the least remedy for a finding, or the reason why there is none.

    - `values`: what the analysis knows of the values of the node's graph.
    - `opset`: the operator set of the node, at least `FIRST_OPSET`.
    """
    if finding.rule == "integer-zero-divisor" and opset < _MAX_OF_INTEGERS:
        return _replaced(node, 1)
    find = _BY_RULE.get(finding.rule)
    if find is not None:
        return find(finding, node, values)
    advice = "; vinculum harden --fix-exported may do it" if finding.rule in _IN_FLOATS else ""
    return f"no guard helps: {finding.fix}{advice}"


def survivor(form: Format) -> float:
    """Return the smallest positive number that no target flushes to zero: for float16 alone a subnormal one."""
    return form.smallest_subnormal if form.name == "float16" else form.smallest_normal


def _zero(finding: Finding, node: NodeProto, values: Mapping[str, AbstractTensor]) -> Remedy | str:
    if node.op_type in _ATTRIBUTES:
        return _attribute(finding, node)
    if node.op_type not in OPERAND:
        return f"{node.op_type} divides inside, where no guard can stand"
    if finding.severity is Severity.CERTAIN and finding.low == finding.high == 0:
        return "the divisor is zero in every run, and a guard would only hide that"
    if node.op_type == "Pow" and not _is_negative(values.get(node.input[1])):
        return "the exponent is negative in some places only, and a guard of the base would change the others"
    known = values.get(finding.divisor)
    whole = is_discrete(finding.element_type) or (known is not None and known.integral)
    if whole and finding.low >= 0:
        return _guard(node, _RAISED, "Max(divisor, 1)", "the divisor is not zero", epsilon=1)
    if whole:
        return _replaced(node, 1)
    form = FORMATS[finding.element_type]
    epsilon = _least_divisor(finding, node, values, form)
    if epsilon == survivor(form) and (finding.low >= 0 or finding.high <= 0):
        return kept_from_zero(finding, node, epsilon)
    if finding.high <= 0:
        epsilon = -epsilon
    if form.least < form.smallest_subnormal:
        smallest = form.smallest_subnormal
        what = f"Where(|divisor| < {smallest:.6g}, {epsilon:.6g}, divisor)"
        equal = f"the divisor's magnitude is at least {smallest:.6g}"
        found = _guard(node, _SMALL_REPLACED, what, equal, smallest=smallest, epsilon=epsilon)
    else:
        found = _replaced(node, epsilon)
    return replace(found, is_adjustable=True)


def _guard(node: NodeProto, text: str, what: str, equal: str, **numbers: float) -> Remedy:
    return Remedy(Where.OPERAND, what, equal, OPERAND[node.op_type], text=text, numbers=numbers)


def _replaced(node: NodeProto, epsilon: float) -> Remedy:
    what = f"Where(divisor == 0, {epsilon:.6g}, divisor)"
    return _guard(node, _REPLACED, what, "the divisor is not zero", zero=0, epsilon=epsilon)


def _least_divisor(finding: Finding, node: NodeProto, values: Mapping[str, AbstractTensor], form: Format) -> float:
    """Return the least divisor: no target flushes it to zero, and no finite dividend overflows when divided by it."""
    if node.op_type == "Mod":
        return 1.0
    if node.op_type == "Pow":
        steepest = -float(values[node.input[1]].low.min())
        least = 2.0 ** -int(log2(form.max) / steepest) if isfinite(steepest) else 1.0
        return max(survivor(form), least)
    largest = finding.dividend
    if not isfinite(largest):
        return 1.0
    return max(survivor(form), 2.0 ** ceil(log2(_MARGIN) + log2(largest) - log2(form.max)) if largest else 0.0)


def _is_negative(exponent: AbstractTensor | None) -> bool:
    return exponent is not None and bool((exponent.high < 0).all())


def _too_small(finding: Finding, node: NodeProto, values: Mapping[str, AbstractTensor]) -> Remedy | str:
    """Return a guard against divisors that make the quotient overflow, or that a target flushes to zero."""
    form = FORMATS[finding.element_type]
    flushed = finding.rule == "subnormal-divisor"
    epsilon = form.smallest_normal if flushed else _least_divisor(finding, node, values, form)
    return kept_from_zero(finding, node, epsilon)


def kept_from_zero(finding: Finding, node: NodeProto, epsilon: float) -> Remedy:
    """Return the guard that keeps a divisor at least an epsilon from zero, on the side of zero where it lies."""
    if finding.low >= 0:
        what, equal, text = f"Max(divisor, {epsilon:.6g})", f"the divisor is at least {epsilon:.6g}", _RAISED
    elif finding.high <= 0:
        what, equal, text = f"Min(divisor, {-epsilon:.6g})", f"the divisor is at most {-epsilon:.6g}", _LOWERED
    else:
        what = f"Where(divisor < 0, Min(divisor, {-epsilon:.6g}), Max(divisor, {epsilon:.6g}))"
        equal, text = f"the divisor's magnitude is at least {epsilon:.6g}", _APART
    found = _guard(node, text, what, equal, zero=0, epsilon=epsilon, minus_epsilon=-epsilon)
    return replace(found, is_adjustable=True)


def _overflow(finding: Finding, node: NodeProto, values: Mapping[str, AbstractTensor]) -> Remedy | str:
    smallest = int(type_range(finding.element_type)[0])
    what = f"Where(dividend == {smallest} and divisor == -1, 1, divisor)"
    equal = "the quotient is not the smallest integer over -1"
    return _guard(node, _NO_OVERFLOW, what, equal, smallest=smallest, minus_1=-1, one=1)


def _lost(finding: Finding, node: NodeProto, values: Mapping[str, AbstractTensor]) -> Remedy | str:
    epsilon = survivor(FORMATS[finding.element_type])
    place = list(node.input).index(finding.divisor)
    written = finding.detail.get("epsilon", "")
    what = f"epsilon {written} becomes {epsilon:.6g}, the smallest that survives in {finding.element_type}"
    equal = "" if node.op_type == "Add" else f"the value is at least {epsilon:.6g}"
    return Remedy(Where.CONSTANT, what, equal, place, numbers={"new": epsilon})


def _attribute(finding: Finding, node: NodeProto) -> Remedy | str:
    name = _ATTRIBUTES[node.op_type]
    if finding.low < 0:
        return f"the variance can be negative, which no {name} mends"
    epsilon = survivor(FORMATS[finding.element_type])
    return Remedy(Where.ATTRIBUTE, f"{name} becomes {epsilon:.6g}", "", attribute=name, numbers={"new": epsilon})


def _masked(finding: Finding, node: NodeProto, values: Mapping[str, AbstractTensor]) -> Remedy | str:
    replacement = 0.0 if node.op_type == "Softmax" else -FORMATS[finding.element_type].max
    what = f"Where(IsNaN(result), {replacement:.6g}, result)"
    return Remedy(Where.RESULT, what, "the result is not NaN", text=_NO_NAN, numbers={"masked": replacement})


_BY_RULE: Mapping[str, Callable[[Finding, NodeProto, Mapping[str, AbstractTensor]], Remedy | str]] = {
    "epsilon-lost": _lost,
    "integer-zero-divisor": _zero,
    "masked-row": _masked,
    "min-over-minus-one": _overflow,
    "quotient-overflow": _too_small,
    "sonnx-c3": _zero,
    "sonnx-v1": _overflow,
    "subnormal-divisor": _too_small,
    "zero-divisor": _zero,
    "zero-over-zero": _zero,
}
