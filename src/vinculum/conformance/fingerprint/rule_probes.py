"""The probes of the operators' rules: versions, axes, element types, shapes; and of Reciprocal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum import reference
from vinculum.conformance.fingerprint.arithmetic_probes import FLOATS, no_quotient, told_of_floats
from vinculum.conformance.fingerprint.asking import KILLED, Asked, Asker
from vinculum.conformance.fingerprint.finding import Finding, merged
from vinculum.conformance.fingerprint.operands import float_operands
from vinculum.models.isolation import Answer, End
from vinculum.spec.model import AttributeValue, IntegerRounding, OperatorSpec
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7, DIV_13, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1

Array = NDArray[Any]

_VERSIONS = (DIV_1, DIV_6, DIV_7, DIV_13, DIV_14, RECIPROCAL_1, RECIPROCAL_6, RECIPROCAL_13)


def versions(asker: Asker) -> Iterator[Finding]:
    """Yield which operator versions are there at all; nothing for a runtime that has one version only."""
    x = np.array([1, 2], np.float32)
    asked = {spec.title: asker.ask(spec, {}, *[x] * len(spec.inputs)) for spec in _VERSIONS}
    answers = {title: answer for title, answer in asked.items() if answer is not None}
    if len(answers) < len(_VERSIONS):
        return
    missing = [title for title, answer in answers.items() if answer.end is End.UNSUPPORTED]
    refused = [title for title, answer in answers.items() if answer.end not in (End.UNSUPPORTED, End.RETURNED)]
    parts = [f"{', '.join(missing)} not supported"] if missing else []
    parts += [f"{', '.join(refused)} refused"] if refused else []
    words = [answers[title].words for title in (*missing, *refused)]
    yield Finding("operator versions", "; ".join(parts) or "all are there", bool(refused), words[0] if words else "")


def axes(asker: Asker) -> Iterator[Finding]:
    """Yield whether the divisor is laid where `axis` says, in Div-6 and with OpenVINO's pdpd."""
    a, b = np.array([[8, 12], [20, 28]], np.float32), np.array([2, 4], np.float32)
    right, suffix = a / b[:, None], a / b
    asked: tuple[tuple[str, OperatorSpec, Mapping[str, AttributeValue]], ...] = (
        ("legacy axis", DIV_6, {"broadcast": 1, "axis": 0}),
        ("pdpd axis", DIVIDE_1, {"auto_broadcast": "pdpd", "axis": 0}),
    )
    for probe, spec, attributes in asked:
        answer = asker.ask(spec, attributes, a, b)
        if answer is None or answer.end is End.UNSUPPORTED:
            continue
        rules = {"honoured": right, "ignored: the divisor is laid along the last dimension": suffix}
        yield _told_of_values(probe, answer, rules, "honoured")


def mixed_types(asker: Asker) -> Iterator[Finding]:
    """Yield whether operands of two element types are refused, as they must be."""
    pairs = (
        (np.ones(2, np.float32), np.full(2, 2, np.float64)),
        (np.full(2, 7, np.int64), np.full(2, 2, np.int32)),
        (np.full(2, 7, np.int32), np.full(2, 2, np.float32)),
    )
    accepted, killed = [], []
    answers = [(a, b, asker.ask(spec, {}, a, b)) for a, b in pairs for spec in (DIV_14, DIVIDE_1)]
    for a, b, answer in answers:
        if answer is not None and answer.end is End.RETURNED:
            accepted.append(
                f"{a.dtype} / {b.dtype} gives {getattr(answer.value, 'dtype', type(answer.value).__name__)}"
            )
        elif answer is not None and answer.end in KILLED:
            killed.append(f"{a.dtype} / {b.dtype} kills the process: {answer.words}")
    if accepted or killed:
        found = [*dict.fromkeys((*killed, *accepted))]
        yield Finding("mixed element types", "accepted" if accepted else "not refused", True, "; ".join(found))
    elif any(answer is not None for *_, answer in answers):
        yield Finding("mixed element types", "refused", False)


def broadcasting(asker: Asker) -> Iterator[Finding]:
    """Yield whether shapes that the rule does not join are refused, as they must be."""
    asked: tuple[tuple[str, OperatorSpec, Mapping[str, AttributeValue], tuple[int, ...], tuple[int, ...]], ...] = (
        ("Div-14 of (2, 3) by (2,)", DIV_14, {}, (2, 3), (2,)),
        ("Div-14 of (2, 3) by (2, 2)", DIV_14, {}, (2, 3), (2, 2)),
        ("Div-6 with broadcast=0 of (2, 3) by (3,)", DIV_6, {}, (2, 3), (3,)),
        ("Div-6 with broadcast=1 of (1, 3) by (2, 3)", DIV_6, {"broadcast": 1}, (1, 3), (2, 3)),
        ("auto_broadcast=none of (2, 3) by (3,)", DIVIDE_1, {"auto_broadcast": "none"}, (2, 3), (3,)),
    )
    accepted, killed, answers = [], [], 0
    for words, spec, attributes, *shapes in asked:
        answer = asker.ask(spec, attributes, *(np.ones(shape, np.float32) for shape in shapes))
        answers += answer is not None
        if answer is not None and answer.end is End.RETURNED:
            accepted.append(words)
        elif answer is not None and answer.end in KILLED:
            killed.append(f"{words} kills the process: {answer.words}")
    if accepted or killed:
        yield Finding(
            "shapes beyond the rule", "accepted" if accepted else "not refused", True, "; ".join((*killed, *accepted))
        )
    elif answers:
        yield Finding("shapes beyond the rule", "refused", False)


def empty_tensors(asker: Asker) -> Iterator[Finding]:
    """Yield whether empty tensors are divided, whatever the divisor."""
    told = []
    for a, b in (
        (np.ones((0, 3), np.float32), np.ones((1, 3), np.float32)),
        (np.ones(0, np.int64), np.zeros(1, np.int64)),
    ):
        outcome = asker.divide(a, b)
        if outcome is None or outcome[0].end is End.UNSUPPORTED:
            continue
        answer = outcome[0]
        fits = isinstance(answer.value, np.ndarray) and answer.value.shape == a.shape
        if not fits:
            wrong = no_quotient(answer)
            told.append(f"{a.dtype}{list(a.shape)} by {'a zero' if not b.any() else 'ones'}: {wrong.statement}")
    if told:
        yield Finding("empty tensors", "; ".join(told), True)
    else:
        yield Finding("empty tensors", "divided", False)


def reciprocals(asker: Asker) -> Iterator[Finding]:
    """Yield how the reciprocal is computed, of each floating-point type."""
    told = {}
    for element_type in FLOATS:
        _, x = float_operands(element_type)
        answer = asker.ask(RECIPROCAL_13, {}, x)
        if answer is not None:
            ones, right = np.ones_like(x), reference.reciprocal(x, element_type)
            told[element_type] = told_of_floats(Asked(element_type, ones, x, IntegerRounding.FLOOR, right, answer))
    if told:
        yield merged("Reciprocal", told)


def _told_of_values(probe: str, answer: Answer, rules: Mapping[str, Array], right: str) -> Finding:
    value = answer.value
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        told = no_quotient(answer)
        return Finding(probe, told.statement, told.is_deviation, told.evidence)
    example = f"gives {value.tolist()}, not {rules[right].tolist()}"
    for statement, values in rules.items():
        if np.array_equal(values, value):
            return Finding(
                probe, statement, statement != right, "" if statement == right else f"gives {value.tolist()}"
            )
    return Finding(probe, "wrong quotients", True, example)
