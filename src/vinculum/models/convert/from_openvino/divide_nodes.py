"""The layer Divide of operation set 1 in ONNX operators, with the same quotients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from vinculum.errors import ModelError
from vinculum.models.convert.change import Change, Reason
from vinculum.models.convert.from_openvino.floor import floored
from vinculum.models.convert.opset.operands import Operand
from vinculum.models.onnx.promoted_types import Promotion, promotion
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.openvino_ir.program import DivideStep
from vinculum.spec.element_types import ElementType, Kind
from vinculum.spec.model import Broadcasting, OperatorSpec
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.registry import find


def divide_nodes(
    step: DivideStep, operands: tuple[Operand, Operand], opset: int, rewriter: Rewriter
) -> tuple[str, list[Change]]:
    """Return the name of a Divide's quotient, and what was changed.

    - `operands`: the dividend and the divisor. They may be changed.
    - `opset`: the operator set to write in, from 7 on.

    ModelError if it is not representable there; the line names the layer and the reason.

    A carried type keeps the quotients, MIN/-1 as it wraps, and 0 for a zero divisor if that is the policy; what other
    policies give are then the ends of the carrying type, cast back.
    """
    division = _Division(step, operands, opset, rewriter)
    label = step.division.label
    try:
        reasons = list(division.prepare())
    except ValueError as error:
        raise ModelError(f"{label} is not representable in operator set {opset}: {error}") from None
    quotient = division.write()
    return quotient, [Change(label, *reason) for reason in reasons]


class _Division:
    def __init__(self, step: DivideStep, operands: tuple[Operand, Operand], opset: int, rewriter: Rewriter) -> None:
        # The reader of IR knows the type of every value.
        self._type = cast("ElementType", step.division.element_type)
        self._step, self._opset, self._rewriter = step, opset, rewriter
        self._a, self._b = operands
        self._target: OperatorSpec = find("Div", opset=opset)
        self._promotion: Promotion | None = None
        floors = step.attributes.get("m_pythondiv", True)
        self._floors = bool(floors) and self._type.kind is Kind.SIGNED

    def prepare(self) -> Iterator[Reason]:
        """Bring the operands to what Div takes; ValueError with the reason if that cannot be."""
        if self._type not in self._target.element_types:
            self._promotion = promotion(self._type, self._target, self._opset)
            for operand in (self._a, self._b):
                operand.cast(self._promotion.element_type, self._rewriter)
            yield self._promotion.reason(self._target)
        if DIVIDE_1.broadcasting_rule(self._step.attributes) is Broadcasting.PDPD:
            yield from self._place_divisor()
        if self._floors:
            yield "Div, and its quotient lowered by 1 where that is not the floor", "ONNX Div truncates"

    def write(self) -> str:
        """Write the division and what follows it, and return its quotient."""
        a, b = self._a.emit(self._rewriter), self._b.emit(self._rewriter)
        quotient = self._rewriter.add("Div", [a, b], "quotient")
        if self._floors:
            element_type = self._type if self._promotion is None else self._promotion.element_type
            quotient = floored(self._rewriter, element_type, (a, b), quotient)
        for back in () if self._promotion is None else self._promotion.back:
            quotient = self._cast_back(quotient, back)
        return quotient

    def _cast_back(self, quotient: str, element_type: ElementType) -> str:
        if element_type.kind is Kind.FLOAT and element_type.bits == 8:
            # Beyond the largest number Divide gives an infinity or NaN.
            code = element_type.onnx_code
            return self._rewriter.add("Cast", [quotient], "back", to=code, saturate=0)
        return self._rewriter.cast(quotient, element_type, "back")

    def _place_divisor(self) -> Iterator[Reason]:
        """Give the divisor the dimensions of size 1 with which NumPy's rule lays it where pdpd does."""
        given, shape_a, shape_b = self._step.attributes.get("axis", -1), self._a.shape, self._b.shape
        why = "pdpd aligns b with a at an axis; ONNX aligns shapes at their ends"
        if shape_b is not None and all(size == 1 for size in shape_b):
            if shape_b:
                self._b.drop_ones(range(len(shape_b)), self._rewriter)
                yield "b made a scalar", why
            return
        if shape_a is None or shape_b is None:
            raise ValueError("auto_broadcast=pdpd needs the ranks of a and b; the file lacks one")
        start = len(shape_a) - len(shape_b) if given == -1 or not isinstance(given, int) else given
        # What lies beyond a has to be of size 1; b of a higher rank than a can only be one element.
        room = max(0, len(shape_a) - start) if start >= 0 else 0
        if room < len(shape_b):
            self._b.drop_ones(range(room, len(shape_b)), self._rewriter)
            yield f"the last {len(shape_b) - room} dimensions of b, of size 1, dropped", why
        elif room > len(shape_b):
            self._b.append_ones(room - len(shape_b), self._rewriter)
            yield f"b given {room - len(shape_b)} dimensions of size 1 at its end", why
