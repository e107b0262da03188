"""The probes of what no specification settles, and of what may end the process: x / 0 and MIN / -1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.fingerprint.arithmetic_probes import Asking
from vinculum.conformance.fingerprint.asking import Asked, Asker
from vinculum.conformance.fingerprint.finding import Finding, Standing
from vinculum.conformance.fingerprint.telling import number, without_quotients
from vinculum.conformance.generators.deliveries import Delivery
from vinculum.sandbox import End
from vinculum.spec.element_types import INT8, INT16, INT32, INT64, UINT8, ElementType
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]

_MANNERS = {Delivery.RUN_TIME: "", Delivery.CONSTANTS: " of constants"}


def zero_divisors(asker: Asker) -> Iterator[Finding]:
    """Ask for integers divided by zero, and return what that gives."""
    return _edges("x / 0", (UINT8, INT32, INT64), 0, asker)


def minimum_by_minus_one(asker: Asker) -> Iterator[Finding]:
    """Ask for the smallest integer divided by -1, and return what that gives."""
    return _edges("MIN / -1", (INT8, INT16, INT32, INT64), -1, asker)


def _edges(probe: str, types: tuple[ElementType, ...], divisor: int, asker: Asker) -> Iterator[Finding]:
    asking: list[tuple[ElementType, Mapping[Delivery, Asking]]] = []
    for element_type in types:
        # A few elements more than a vector register holds, so that neither its code nor that of a rest is left out.
        least, most = element_type.minimum, element_type.maximum
        dividends = [most, 7, 0, -7] if divisor == 0 else [least]
        a = np.array([x for x in dividends if x >= least] * 5, dtype_of(element_type))
        b = np.full_like(a, divisor)
        asking.append((element_type, {delivery: asker.divide(a, b, delivery) for delivery in _MANNERS}))
    return (finding for element_type, both in asking for finding in _told(probe, element_type, both))


def _told(probe: str, element_type: ElementType, both: Mapping[Delivery, Asking]) -> Iterator[Finding]:
    """Yield what is done at run time, and what is done with constants if that is not the same."""
    told = ""
    for delivery, one in both.items():
        asked = one.result()
        if asked is None or asked.answer.end is End.UNSUPPORTED:
            continue
        found = _edge(f"{probe}{_MANNERS[delivery]}", asked)
        if found.statement != told:
            yield found
            told = told or found.statement


def _edge(probe: str, asked: Asked) -> Finding:
    subject = str(asked.element_type)
    example = f"{number(asked.a[0])} / {number(asked.b[0])}"
    if asked.answer.end is End.REFUSED:
        return Finding(probe, subject, "refused", Standing.LEFT_OPEN, evidence=asked.answer.words)
    given = asked.quotients
    if given is None:
        found = without_quotients(probe, subject, asked.answer)
        return Finding(probe, subject, found.statement, found.standing, found.detail, example)
    equations = (f"{number(x)} / {number(asked.b[0])} = {number(q)}" for x, q in zip(asked.a, given, strict=True))
    statement = _rule(given, asked.a, asked.element_type) or "gives what differs from element to element"
    return Finding(probe, subject, statement, Standing.LEFT_OPEN, evidence=", ".join(dict.fromkeys(equations)))


def _rule(quotients: Array, a: Array, element_type: ElementType) -> str | None:
    """Return the rule that every quotient follows, None if it is none of these."""
    least, most = element_type.minimum, element_type.maximum
    rules = {
        "0": np.zeros_like(a),
        "MIN": np.full_like(a, least),
        "MAX": np.full_like(a, most),
        "-1": np.full_like(a, -1 if least else most),
        "the dividend": a,
        "MIN or MAX by the dividend's sign": np.where(a > 0, most, np.where(a < 0, least, 0)).astype(a.dtype),
    }
    rules[number(quotients[0])] = np.full_like(a, quotients[0])
    return next((f"gives {rule}" for rule, values in rules.items() if np.array_equal(values, quotients)), None)
