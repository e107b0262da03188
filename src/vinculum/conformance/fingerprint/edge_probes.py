"""The probes of what no specification settles, and of what may end the process: x / 0 and MIN / -1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.fingerprint.arithmetic_probes import no_quotient
from vinculum.conformance.fingerprint.asking import Asker, number
from vinculum.conformance.fingerprint.finding import Finding, Told, merged
from vinculum.conformance.generators.deliveries import Delivery
from vinculum.models.isolation import Answer, End
from vinculum.spec.element_types import INT8, INT16, INT32, INT64, UINT8, ElementType
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]


def zero_divisors(asker: Asker) -> Iterator[Finding]:
    """Yield what an integer divided by zero gives."""
    yield from _asked("x / 0", (UINT8, INT32, INT64), 0, asker, Delivery.RUN_TIME)


def folded_zero_divisors(asker: Asker) -> Iterator[Finding]:
    """Yield what an integer divided by zero gives where both are constants."""
    yield from _asked("x / 0 of constants", (UINT8, INT32, INT64), 0, asker, Delivery.CONSTANTS)


def minimum_by_minus_one(asker: Asker) -> Iterator[Finding]:
    """Yield what the smallest integer divided by -1 gives."""
    yield from _asked("MIN / -1", (INT8, INT16, INT32, INT64), -1, asker, Delivery.RUN_TIME)


def folded_minimum_by_minus_one(asker: Asker) -> Iterator[Finding]:
    """Yield what the smallest integer divided by -1 gives where both are constants."""
    yield from _asked("MIN / -1 of constants", (INT8, INT16, INT32, INT64), -1, asker, Delivery.CONSTANTS)


def _asked(
    probe: str, types: tuple[ElementType, ...], divisor: int, asker: Asker, delivery: Delivery
) -> Iterator[Finding]:
    told = {}
    for element_type in types:
        # A few elements more than a vector register holds, so that neither its code nor that of a rest is left out.
        least, most = element_type.minimum, element_type.maximum
        dividends = [most, 7, 0, -7] if divisor == 0 else [least]
        a = np.array([x for x in dividends if x >= least] * 5, dtype_of(element_type))
        outcome = asker.divide(a, np.full_like(a, divisor), delivery)
        if outcome is not None and outcome[0].end is not End.UNSUPPORTED:
            told[element_type] = _told(outcome[0], a, divisor, element_type)
    if told:
        yield merged(probe, told)


def _told(answer: Answer, a: Array, divisor: int, element_type: ElementType) -> Told:
    if answer.end is End.REFUSED:
        return Told("refused", evidence=answer.words)  # The specification leaves it open.
    quotients = answer.value
    if not isinstance(quotients, np.ndarray) or (quotients.dtype, quotients.shape) != (a.dtype, a.shape):
        told = no_quotient(answer)
        return Told(told.statement, told.is_deviation, f"{number(a[0])} / {divisor}")
    equations = (f"{number(x)} / {divisor} = {number(q)}" for x, q in zip(a, quotients, strict=True))
    example = ", ".join(dict.fromkeys(equations))
    return Told(_result(quotients, a, element_type) or "differs from element to element", evidence=example)


def _result(quotients: Array, a: Array, element_type: ElementType) -> str | None:
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
