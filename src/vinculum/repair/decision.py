"""The facts about a division that are known before a run, its risks on a runtime, and the decision to rewrite it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypedDict

import numpy as np
from onnx import ModelProto

from vinculum.errors import ModelError
from vinculum.models.engines.openvino import EXACT_ON_OPENVINO
from vinculum.models.execution import division_label
from vinculum.models.onnx.promoted_types import promotion_among
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor
from vinculum.repair.bounds import UNKNOWN, Bounds, Values
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16, INT32, INT64, UINT64, ElementType, Kind

Runtime = Literal["onnxruntime", "openvino", "portable"]
Operator = Literal["Div", "Reciprocal", "FloorDiv", "Mod", "Fmod"]
"""Mod is ONNX's with fmod=0, whose remainder has the divisor's sign; Fmod is ONNX's with fmod=1, as in C. FloorDiv is
not an operator of ONNX: exporters write it as nodes of floats."""

RUNTIMES: dict[str, str] = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "portable": "every runtime"}
"""The targets of hardening, and their names in messages."""
_WITH_KERNELS = (INT32, INT64, UINT64, FLOAT, DOUBLE)
"""The element types for which every target runtime has kernels of the operators that guards use."""


class Options(TypedDict, total=False):
    """The options of `vinculum.repair.harden`."""

    zero_divisor: ZeroDivisor
    overflow: Overflow
    fix_exported: bool


@dataclass(frozen=True, eq=False)
class Facts:
    """The facts about a division that determine its rewrite."""

    operator: Operator
    opset: int  # The operator set of the rewritten nodes.
    element_type: ElementType  # Of the operands.
    bounds: Bounds = UNKNOWN  # What the analysis proves about the operands.

    @property
    def is_remainder(self) -> bool:
        """Whether the result is the remainder, not the quotient."""
        return self.operator in ("Mod", "Fmod")

    @property
    def is_signed(self) -> bool:
        """Whether the operands are integers that can be negative."""
        return self.element_type.kind is Kind.SIGNED

    @property
    def may_be_zero(self) -> bool:
        """Whether a divisor may be zero."""
        return "zero" not in self.bounds.never and _may_hold(self.bounds.divisor, 0)

    @property
    def may_be_inverse(self) -> bool:
        """Whether a runtime may find that the dividend is the constant 1."""
        if self.bounds.dividend is not None:
            return bool(np.all(self.bounds.dividend == 1))
        guarded = self.bounds.divisor is None and self.may_be_zero  # The guard's node prevents the fusion.
        return "inverse" not in self.bounds.never and not guarded

    @property
    def may_overflow(self) -> bool:
        """Whether the division may be MIN/-1."""
        may_be_min = _may_hold(self.bounds.dividend, self.element_type.minimum)
        return "overflow" not in self.bounds.never and self.may_be_minus_one and may_be_min

    @property
    def may_be_minus_one(self) -> bool:
        """Whether a divisor may be -1."""
        return "minus one" not in self.bounds.never and self.is_signed and _may_hold(self.bounds.divisor, -1)

    @property
    def decisive(self) -> tuple[object, ...]:
        """A key of the rewrite: divisions with equal keys are rewritten alike."""
        may = (self.may_be_zero, self.may_be_minus_one, self.may_overflow, self.may_be_inverse)
        return (self.operator, self.opset, self.element_type, *may)


def _may_hold(values: Values, value: int) -> bool:
    return values is None or bool(np.any(values == value))


@dataclass(frozen=True, eq=False)
class Decision:
    """The decision about one node that computes a quotient or a remainder.

    - `name`, `path`: As in `vinculum.models.execution.Division`.
    - `operator`: Its operator version: ``"Div-14"``.
    - `facts`: None if the element type of its operands is not known.
    - `what`: How the node was rewritten; None if it is unchanged.
    - `why`: The risk, or the reason why there is none.
    - `note`: A property of the results on that runtime that a user may not expect.
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
        """Whether it was not hardened, although it may be a division of integers."""
        return self.facts is None

    @property
    def label(self) -> str:
        """The node's label in messages."""
        return division_label(self.name, self.operator, self.path)


@dataclass(frozen=True, eq=False)
class Hardening:
    """A model whose integer divisions and remainders cannot crash a runtime, except those listed in `left`.

    - `decisions`: One for every Div, Reciprocal, and Mod of integers.
    - `inlined`: How many of the model's functions were inlined, because the runtime may not support them or their calls
      differ in type.
    - `mended`: Whether integer divisions that an exporter wrote in floats were rewritten as integer divisions, whose
      quotients may differ.
    """

    model: ModelProto
    runtime: Runtime
    policies: Policies
    decisions: tuple[Decision, ...]
    inlined: int = 0
    mended: bool = False

    @property
    def left(self) -> tuple[Decision, ...]:
        """The nodes that may still crash the runtime."""
        return tuple(decision for decision in self.decisions if decision.left)


def promoted_type(element_type: ElementType, runtime: Runtime) -> ElementType:
    """Return the type in which a division is written; it holds every operand.

    OpenVINO's CPU device has no integers wider than int32, so all integer types use int32 there. On other runtimes
    integers of 8 and 16 bits are promoted to int32, because some operators have no kernels for them. uint32 is promoted
    to int64 for the same reason, and because remainders need a sign.
    """
    if runtime == "openvino" and element_type.is_integer:
        return INT32
    found = None if element_type in _WITH_KERNELS else promotion_among(element_type, _WITH_KERNELS)
    return found or element_type


def may_be_fused(facts: Facts, runtime: Runtime) -> bool:
    """Return whether ONNX Runtime may fuse 1/b*c to c/b. It does so with integers too, unless a node stands between."""
    fusible = facts.operator == "Div" and facts.element_type in (INT32, INT64)
    return runtime == "onnxruntime" and fusible and facts.may_be_inverse


_NOTES_OF_RANGE: dict[Runtime, str] = {
    "openvino": "OpenVINO's CPU device narrows it to int32: exact where operands and result lie within",
    "portable": "on OpenVINO exact where operands and result lie strictly within int32; elsewhere for all values",
}


def decided(undecided: Decision, facts: Facts, runtime: Runtime, policies: Policies) -> Decision:
    """Return the decision about a division, given its facts.

    ModelError if no rewrite makes the runtime compute the quotient; the message names the node and the reason.
    """
    if not facts.element_type.is_integer:
        what, why, note = _of_floats(facts, runtime)
        return replace(undecided, facts=facts, what=what, why=why, note=note)
    if runtime == "openvino":
        _check_width(undecided.label, facts, policies)
    risks = _risks(facts, runtime)
    if not risks:
        return replace(undecided, facts=facts, why=_harmless(facts))
    note = _NOTES_OF_RANGE.get(runtime) if facts.element_type.maximum > INT32.maximum else None
    return replace(undecided, facts=facts, what=_what(facts, runtime, policies), why="; ".join(risks), note=note)


def _of_floats(facts: Facts, runtime: Runtime) -> tuple[str | None, str, str | None]:
    """Return `what`, `why` and `note` of a decision."""
    harmless = "a division of floats cannot crash"
    if runtime == "openvino":
        precision = "in float32 by a product with 1/b" if facts.element_type is DOUBLE else "by a product with 1/b"
        cure = f"; these lines before compile_model make them exact: {'; '.join(EXACT_ON_OPENVINO)}"
        words = f"OpenVINO computes it {precision}; its quotients are not all correctly rounded"
        return None, harmless, words + (cure if facts.element_type in (FLOAT, FLOAT16) else "")
    if facts.element_type is BFLOAT16:
        return "in float, rounded back to bfloat16: the same bits", "ONNX Runtime has no kernel for bfloat16", None
    return None, harmless, "on OpenVINO its quotients are not all correctly rounded" if runtime == "portable" else None


def _risks(facts: Facts, runtime: Runtime) -> list[str]:
    # ONNX Runtime computes fmod=1 in floats and narrow types in int, so both are safe. OpenVINO crashes while folding.
    on_onnxruntime = runtime == "onnxruntime"
    traps = not on_onnxruntime or facts.element_type in (INT32, INT64)
    remainder_traps = facts.is_remainder and traps and not (on_onnxruntime and facts.operator == "Fmod")
    victim = "ONNX Runtime before 1.32" if on_onnxruntime else "the process"
    outcome = "kills the process" if traps else "ONNX does not define"
    through_double = on_onnxruntime and facts.operator == "Fmod" and facts.element_type.bits == 64
    folds = "" if facts.is_remainder else "floors where it folds constants and "
    risks = {
        "the divisor may be 0" if facts.bounds.divisor is None else "the constant divisor holds 0": facts.may_be_zero,
        f"it may be MIN mod -1, which kills {victim}": facts.may_overflow and remainder_traps,
        f"the quotient may be MIN/-1, which {outcome}": facts.may_overflow and not facts.is_remainder,
        "ONNX has no floor division of integers": facts.operator == "FloorDiv",
        "ONNX Runtime fuses 1/b*c to c/b, with integers too": may_be_fused(facts, runtime),
        "ONNX Runtime computes it in float64, wrong above 2^53": through_double,
        f"OpenVINO {folds}rounds through float32 at run time": runtime == "openvino",
        "runtimes differ in floor, truncation and precision": runtime == "portable",
    }
    return [risk for risk, is_there in risks.items() if is_there]


def _harmless(facts: Facts) -> str:
    never = ["no divisor is 0"]
    if facts.is_signed:
        if not facts.may_be_minus_one:
            never.append("no divisor is -1")
        else:
            never.append("MIN mod -1 is computed" if facts.may_overflow else "no dividend of -1 is MIN")
    proved = f": {facts.bounds}" if facts.bounds.divisor is None else ""
    return " and ".join(never) + proved


def _what(facts: Facts, runtime: Runtime, policies: Policies) -> str:
    direct = runtime == "onnxruntime"
    if facts.is_remainder:
        fmod = "the result of fmod=0, with the sign of the dividend" if facts.is_signed else "as fmod=0"
        parts = {
            "x mod 0 gives 0": facts.may_be_zero,
            "MIN mod -1 gives 0": facts.may_overflow,
            "the remainder of the exact quotient": not direct,
            fmod: direct and facts.operator == "Fmod",
        }
    else:
        saturated = "x/0 gives MIN, 0 or MAX by the sign of x" if facts.is_signed else "x/0 gives MAX, 0/0 gives 0"
        parts = {
            "x/0 gives 0" if policies.zero_divisor == "zero" else saturated: facts.may_be_zero,
            f"MIN/-1 gives {'MIN' if policies.overflow == 'wrap' else 'MAX'}": facts.may_overflow,
            "kept separate from a product that follows": may_be_fused(facts, runtime),
            "truncated exactly by the remainder": not direct,
            "floored exactly": facts.operator == "FloorDiv",
        }
    what = ", ".join(part for part, is_done in parts.items() if is_done)
    promoted = promoted_type(facts.element_type, runtime)
    return what if promoted is facts.element_type else f"{what}; in {promoted}"


def _check_width(label: str, facts: Facts, policies: Policies) -> None:
    name = facts.element_type
    if name.maximum <= INT32.maximum:
        return
    for operand, values in (("dividend", facts.bounds.dividend), ("divisor", facts.bounds.divisor)):
        outside = None if values is None else values[(values > INT32.maximum) | (values < INT32.minimum)]
        if outside is not None and outside.size:
            raise ModelError(
                f"{label}: the constant {operand} holds {outside[0]}, and OpenVINO's CPU device narrows {name} to "
                "int32; harden for onnxruntime, or divide smaller numbers"
            )
    if policies.zero_divisor == "saturate" and facts.may_be_zero and not facts.is_remainder:
        raise ModelError(
            f"{label}: x/0 cannot give {name.maximum} on OpenVINO's CPU device, which narrows {name} to int32; "
            "give --zero-divisor zero"
        )
