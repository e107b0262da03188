"""The facts about a division that are known before a run, and the decision of a hardening."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto

from vinculum.models.execution import division_label
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor
from vinculum.repair.bounds import UNKNOWN, Bounds
from vinculum.spec.element_types import ElementType, Kind

Runtime = Literal["onnxruntime", "openvino", "portable"]
Operator = Literal["Div", "Reciprocal", "FloorDiv", "Mod", "Fmod"]
"""Mod is ONNX's with fmod=0, whose remainder has the divisor's sign; Fmod is ONNX's with fmod=1, as in C. FloorDiv is
not an operator of ONNX: exporters write it as nodes of floats."""
Values = NDArray[Any] | None
"""The distinct values of an operand that is the same in every run, in one dimension; None for any other operand."""

RUNTIMES: dict[str, str] = {
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "portable": "every runtime",
}
"""The targets of hardening, and their names in messages."""


class Options(TypedDict, total=False):
    """The options of `vinculum.repair.harden`."""

    zero_divisor: ZeroDivisor
    overflow: Overflow
    functions: bool | None
    fix_exported: bool


@dataclass(frozen=True, eq=False)
class Facts:
    """The facts about a division that its rewrite depends on; None for values means that they are not known."""

    operator: Operator
    opset: int  # The operator set of the rewritten nodes.
    element_type: ElementType  # Of the operands.
    dividend: Values = None
    divisor: Values = None
    # Whether a runtime may find, when it loads the model, that a dividend not known here is constant, and yet not fold
    # the division.
    may_be_found: bool = False
    bounds: Bounds = UNKNOWN  # What the analysis proves.

    @property
    def is_remainder(self) -> bool:
        """Whether the result is the remainder and not the quotient."""
        return self.operator in ("Mod", "Fmod")

    @property
    def is_signed(self) -> bool:
        """Whether the operands are integers that can be negative."""
        return self.element_type.kind is Kind.SIGNED

    @property
    def may_be_zero(self) -> bool:
        """Whether a divisor may be zero."""
        return not self.bounds.never_zero and _may_hold(self.divisor, 0)

    @property
    def may_be_inverse(self) -> bool:
        """Whether a runtime may find that the dividend is the constant 1."""
        return self.may_be_found if self.dividend is None else bool(np.all(self.dividend == 1))

    @property
    def may_overflow(self) -> bool:
        """Whether the division may be MIN/-1."""
        may_be_min = _may_hold(self.dividend, self.element_type.minimum)
        return not self.bounds.never_overflows and self.may_be_minus_one and may_be_min

    @property
    def may_be_minus_one(self) -> bool:
        """Whether a divisor may be -1."""
        return not self.bounds.never_minus_one and self.is_signed and _may_hold(self.divisor, -1)

    @property
    def decisive(self) -> tuple[object, ...]:
        """The facts that determine the rewrite: divisions with equal ones are rewritten alike."""
        may = (self.may_be_zero, self.may_be_minus_one, self.may_overflow, self.may_be_inverse)
        return (self.operator, self.opset, self.element_type, *may)


def _may_hold(values: Values, value: int) -> bool:
    return values is None or bool(np.any(values == value))


@dataclass(frozen=True, eq=False)
class Decision:
    """The decision about one node that computes a quotient or a remainder.

    Attributes
    ----------
    name : str
        The node's name, or its output's if it has none.
    path : str
        Its place, as in `vinculum.models.execution.Division`.
    operator : str
        Its operator version: ``"Div-14"``.
    facts : Facts or None
        What is known of its operands; None if their element type is not known.
    what : str or None
        What was done; None if the node is unchanged.
    why : str
        The risk, or why there is none.
    note : str or None
        A property of the results on that runtime that a user may not expect.
    """

    name: str
    path: str
    operator: str
    facts: Facts | None
    what: str | None
    why: str
    note: str | None = None

    @property
    def rewritten(self) -> bool:
        """Whether the node was rewritten."""
        return self.what is not None

    @property
    def left(self) -> bool:
        """Whether it may be a division of integers that was not hardened."""
        return self.facts is None

    @property
    def label(self) -> str:
        """The node's label in messages."""
        return division_label(self.name, self.operator, self.path)


@dataclass(frozen=True, eq=False)
class Hardening:
    """A model whose integer divisions and remainders cannot crash a runtime, except those listed in `left`.

    Attributes
    ----------
    model : ModelProto
        The new model.
    runtime : {"onnxruntime", "openvino", "portable"}
        The target.
    policies : Policies
        For zero divisors and MIN/-1.
    functions : bool
        Whether the new nodes are in functions, where the operator set allows it.
    decisions : tuple of Decision
        One for every Div, Reciprocal, and Mod of integers.
    inlined : int
        How many of the model's functions were inlined: the runtime may not support them, or their calls differ in type.
    mended : bool
        Whether integer divisions that were computed in floats are integer divisions now, and may give other quotients.
    """

    model: ModelProto
    runtime: Runtime
    policies: Policies
    functions: bool
    decisions: tuple[Decision, ...]
    inlined: int = 0
    mended: bool = False

    @property
    def left(self) -> tuple[Decision, ...]:
        """The nodes that may still crash the runtime."""
        return tuple(decision for decision in self.decisions if decision.left)
