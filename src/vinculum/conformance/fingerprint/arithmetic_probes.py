"""The probes of arithmetic: which model explains every quotient of an element type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.fingerprint.asking import Asked, Asker
from vinculum.conformance.fingerprint.finding import Finding, Standing
from vinculum.conformance.fingerprint.float_models import float_models
from vinculum.conformance.fingerprint.operands import float_operands, right_reciprocals
from vinculum.conformance.fingerprint.telling import UNKNOWN, explained, first_difference, same
from vinculum.conformance.generators.deliveries import Delivery
from vinculum.sandbox import Answer
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ElementType,
)
from vinculum.spec.model import IntegerRounding
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13

Array = NDArray[Any]
Asking = Future[Asked | None]

FLOATS = (FLOAT, DOUBLE, FLOAT16, BFLOAT16)
INTEGERS = (INT64, INT32, UINT64, UINT32, INT16, INT8, UINT16, UINT8)
_DIVISOR = 3
_DIVIDENDS = 800
_CONSTANTS = {
    Delivery.CONSTANTS: "constant folding disagrees with run time",
    Delivery.CONSTANT_DIVISOR: "a constant divisor disagrees with run time",
}


def division(asker: Asker) -> Iterator[Finding]:
    """Ask every element type for its probing operands' quotients, and return how they are computed."""
    asking = [asker.standard(t) for t in (*FLOATS, *INTEGERS)]
    return (explained("division", asked) for one in asking if (asked := one.result()) is not None)


def one_divisor(asker: Asker) -> Iterator[Finding]:
    """Ask for quotients by a divisor of rank 0, whose reciprocal may be computed once, and return how they are."""
    asking = []
    for element_type in FLOATS:
        a = float_operands(element_type)[0][:_DIVIDENDS]
        asking.append((asker.standard(element_type), asker.divide(a, np.array(_DIVISOR).astype(a.dtype))))
    return _beside_division("one divisor for all", asking)


def reciprocals(asker: Asker) -> Iterator[Finding]:
    """Ask for reciprocals of each floating-point type, and return how they are computed."""
    asking = [(t, asker.ask(RECIPROCAL_13, {}, float_operands(t)[1])) for t in FLOATS]
    return (_reciprocal(t, answer) for t, one in asking if (answer := one.result()) is not None)


def _reciprocal(element_type: ElementType, answer: Answer) -> Finding:
    x = float_operands(element_type)[1]
    right = right_reciprocals(element_type)
    asked = Asked(element_type, np.ones_like(x), x, IntegerRounding.TRUNCATING, right, answer)
    return explained("Reciprocal", asked)


def constants(asker: Asker) -> Iterator[Finding]:
    """Ask again with operands that are constants, and return how quotients are computed, if not as at run time."""
    asking = {
        delivery: [(asker.standard(t), asker.standard(t, delivery)) for t in (*FLOATS, *INTEGERS)]
        for delivery in _CONSTANTS
    }
    return (
        finding
        for delivery, pairs in asking.items()
        for at_run_time, one in pairs
        for finding in _constant(asker, delivery, at_run_time.result(), one.result())
    )


def _constant(asker: Asker, delivery: Delivery, at_run_time: Asked | None, asked: Asked | None) -> Iterator[Finding]:
    if at_run_time is None or asked is None or at_run_time.quotients is None:
        return
    subject = str(asked.element_type)
    if _agree(at_run_time, asked):
        yield Finding("constants", subject, "divided as at run time", Standing.AS_SPECIFIED)
        return
    found = explained("constants", asked)
    detail = "; ".join(part for part in (found.statement, found.detail) if part)
    if delivery is Delivery.CONSTANT_DIVISOR and found.statement.endswith(UNKNOWN) and _is_product(asker, asked):
        detail = "computed as a multiplication by the reciprocal, which is folded"
    evidence = found.evidence or f"at run time {first_difference(at_run_time)}"
    yield Finding("constants", subject, _CONSTANTS[delivery], Standing.DEVIATES, detail, evidence)


def _agree(at_run_time: Asked, asked: Asked) -> bool:
    one, other = at_run_time.quotients, asked.quotients
    return one is not None and other is not None and bool(same(one, other).all())


def _is_product(asker: Asker, asked: Asked) -> bool:
    """Tell whether each quotient is that of the dividend and of what the divisor's reciprocal is folded to."""
    given = asked.quotients
    if given is None or asked.element_type.is_integer:
        return False
    folded = asker.divide(np.ones_like(asked.b), asked.b, Delivery.CONSTANTS).result()
    inverses = None if folded is None else folded.quotients
    if inverses is None:
        return False
    return any(same(model.products(asked.a, inverses), given).all() for model in float_models(asked.element_type))


def _beside_division(probe: str, asking: Sequence[tuple[Asking, Asking]]) -> Iterator[Finding]:
    """Yield what is found of each, and nothing where that is what division by a tensor shows."""
    for usual, one in asking:
        division, asked = usual.result(), one.result()
        if division is not None and asked is not None and asked.quotients is not None:
            found = explained(probe, asked)
            if found.statement != explained(probe, division).statement:
                yield found
