"""The layers Divide, Convert, Unsqueeze, Squeeze and Reshape of operation set 1, written as ONNX nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.defs import SchemaError, get_schema, onnx_opset_version

from vinculum.errors import ModelError
from vinculum.models.convert.change import Change, Reason
from vinculum.models.convert.opset.operands import Operand
from vinculum.models.onnx.promoted_types import promotion
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.openvino_ir.layers import normalised
from vinculum.models.openvino_ir.program import ConvertStep, DivideStep, ReshapeStep
from vinculum.models.openvino_ir.types import TensorType
from vinculum.spec.element_types import FLOAT, INT64, ElementType, Kind
from vinculum.spec.model import AttributeValue, Broadcasting
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.registry import find
from vinculum.tensors.storage import dtype_of
from vinculum.text import quoted

_ALLOWZERO_SINCE = 14


def divide_nodes(
    step: DivideStep, operands: tuple[Operand, Operand], opset: int, rewriter: Rewriter
) -> tuple[str, list[Change]]:
    """Return the name of a Divide's quotient, and what was changed.

    - `operands`: the dividend and the divisor. They may be changed.
    - `opset`: the operator set to write, from 7 on.

    ModelError if the layer is not representable in it; the message names the layer and the reason.

    A promoted type preserves the quotients, MIN/-1 as it wraps, and 0 for a zero divisor if that is the policy. Other
    policies then give the limits of the promoted type, cast back.
    """
    a, b = operands
    # The reader of IR knows the type of every value.
    own, target, label = cast("ElementType", step.division.element_type), find("Div", opset=opset), step.division.label
    divided, back, reasons = own, tuple[ElementType, ...](), list[Reason]()
    try:
        if own not in target.element_types:
            promoted = promotion(own, target, opset)
            divided, back = promoted.element_type, promoted.back
            for operand in operands:
                operand.cast(divided, rewriter)
            reasons.append(promoted.reason(target))
        if DIVIDE_1.broadcasting_rule(step.attributes) is Broadcasting.PDPD:
            reasons += _align_divisor(a, b, step.attributes.get("axis", -1), rewriter)
    except ValueError as error:
        raise ModelError(f"{label} is not representable in operator set {opset}: {error}") from None
    names = a.emit(rewriter), b.emit(rewriter)
    quotient = rewriter.add("Div", names, "quotient")
    if step.attributes.get("m_pythondiv", True) and own.kind is Kind.SIGNED:
        quotient = floored(rewriter, divided, names, quotient)
        reasons.append(("Div, and its quotient lowered by 1 where that is not the floor", "ONNX Div truncates"))
    for element_type in back:
        quotient = _cast(quotient, element_type, rewriter, "back")
    return quotient, [Change(label, *reason) for reason in reasons]


def _cast(value: str, element_type: ElementType, rewriter: Rewriter, hint: str) -> str:
    """Return a value cast to another type; beyond the largest 8-bit float the result is an infinity or NaN."""
    if element_type.kind is Kind.FLOAT and element_type.bits == 8:
        return rewriter.add("Cast", [value], hint, to=element_type.onnx_code, saturate=0)
    return rewriter.cast(value, element_type, hint)


def _align_divisor(a: Operand, b: Operand, axis: AttributeValue, rewriter: Rewriter) -> Iterator[Reason]:
    """Give the divisor the dimensions of size 1 with which NumPy's rule aligns it as pdpd does."""
    why = "pdpd aligns b with a at an axis; ONNX aligns shapes at their ends"
    if b.shape is not None and all(size == 1 for size in b.shape):
        if b.shape:
            b.drop_ones(range(len(b.shape)), rewriter)
            yield "b made a scalar", why
        return
    if a.shape is None or b.shape is None:
        raise ValueError("auto_broadcast=pdpd needs the ranks of a and b; the file lacks one")
    rank = len(b.shape)
    start = len(a.shape) - rank if axis == -1 or not isinstance(axis, int) else axis
    # Dimensions of b beyond those of a have size 1; b of a higher rank than a can only be one element.
    room = max(0, len(a.shape) - start) if start >= 0 else 0
    if room < rank:
        b.drop_ones(range(room, rank), rewriter)
        yield f"the last {rank - room} dimensions of b, of size 1, dropped", why
    elif room > rank:
        b.append_ones(room - rank, rewriter)
        yield f"b given {room - rank} dimensions of size 1 at its end", why


def floored(rewriter: Rewriter, element_type: ElementType, operands: tuple[str, str], quotient: str) -> str:
    """Return the name of the floor of a/b, computed from the truncated quotient.

    With q = a/b truncated and r = a - q*b, which is 0 or has the sign of a, the floor is q - 1 where r is not 0 and its
    sign differs from b's, else q. Only MIN/-1 overflows: there q and q*b wrap to MIN, r is 0, and q is kept. A zero
    divisor has no sign, so the policy's value in q is kept too. An unsigned quotient is its own floor.

    The signs differ where r*b < 0. Converted to floats, r and b are not rounded to 0 and keep their signs, and their
    product is at most 2**126. (The operator Sign would do from operator set 9 on, but ONNX Runtime 1.31 returns the
    sign of the low 32 bits.)

    - `rewriter`: collects the nodes; of an operator set from 7 on.
    - `element_type`: a signed integer type that Div takes in that operator set.
    - `operands`: the dividend and the divisor.
    - `quotient`: the result of Div.
    """
    dividend, divisor = operands
    product = rewriter.add("Mul", [quotient, divisor], "multiple")
    remainder = rewriter.add("Sub", [dividend, product], "remainder")
    signed = [rewriter.cast(remainder, FLOAT, "remainder_float"), rewriter.cast(divisor, FLOAT, "divisor_float")]
    zero = rewriter.constant(np.zeros((), np.float32), "zero")
    below = rewriter.add("Less", [rewriter.add("Mul", signed, "signs"), zero], "below")
    return rewriter.add("Sub", [quotient, rewriter.cast(below, element_type, "correction")], "floor")


def convert_nodes(
    step: ConvertStep, value: str, known: TensorType, opset: int, rewriter: Rewriter
) -> tuple[str, list[Change]]:
    """Return the name of a Convert's result, and what was changed.

    ModelError if the operator set has no Cast between the types.
    """
    title = f"layer {quoted(step.name)} (Convert)"
    source, target = known.element_type, step.target
    if source == target:
        return _identity(value, known, title, opset, rewriter), []
    check_allowed("Cast", opset, source, title)
    check_allowed("Cast", opset, target, title)
    if isinstance(target, str):
        return rewriter.cast(value, TensorProto.BOOL, "converted"), []
    changes = []
    if target.is_integer and isinstance(source, ElementType) and source.kind is Kind.FLOAT:
        if target.bits == 4:
            value, change = _clipped(value, source, target, title, rewriter)
        else:
            why = f"neither format defines the result for floats beyond {target}; Vinculum saturates them"
            change = Change(title, f"Cast to {target}", why)
        changes.append(change)
    return _cast(value, target, rewriter, "converted"), changes


def _clipped(
    value: str, source: ElementType, target: ElementType, title: str, rewriter: Rewriter
) -> tuple[str, Change]:
    """Clip floats to the range of a 4-bit integer type, since Cast drops the high bits of values beyond it."""
    if source.bits == 8:
        value, source = rewriter.cast(value, FLOAT, "wide"), FLOAT
    dtype = dtype_of(source)
    limits = [rewriter.constant(np.array(n, dtype), f"limit_{n}") for n in (target.minimum, target.maximum)]
    why = f"ONNX drops high bits beyond {target}, a Convert saturates"
    return rewriter.add("Clip", [value, *limits], "clipped"), Change(title, f"clipped, and cast to {target}", why)


def reshape_nodes(
    step: ReshapeStep,
    operands: Sequence[str],
    known: Sequence[TensorType],
    numbers: NDArray[Any] | None,
    opset: int,
    rewriter: Rewriter,
) -> tuple[str, list[Change]]:
    """Return the name of the result of an Unsqueeze, Squeeze or Reshape, and what was changed.

    - `operands`: the value, and then the axes or the pattern, if there are any.
    - `known`: the types of the operands, as far as they are known.
    - `numbers`: the axes or the pattern, if they are constant.
    - `opset`: the operator set to write, from 7 on.

    ModelError if the layer is not representable in it.
    """
    title, kind = step.reshaping.title, step.reshaping.kind
    check_allowed(kind, opset, known[0].element_type, title)
    if kind == "Reshape":
        return _reshape(step, operands, known[1], numbers, opset, rewriter), []
    if len(operands) == 1:
        return rewriter.add("Squeeze", operands, "squeezed"), []
    if numbers is None:
        raise ModelError(f"{title} computes its axes; only constant axes are representable in ONNX")
    shape, axes = known[0].shape, [int(axis) for axis in numbers.reshape(-1)]
    if kind == "Unsqueeze":
        return rewriter.unsqueeze(operands[0], _unsqueezed_axes(axes, shape, title), "unsqueezed"), []
    if not axes:
        return rewriter.add("Squeeze", operands[:1], "squeezed"), []
    if shape is None:
        raise ModelError(
            f"{title} keeps listed dimensions that are not 1; to express that, ONNX needs the rank of its input"
        )
    places = set(normalised(axes, max(len(shape), 1)))
    dropped = [place for place, size in enumerate(shape) if place in places and size in (1, None)]
    if not dropped:
        return _identity(operands[0], known[0], title, opset, rewriter), []
    return rewriter.squeeze(operands[0], dropped, "squeezed"), []


def _unsqueezed_axes(axes: list[int], shape: Sequence[object] | None, title: str) -> list[int]:
    if shape is not None:
        return sorted(set(normalised(axes, len(shape) + len(set(axes)))))
    if min(axes) < 0:
        raise ModelError(f"{title} counts axes from the end of a shape whose rank is not known; count from the front")
    return sorted(set(axes))


def _reshape(
    step: ReshapeStep,
    operands: Sequence[str],
    pattern: TensorType,
    numbers: NDArray[Any] | None,
    opset: int,
    rewriter: Rewriter,
) -> str:
    title, zeros_are_sizes = step.reshaping.title, not step.reshaping.special_zero
    sizes = None if numbers is None else [int(size) for size in numbers.reshape(-1)]
    attributes = {}
    if zeros_are_sizes and (sizes is None or 0 in sizes):
        if opset < _ALLOWZERO_SINCE:
            raise ModelError(
                f"{title} has special_zero=false and sizes of 0, which Reshape can express from operator set "
                f"{_ALLOWZERO_SINCE} on"
            )
        attributes = {"allowzero": 1}
    if sizes is not None:
        shape = rewriter.constant(np.array(sizes, np.int64), "pattern")
    elif pattern.element_type == INT64:
        shape = operands[1]
    else:
        shape = rewriter.cast(operands[1], INT64, "pattern")
    return rewriter.add("Reshape", [operands[0], shape], "reshaped", **attributes)


def _identity(value: str, known: TensorType, title: str, opset: int, rewriter: Rewriter) -> str:
    check_allowed("Identity", opset, known.element_type, title)
    return rewriter.add("Identity", [value], "same")


def check_allowed(op_type: str, opset: int, element_type: ElementType | str, title: str) -> None:
    """Refuse an operator that the operator set lacks, or that does not take the element type there."""
    name = str(element_type)
    if _allows(op_type, opset, name):
        return
    later = next((n for n in range(opset + 1, onnx_opset_version() + 1) if _allows(op_type, n, name)), None)
    advice = "and no later one has it either" if later is None else f"give --opset {later} or later"
    raise ModelError(f"{title} needs {op_type} of {name}, which operator set {opset} does not have; {advice}")


@cache
def _allows(op_type: str, opset: int, name: str) -> bool:
    try:
        schema = get_schema(op_type, max_inclusive_version=opset, domain="")
    except SchemaError:
        return False
    # Checking the first input is enough: Cast takes and returns the same types.
    return f"tensor({name})" in schema.inputs[0].types
