"""The probes of the operators' rules: rounding attributes, axes, what must be refused, empty tensors, versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.fingerprint.asking import KILLED, Asked, Asker, quotients
from vinculum.conformance.fingerprint.finding import Finding, Standing
from vinculum.conformance.fingerprint.integer_models import IntegerModel, Rounding
from vinculum.conformance.fingerprint.telling import ROUNDINGS, without_quotients
from vinculum.conformance.generators.deliveries import Delivery
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import INT32, INT64, ElementType
from vinculum.spec.model import AttributeValue, OperatorSpec
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7, DIV_13, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.tensors.storage import dtype_of
from vinculum.text import shape_text

Array = NDArray[Any]
Attributes = Mapping[str, AttributeValue]

_PAIRS = ((-11, 3), (11, -3), (7, 2), (-7, 2), (5, 2), (5, -2), (-1, 2), (8, 3), (-8, -3))
_ROUNDED = {"truncation": False, "floor": True}
_MANNERS = {Delivery.RUN_TIME: "at run time", Delivery.CONSTANTS: "when folded"}
_VERSIONS = (DIV_1, DIV_6, DIV_7, DIV_13, DIV_14, RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13)
_AXES: tuple[tuple[str, OperatorSpec, Attributes], ...] = (
    ("Div-6", DIV_6, {"broadcast": 1, "axis": 0}),
    ("pdpd", DIVIDE_1, {"auto_broadcast": "pdpd", "axis": 0}),
)
_ILLEGAL: tuple[tuple[str, OperatorSpec, Attributes, Array, Array], ...] = (
    ("float by double", DIV_14, {}, np.ones(2, np.float32), np.ones(2, np.float64)),
    ("int64 by int32", DIV_14, {}, np.ones(2, np.int64), np.ones(2, np.int32)),
    ("int32 by float", DIVIDE_1, {}, np.ones(2, np.int32), np.ones(2, np.float32)),
    ("(2, 3) by (2,)", DIV_14, {}, np.ones((2, 3), np.float32), np.ones(2, np.float32)),
    ("Div-6 of (2, 3) by (3,), broadcast=0", DIV_6, {}, np.ones((2, 3), np.float32), np.ones(3, np.float32)),
    ("Div-6 of (1, 3) by (2, 3)", DIV_6, {"broadcast": 1}, np.ones((1, 3), np.float32), np.ones((2, 3), np.float32)),
    ("auto_broadcast=none of (2, 3) by (3,)", DIVIDE_1, {"auto_broadcast": "none"}, np.ones((2, 3)), np.ones(3)),
)


def rounding_attributes(asker: Asker) -> Iterator[Finding]:
    """Ask for truncation and floor by OpenVINO's attribute, at run time and folded, and return what is done."""
    asking: dict[tuple[ElementType, str], dict[str, Future[Answer | None]]] = {}
    for element_type in (INT64, INT32):
        operands = np.array(_PAIRS, dtype_of(element_type)).T.copy()
        for asked, value in _ROUNDED.items():
            asking[element_type, asked] = {
                manner: asker.ask(DIVIDE_1, {"m_pythondiv": value}, *operands, delivery=delivery)
                for delivery, manner in _MANNERS.items()
            }
    return (finding for key, manners in asking.items() for finding in _rounding_attribute(*key, manners))


def _rounding_attribute(
    element_type: ElementType, asked: str, manners: Mapping[str, Future[Answer | None]]
) -> Iterator[Finding]:
    probe, subject = "rounding attribute", str(element_type)
    wanted = ROUNDINGS[DIVIDE_1.rounding({"m_pythondiv": _ROUNDED[asked]})]
    words, evidence = [], ""
    for manner, one in manners.items():
        answer = one.result()
        if answer is None or answer.end is End.UNSUPPORTED:
            continue
        did, equation = _rounding(answer, element_type)
        words.append(f"honoured {manner}" if did == wanted.value else f"ignored {manner} ({did})")
        evidence = evidence or ("" if did == wanted.value else equation)
    if evidence:
        yield Finding(probe, subject, f"{asked} {', '.join(words)}", Standing.DEVIATES, evidence=evidence)
    elif words:
        yield Finding(probe, subject, "honoured", Standing.AS_SPECIFIED)


def _rounding(answer: Answer, element_type: ElementType) -> tuple[str, str]:
    """Return how an answer rounds, and an equation that shows it."""
    a, b = np.array(_PAIRS, dtype_of(element_type)).T.copy()
    given = quotients(answer, a)
    if given is None:
        return without_quotients("", "", answer).statement, answer.words or "-11 / 3"
    equation = f"-11 / 3 = {given[0]}, 11 / -3 = {given[1]}, 5 / 2 = {given[4]}"
    for rounding in Rounding:
        if np.array_equal(IntegerModel(element_type, rounding).quotients(a, b), given):
            return rounding.value, equation
    return "by no known rule", equation


def axes(asker: Asker) -> Iterator[Finding]:
    """Ask for divisors laid where an axis says, and return where they are laid."""
    a, b = np.array([[8, 12], [20, 28]], np.float32), np.array([2, 4], np.float32)
    asking = [(subject, asker.ask(spec, attributes, a, b)) for subject, spec, attributes in _AXES]
    rules = {"honoured": a / b[:, None], "ignored: the divisor is laid along the last dimension": a / b}
    return (
        _laid(subject, answer, rules)
        for subject, one in asking
        if (answer := one.result()) is not None and answer.end is not End.UNSUPPORTED
    )


def _laid(subject: str, answer: Answer, rules: Mapping[str, Array]) -> Finding:
    given = quotients(answer, rules["honoured"])
    if given is None:
        return without_quotients("axis", subject, answer)
    statement = next((rule for rule, right in rules.items() if np.array_equal(given, right)), "wrong quotients")
    if statement == "honoured":
        return Finding("axis", subject, statement, Standing.AS_SPECIFIED)
    evidence = f"[[8, 12], [20, 28]] by [2, 4], axis=0, gives {given.tolist()}"
    return Finding("axis", subject, statement, Standing.DEVIATES, evidence=evidence)


def illegal_operands(asker: Asker) -> Iterator[Finding]:
    """Ask for operands of two element types, or of shapes that do not fit, and return whether they are refused."""
    asking = [(subject, asker.ask(spec, attributes, a, b)) for subject, spec, attributes, a, b in _ILLEGAL]
    return (_refused(subject, answer) for subject, one in asking if (answer := one.result()) is not None)


def _refused(subject: str, answer: Answer) -> Finding:
    if answer.end in KILLED:
        return without_quotients("illegal operands", subject, answer)
    if answer.end is End.RETURNED:
        value = answer.value
        given = f"{value.dtype} of shape {shape_text(value.shape)}" if isinstance(value, np.ndarray) else "no array"
        return Finding("illegal operands", subject, "accepted", Standing.DEVIATES, evidence=f"gives {given}")
    return Finding("illegal operands", subject, "refused", Standing.AS_SPECIFIED, evidence=answer.words)


def empty_tensors(asker: Asker) -> Iterator[Finding]:
    """Ask for quotients of empty tensors, whatever the divisor, and return whether they are given."""
    operands: dict[str, tuple[Array, Array]] = {
        "(0, 3) by ones": (np.ones((0, 3), np.float32), np.ones((1, 3), np.float32)),
        "(0,) by a zero": (np.ones(0, np.int64), np.zeros(1, np.int64)),
    }
    asking = [(subject, asker.divide(*pair)) for subject, pair in operands.items()]
    return (_empty(subject, asked) for subject, one in asking if (asked := one.result()) is not None)


def _empty(subject: str, asked: Asked) -> Finding:
    if asked.quotients is None:
        return without_quotients("empty tensors", subject, asked.answer)
    return Finding("empty tensors", subject, "divided", Standing.AS_SPECIFIED)


def versions(asker: Asker) -> Iterator[Finding]:
    """Ask every operator version of ONNX once, and return which are there; nothing where there is one version only."""
    x = np.array([1, 2], np.float32)
    asking = {spec.title: asker.ask(spec, {}, *[x] * len(spec.inputs)) for spec in _VERSIONS}
    return _versions(asking)


def _versions(asking: Mapping[str, Future[Answer | None]]) -> Iterator[Finding]:
    answers = {title: one.result() for title, one in asking.items()}
    if None in answers.values():
        return
    for title, answer in answers.items():
        if answer is not None and answer.end is End.RETURNED:
            yield Finding("operator versions", title, "supported", Standing.AS_SPECIFIED)
        elif answer is not None:
            yield without_quotients("operator versions", title, answer)
