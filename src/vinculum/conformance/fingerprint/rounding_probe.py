"""The probe of integer rounding: whether what the operator or its attribute says is done, at run time and folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.fingerprint.arithmetic_probes import ROUNDINGS, no_quotient
from vinculum.conformance.fingerprint.asking import Asker
from vinculum.conformance.fingerprint.finding import Finding, Told, merged
from vinculum.conformance.fingerprint.integer_models import IntegerModel, Rounding
from vinculum.conformance.generators.deliveries import Delivery
from vinculum.models.isolation import Answer, End
from vinculum.spec.element_types import INT8, INT32, INT64, ElementType
from vinculum.spec.model import AttributeValue, OperatorSpec
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]

_PAIRS = ((-11, 3), (11, -3), (7, 2), (-7, 2), (5, 2), (5, -2), (-1, 2), (8, 3), (-8, -3))
_ASKED: tuple[tuple[str, OperatorSpec, Mapping[str, AttributeValue]], ...] = (
    ("integer division", DIV_14, {}),
    ("truncating division", DIVIDE_1, {"m_pythondiv": False}),
    ("floor division", DIVIDE_1, {"m_pythondiv": True}),
)
_ATTRIBUTES = {
    "integer division": "",
    "truncating division": "truncation attribute",
    "floor division": "floor attribute",
}
_MANNERS = {Delivery.RUN_TIME: "at run time", Delivery.CONSTANTS: "when folded"}


def roundings(asker: Asker) -> Iterator[Finding]:
    """Yield how integer quotients are rounded, by the operator and by what its attribute asks for."""
    for probe, spec, attributes in _ASKED:
        wanted = ROUNDINGS[spec.rounding(attributes)]
        told: dict[ElementType, Told] = {}
        for element_type in (INT64, INT32, INT8):
            a, b = np.array(_PAIRS, dtype_of(element_type)).T.copy()
            seen: dict[str, Rounding | Told] = {}
            for delivery, manner in _MANNERS.items():
                answer = asker.ask(spec, attributes, a, b, delivery=delivery)
                if answer is not None and answer.end is not End.UNSUPPORTED:
                    seen[manner] = _rounding(answer, a, b, element_type)
            if seen:
                told[element_type] = _told(seen, wanted, _ATTRIBUTES[probe])
        if told:
            yield merged(probe, told)


def _rounding(answer: Answer, a: Array, b: Array, element_type: ElementType) -> Rounding | Told:
    quotients = answer.value
    if not isinstance(quotients, np.ndarray) or (quotients.dtype, quotients.shape) != (a.dtype, a.shape):
        return no_quotient(answer)
    for rounding in Rounding:
        if np.array_equal(IntegerModel(element_type, rounding).quotients(a, b), quotients):
            return rounding
    return Told("by no known rule", True, f"-11 / 3 = {quotients[0]}, 7 / 2 = {quotients[2]}, 8 / 3 = {quotients[7]}")


def _told(seen: Mapping[str, Rounding | Told], wanted: Rounding, attribute: str) -> Told:
    """Return what is said of an element type; `attribute` is what chooses the rounding, empty if the operator does."""
    if all(rounding is wanted for rounding in seen.values()):
        return Told(wanted.value)
    parts = [_words(rounding, wanted, manner, attribute) for manner, rounding in seen.items()]
    start = f"{attribute} " if attribute else ""
    return Told(f"{start}{', '.join(parts)}", True, _example(seen, wanted))


def _words(rounding: Rounding | Told, wanted: Rounding, manner: str, attribute: str) -> str:
    if isinstance(rounding, Told):
        return f"{rounding.statement} {manner}"
    if not attribute:
        return f"{rounding.value} {manner}"
    return f"honoured {manner}" if rounding is wanted else f"ignored {manner} ({rounding.value})"


def _example(seen: Mapping[str, Rounding | Told], wanted: Rounding) -> str:
    a, b = np.array(_PAIRS).T
    for rounding in seen.values():
        if isinstance(rounding, Told):
            return rounding.evidence
        one, other = (IntegerModel(INT64, r).quotients(a, b) for r in (rounding, wanted))
        for x, y, q, e in zip(a, b, one, other, strict=True):
            if q != e:
                return f"{x} / {y} = {q}, not {e}"
    return ""
