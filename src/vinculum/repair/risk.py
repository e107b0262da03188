"""Assessment of the risk of a division or remainder on a runtime."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vinculum.errors import ModelError
from vinculum.models.engines.openvino import EXACT_ON_OPENVINO
from vinculum.ops.policies import Policies
from vinculum.repair.decision import RUNTIMES, Facts, Runtime, Values
from vinculum.repair.guard_text import may_be_fused, promoted_type
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16, INT32, INT64


@dataclass(frozen=True)
class Assessment:
    """The rewrite that a division needs, and why."""

    what: str | None  # A description of the rewrite; None if none is needed.
    why: str  # The risk, or why there is none.
    note: str | None = None  # A property of the quotients on the runtime that a user may not expect.


def assess(facts: Facts, runtime: Runtime, policies: Policies) -> Assessment:
    """Return the assessment of a division on a runtime.

    ModelError if no rewrite makes the runtime compute the quotient; the message gives the reason.
    """
    if not facts.element_type.is_integer:
        return _of_floats(facts, runtime)
    if runtime == "openvino":
        _check_width(facts, policies)
    risks = _risks(facts, runtime)
    if not risks:
        return Assessment(None, _harmless(facts))
    return Assessment(_what(facts, runtime, policies), "; ".join(risks), _range_note(facts, runtime))


def _of_floats(facts: Facts, runtime: Runtime) -> Assessment:
    harmless = "a division of floats cannot crash"
    if runtime == "openvino":
        precision = "in float32 by a product with 1/b" if facts.element_type is DOUBLE else "by a product with 1/b"
        cure = f"; these lines before compile_model make them exact: {'; '.join(EXACT_ON_OPENVINO)}"
        words = f"OpenVINO computes it {precision}; its quotients are not all correctly rounded"
        return Assessment(None, harmless, words + (cure if facts.element_type in (FLOAT, FLOAT16) else ""))
    if facts.element_type is BFLOAT16:
        return Assessment(
            "in float, rounded back to bfloat16: the same bits", "ONNX Runtime has no kernel for bfloat16"
        )
    note = "on OpenVINO its quotients are not all correctly rounded" if runtime == "portable" else None
    return Assessment(None, harmless, note)


def _risks(facts: Facts, runtime: Runtime) -> list[str]:
    risks = []
    if facts.may_be_zero:
        risks.append("the divisor may be 0" if facts.divisor is None else "the constant divisor holds 0")
    if facts.may_overflow and facts.is_remainder:
        # ONNX Runtime computes fmod=1 in floats and narrow types in int: both are safe. OpenVINO crashes when it folds.
        kills = runtime != "onnxruntime" or (facts.operator == "Mod" and facts.element_type in (INT32, INT64))
        risks += ["it may be MIN mod -1, which kills the process"] if kills else []
    elif facts.may_overflow:
        risks.append("the quotient may be MIN/-1, which kills the process")
    if facts.operator == "FloorDiv":
        risks.append("ONNX has no floor division of integers")
    if may_be_fused(facts, runtime):
        risks.append("ONNX Runtime fuses 1/b*c to c/b, with integers too")
    if runtime == "onnxruntime":
        through_double = facts.operator == "Fmod" and facts.element_type.bits == 64
        return [*risks, "ONNX Runtime computes it in float64, wrong above 2^53"] if through_double else risks
    if runtime == "openvino":
        folds = "" if facts.is_remainder else "floors where it folds constants and "
        return [*risks, f"OpenVINO {folds}rounds through float32 at run time"]
    return [*risks, "runtimes differ in floor, truncation and precision"]


def _harmless(facts: Facts) -> str:
    never = ["no divisor is 0"]
    if facts.is_signed:
        if not facts.may_be_minus_one:
            never.append("no divisor is -1")
        else:
            never.append("MIN mod -1 is computed" if facts.may_overflow else "no dividend of -1 is MIN")
    proved = f": {facts.bounds}" if facts.divisor is None else ""
    return " and ".join(never) + proved


def _what(facts: Facts, runtime: Runtime, policies: Policies) -> str:
    promoted = promoted_type(facts.element_type, runtime)
    parts = list(_parts_of_remainder(facts, runtime) if facts.is_remainder else _parts(facts, runtime, policies))
    return ", ".join(parts) + ("" if promoted is facts.element_type else f"; in {promoted}")


def _parts(facts: Facts, runtime: Runtime, policies: Policies) -> Iterator[str]:
    if facts.may_be_zero and policies.zero_divisor == "zero":
        yield "x/0 gives 0"
    elif facts.may_be_zero:
        yield "x/0 gives MIN, 0 or MAX by the sign of x" if facts.is_signed else "x/0 gives MAX, 0/0 gives 0"
    if facts.may_overflow:
        yield f"MIN/-1 gives {'MIN' if policies.overflow == 'wrap' else 'MAX'}"
    if may_be_fused(facts, runtime):
        yield "kept separate from a product that follows"
    if runtime != "onnxruntime":
        yield "truncated exactly by the remainder"
    if facts.operator == "FloorDiv":
        yield "floored exactly"


def _parts_of_remainder(facts: Facts, runtime: Runtime) -> Iterator[str]:
    if facts.may_be_zero:
        yield "x mod 0 gives 0"
    if facts.may_overflow:
        yield "MIN mod -1 gives 0"
    if runtime != "onnxruntime":
        yield "the remainder of the exact quotient"
    elif facts.operator == "Fmod":
        yield "the result of fmod=0, with the sign of the dividend" if facts.is_signed else "as fmod=0"


def _range_note(facts: Facts, runtime: Runtime) -> str | None:
    beyond = facts.element_type.maximum > INT32.maximum
    if runtime == "openvino" and beyond:
        return "OpenVINO's CPU device narrows it to int32: exact where operands and result lie within"
    if runtime == "portable" and beyond:
        return "on OpenVINO exact where operands and result lie strictly within int32; elsewhere for all values"
    return None


def _check_width(facts: Facts, policies: Policies) -> None:
    if facts.element_type.maximum <= INT32.maximum:
        return
    name = facts.element_type
    for operand, values in (("dividend", facts.dividend), ("divisor", facts.divisor)):
        outside = _outside_int32(values)
        if outside is not None:
            raise ModelError(
                f"the constant {operand} holds {outside}, and {RUNTIMES['openvino']}'s CPU device narrows {name} to "
                "int32; harden for onnxruntime, or divide smaller numbers"
            )
    if policies.zero_divisor == "saturate" and facts.may_be_zero and not facts.is_remainder:
        raise ModelError(
            f"x/0 cannot give {name.maximum} on {RUNTIMES['openvino']}'s CPU device, which narrows {name} to int32; "
            "give --zero-divisor zero"
        )


def _outside_int32(values: Values) -> int | None:
    if values is None:
        return None
    found = values[(values > INT32.maximum) | (values < INT32.minimum)]
    return int(found[0]) if found.size else None
