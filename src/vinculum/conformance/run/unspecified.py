"""A runtime's quotients where the specification leaves them unspecified, in short: x/0 gave MIN."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation, aligned
from vinculum.conformance.run.verdict import Gave, number_text
from vinculum.spec.element_types import ElementType
from vinculum.tensors.storage import element_type_of

_LOOKED_AT = 512  # The most quotients that are examined, to limit the time.
_TOLD = 3

Quotients = dict[Any, Any]
"""The quotients by dividend."""


def what_it_gave(operation: Operation, actual: NDArray[Any], unspecified: NDArray[np.bool_]) -> tuple[Gave, ...]:
    """Return a summary of a runtime's quotients that the specification leaves unspecified.

    Parameters
    ----------
    operation : Operation
        The operation.
    actual : ndarray
        The quotients of the runtime.
    unspecified : ndarray of bool
        Which of them are unspecified; at least one.
    """
    element_type = element_type_of(actual)
    a, b = aligned(operation)
    by_divisor: dict[Any, Quotients] = defaultdict(dict)
    for place in np.argwhere(unspecified)[:_LOOKED_AT]:
        index = tuple(int(i) for i in place)
        by_divisor[b[index]][a[index]] = actual[index]
    return tuple(
        gave
        for divisor, quotients in by_divisor.items()
        for gave in _gave(_text(divisor, element_type), quotients, element_type)
    )


def _gave(divisor: str, quotients: Quotients, element_type: ElementType) -> Iterator[Gave]:
    if len(quotients) > 1 and (shared := _in_common(quotients, element_type)):
        yield Gave("x", divisor, shared)
        return
    for sign, where in ((1, "x > 0"), (0, "x = 0"), (-1, "x < 0")):
        own = {dividend: quotient for dividend, quotient in quotients.items() if _sign(dividend) == sign}
        if len(own) > 1 and (shared := _in_common(own, element_type)):
            yield Gave("x", divisor, shared, where)
            continue
        for dividend in list(own)[:_TOLD]:
            yield Gave(_text(dividend, element_type), divisor, _text(own[dividend], element_type))
        if len(own) > _TOLD:
            yield Gave("x", divisor, f"{len(own) - _TOLD} more quotients", where)


def _in_common(quotients: Quotients, element_type: ElementType) -> str | None:
    """Return the quotient that all dividends share; None if their quotients differ."""
    texts = {_text(quotient, element_type) for quotient in quotients.values()}
    return texts.pop() if len(texts) == 1 else None


def _text(number: Any, element_type: ElementType) -> str:
    """Return a number as text; the smallest and the largest integer of a type become ``"MIN"`` and ``"MAX"``."""
    if element_type.is_integer and number == element_type.maximum:
        return "MAX"
    return "MIN" if element_type.minimum and number == element_type.minimum else number_text(number, element_type)


def _sign(number: Any) -> int:
    return int(number > 0) - int(number < 0)
