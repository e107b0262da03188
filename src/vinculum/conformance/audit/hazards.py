"""Hazards of a division: zero and subnormal divisors, MIN/-1, and quotients outside the range of the format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.audit.record import Hazard
from vinculum.conformance.cases.expectations import are, are_minimum_by_minus_one
from vinculum.spec.element_types import BinaryFormat
from vinculum.tensors.comparison import encodings
from vinculum.tensors.storage import element_type_of

Array = NDArray[Any]
Mask = NDArray[np.bool_]


def hazards(dividend: Array, divisor: Array, quotient: Array) -> tuple[Hazard, ...]:
    """Return the hazards that occur in aligned operands and their exact quotients."""
    form = element_type_of(divisor).binary_format
    kinds = _of_integers(dividend, divisor) if form is None else _of_floats(dividend, divisor, quotient, form)
    found = []
    for what, mask in kinds:
        count = int(np.count_nonzero(mask))
        if count:
            found.append(Hazard(what, count, tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))))
    return tuple(found)


def smallest_divisor(divisor: Array) -> str | None:
    """Return the first divisor with the smallest magnitude other than zero and NaN."""
    flat = np.ascontiguousarray(divisor).reshape(-1)
    form = element_type_of(divisor).binary_format
    if form is None:
        wide = flat.astype(np.int64) if flat.dtype.itemsize < 8 else flat
        # No positive number has the magnitude of MIN, so negated magnitudes are compared.
        magnitudes = ~np.minimum(wide, -wide) if wide.dtype.kind == "i" else wide - np.uint64(1)
        candidates = np.flatnonzero(wide != 0)
    else:
        magnitudes = _magnitudes(flat, form)
        candidates = np.flatnonzero((magnitudes != 0) & (magnitudes <= form.largest + form.infinities))
    if not candidates.size:
        return None
    return str(flat[candidates[int(np.argmin(magnitudes[candidates]))]])


def _of_integers(dividend: Array, divisor: Array) -> Iterator[tuple[str, Mask]]:
    yield "divisor zero", are(divisor, 0)
    yield "MIN/-1", are_minimum_by_minus_one(dividend, divisor)


def _of_floats(dividend: Array, divisor: Array, quotient: Array, form: BinaryFormat) -> Iterator[tuple[str, Mask]]:
    smallest_normal = 1 << form.trailing_bits
    a, b, q = (_magnitudes(array, form) for array in (dividend, divisor, quotient))
    yield "divisor zero", b == 0
    yield "divisor subnormal", (b != 0) & (b < smallest_normal)
    finite = (a <= form.largest) & (b <= form.largest) & (b != 0)
    yield "quotient overflows", finite & (q > form.largest)
    finite &= a != 0
    yield "quotient underflows to zero", finite & (q == 0)
    yield "quotient subnormal", finite & (q != 0) & (q < smallest_normal)
    # Encodings above infinity are NaN.
    largest = form.largest + form.infinities
    yield "quotient NaN, no operand", (q > largest) & (a <= largest) & (b <= largest)


def _magnitudes(array: Array, form: BinaryFormat) -> Array:
    bits = encodings(array, element_type_of(array))
    magnitudes: Array = bits & bits.dtype.type(form.sign_mask - 1)
    return magnitudes
