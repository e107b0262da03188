"""The probe of constants, which a runtime may fold before it runs: by other arithmetic than at run time, or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.fingerprint.arithmetic_probes import (
    FLOATS,
    INTEGERS,
    float_model,
    told_of_floats,
    told_of_integers,
)
from vinculum.conformance.fingerprint.asking import Asked, Asker, first_difference, same
from vinculum.conformance.fingerprint.finding import Finding, Told
from vinculum.conformance.fingerprint.float_models import float_models
from vinculum.conformance.generators.deliveries import Delivery
from vinculum.spec.element_types import ElementType

Array = NDArray[Any]

_CONSTANTS = {Delivery.CONSTANTS: "constant folding", Delivery.CONSTANT_DIVISOR: "constant divisor"}


def constants(asker: Asker) -> Iterator[Finding]:
    """Yield how quotients are computed where both operands, or the divisor, are constants, if not as at run time."""
    for delivery, probe in _CONSTANTS.items():
        told: dict[ElementType, Told] = {}
        agreeing = 0
        for element_type in (*FLOATS, *INTEGERS):
            at_run_time, asked = asker.standard(element_type), asker.standard(element_type, delivery)
            if at_run_time is None or asked is None or at_run_time.quotients is None:
                continue
            if _agree(at_run_time, asked):
                agreeing += 1
            else:
                told[element_type] = _told(asker, at_run_time, asked, delivery)
        yield from _findings(probe, told)
        if agreeing and not told:
            yield Finding(probe, "agrees with run time", False)


def _findings(probe: str, told: Mapping[ElementType, Told]) -> Iterator[Finding]:
    """Yield a line for each way of computing."""
    for statement in dict.fromkeys(one.statement for one in told.values()):
        types = [element_type for element_type, one in told.items() if one.statement == statement]
        names = ", ".join(map(str, types))
        yield Finding(probe, f"disagrees with run time ({names}): {statement}", True, told[types[0]].evidence)


def _agree(at_run_time: Asked, asked: Asked) -> bool:
    one, other = at_run_time.quotients, asked.quotients
    return one is not None and other is not None and bool(same(one, other).all())


def _told(asker: Asker, at_run_time: Asked, asked: Asked, delivery: Delivery) -> Told:
    told = told_of_integers(asked) if asked.element_type.is_integer else _told_of_floats(asker, asked, delivery)
    quotients = at_run_time.quotients
    if told.evidence or quotients is None:
        return told
    return Told(told.statement, True, f"at run time {first_difference(at_run_time, quotients)}")


def _told_of_floats(asker: Asker, asked: Asked, delivery: Delivery) -> Told:
    quotients = asked.quotients
    if quotients is None:
        return told_of_floats(asked)
    example = first_difference(asked, quotients)
    model = float_model(asked)
    if model is not None:
        return Told("; ".join(part for part in (model.arithmetic, model.flushing.value) if part), True, example)
    if delivery is Delivery.CONSTANT_DIVISOR and _is_product(asker, asked, quotients):
        return Told("computed as a * (1/b), of which 1/b is folded", True, example)
    return told_of_floats(asked)


def _is_product(asker: Asker, asked: Asked, quotients: Array) -> bool:
    """Tell whether each quotient is that of the dividend and of what the divisor's reciprocal is folded to."""
    outcome = asker.divide(np.ones_like(asked.b), asked.b, Delivery.CONSTANTS)
    inverses = None if outcome is None else outcome[0].value
    if not isinstance(inverses, np.ndarray) or (inverses.dtype, inverses.shape) != (asked.b.dtype, asked.b.shape):
        return False
    models = float_models(asked.element_type)
    return any(same(model.products(asked.a, inverses), quotients).all() for model in models)
