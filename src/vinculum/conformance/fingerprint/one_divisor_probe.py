"""The probe of a divisor that is one number for all dividends, whose reciprocal a compiler may take out of the loop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vinculum import reference
from vinculum.conformance.fingerprint.arithmetic_probes import FLOATS, told_of_floats
from vinculum.conformance.fingerprint.asking import Asked, Asker
from vinculum.conformance.fingerprint.finding import Finding, Told, merged
from vinculum.conformance.fingerprint.operands import float_operands, ordinary_count
from vinculum.models.isolation import Answer, End
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import IntegerRounding

_DIVISORS = (3, 49)


def one_divisor(asker: Asker) -> Iterator[Finding]:
    """Yield how quotients are computed whose divisor is a tensor of rank 0."""
    told = {t: one for t in FLOATS if (one := _told(asker, t)) is not None}
    if told:
        yield merged("one divisor for all", told)


def _told(asker: Asker, element_type: ElementType) -> Told | None:
    a = float_operands(element_type)[0][: ordinary_count(element_type) // len(_DIVISORS)]
    answers = []
    for number in _DIVISORS:
        outcome = asker.divide(a, np.array(number).astype(a.dtype))
        if outcome is None or outcome[0].end is End.UNSUPPORTED:
            return None
        answers.append(outcome[0])
    values = [answer.value for answer in answers]
    fits = all(isinstance(value, np.ndarray) and (value.dtype, value.shape) == (a.dtype, a.shape) for value in values)
    answer = Answer(End.RETURNED, np.concatenate(values)) if fits else answers[-1]
    dividends, divisors = np.tile(a, len(_DIVISORS)), np.repeat(np.array(_DIVISORS).astype(a.dtype), a.size)
    right = reference.divide(dividends, divisors, element_type)
    return told_of_floats(Asked(element_type, dividends, divisors, IntegerRounding.TRUNCATING, right, answer))
