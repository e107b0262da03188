"""What is known of a division without running the model, and what a hardening decides for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto

from vinculum.models.execution import division_label
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor
from vinculum.spec.element_types import ElementType, Kind

Runtime = Literal["onnxruntime", "openvino", "portable"]
Operator = Literal["Div", "Reciprocal", "FloorDiv", "Mod", "Fmod"]
"""Mod is ONNX's with fmod=0, whose remainder has the divisor's sign, Fmod that with fmod=1, as in C; FloorDiv is no
operator of ONNX, exporters write it in floats."""
Values = NDArray[Any] | None
"""The distinct values of an operand that is the same in every run, in one dimension; None for any other operand."""

RUNTIMES: dict[str, str] = {
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "portable": "every runtime",
}
"""What a model can be hardened for, and what sentences call it."""


class Options(TypedDict, total=False):
    """What a model is hardened against, as `vinculum.models.harden.harden` takes it."""

    zero_divisor: ZeroDivisor
    overflow: Overflow
    functions: bool | None
    fix_exported: bool


@dataclass(frozen=True, eq=False)
class Facts:
    """A division as far as its rewriting depends on it; None for values means that they are not known."""

    operator: Operator  # What is computed.
    opset: int  # The operator set that a rewrite is written in.
    element_type: ElementType  # The operands'.
    # The distinct values of an operand that is the same in every run.
    dividend: Values = None
    divisor: Values = None
    # Whether the dividend is not known, but a runtime may find when it loads the model that it is the same in every
    # run, and yet not fold the division.
    may_be_found: bool = False

    @property
    def is_remainder(self) -> bool:
        """Whether the remainder is asked for, and not the quotient."""
        return self.operator in ("Mod", "Fmod")

    @property
    def is_signed(self) -> bool:
        """Whether the operands are integers that can be negative."""
        return self.element_type.kind is Kind.SIGNED

    @property
    def may_be_zero(self) -> bool:
        """Whether a divisor may be zero."""
        return self.divisor is None or not bool(np.all(self.divisor != 0))

    @property
    def may_be_inverse(self) -> bool:
        """Whether a runtime may find that every dividend is 1."""
        return self.may_be_found if self.dividend is None else bool(np.all(self.dividend == 1))

    @property
    def may_overflow(self) -> bool:
        """Whether the quotient may be MIN/-1."""
        return self.may_be_minus_one and _may_hold(self.dividend, self.element_type.minimum)

    @property
    def may_be_minus_one(self) -> bool:
        """Whether a divisor may be -1."""
        return self.is_signed and _may_hold(self.divisor, -1)

    @property
    def decisive(self) -> tuple[object, ...]:
        """What a rewrite depends on: divisions that agree in it are rewritten alike."""
        may = (self.may_be_zero, self.may_be_minus_one, self.may_overflow, self.may_be_inverse)
        return (self.operator, self.opset, self.element_type, *may)


def _may_hold(values: Values, value: int) -> bool:
    return values is None or bool(np.any(values == value))


@dataclass(frozen=True, eq=False)
class Decision:
    """What becomes of one node that divides or takes a remainder.

    Attributes
    ----------
    name : str
        The node's name, or its output's where it has none.
    path : str
        Where it stands, as in `vinculum.models.execution.Division`.
    operator : str
        Its operator version: ``"Div-14"``.
    facts : Facts or None
        What is known of its operands; None if not even their element type is.
    what : str or None
        What was done, in words; None if the node is as it was.
    why : str
        The risk, or why there is none.
    note : str or None
        What holds of the results on that runtime and a user may not expect.
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
        """Whether the node is not what it was."""
        return self.what is not None

    @property
    def left(self) -> bool:
        """Whether it may be a division of integers that was not hardened."""
        return self.facts is None

    @property
    def label(self) -> str:
        """How a message calls the node."""
        return division_label(self.name, self.operator, self.path)


@dataclass(frozen=True, eq=False)
class Hardening:
    """A model whose integer divisions and remainders cannot crash a runtime, but for those that are left.

    Attributes
    ----------
    model : ModelProto
        The new model.
    runtime : {"onnxruntime", "openvino", "portable"}
        What it is for.
    policies : Policies
        What it does with zero divisors and with MIN/-1.
    functions : bool
        Whether the new nodes stand in functions, where the operator set has what they need.
    decisions : tuple of Decision
        One for every Div, Reciprocal, and Mod of integers.
    inlined : int
        How many functions of its own were inlined: the runtime need not take them, or their calls differ in type.
    mended : bool
        Whether divisions that stood in floats are divisions of integers now, and so may give other quotients.
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
        """The nodes that may still kill the runtime."""
        return tuple(decision for decision in self.decisions if decision.left)
