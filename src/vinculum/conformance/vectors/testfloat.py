"""Lines in the format of Berkeley TestFloat: two operands, the quotient, and the exception flags of IEEE 754."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from vinculum.conformance.cases.case import Case
from vinculum.conformance.cases.operation import aligned
from vinculum.reference import elements
from vinculum.reference.exact_quotient import float_quotient
from vinculum.reference.rounding import decode, power_of_two
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16, BinaryFormat, ElementType

FUNCTIONS = {FLOAT16: "f16_div", BFLOAT16: "bf16_div", FLOAT: "f32_div", DOUBLE: "f64_div"}
"""The names of the files by element type; TestFloat itself has no function for bfloat16."""

INEXACT, UNDERFLOW, OVERFLOW, DIVIDE_BY_ZERO, INVALID = 1, 2, 4, 8, 16
"""The flags as SoftFloat encodes them."""


def divides_floats(case: Case) -> bool:
    """Tell whether a case divides floats of a type in `FUNCTIONS`."""
    two_floats = case.element_type in FUNCTIONS and len(case.operation.operands) == 2
    return two_floats and case.expectation.quotient is not None


def pairs_of(cases: Iterable[Case]) -> dict[ElementType, list[tuple[int, int]]]:
    """Return the encodings of dividends and divisors of cases that divide floats, sorted and without repetitions."""
    found: dict[ElementType, set[tuple[int, int]]] = {}
    for case in cases:
        a, b = (elements(np.ascontiguousarray(own), case.element_type) for own in aligned(case.operation))
        found.setdefault(case.element_type, set()).update(zip(a, b, strict=True))
    return {element_type: sorted(pairs) for element_type, pairs in found.items()}


def lines(pairs: Iterable[tuple[int, int]], element_type: ElementType) -> Iterator[str]:
    """Yield a line for each pair: ``"3F800000 40400000 3EAAAAAB 01"``."""
    fmt = element_type.binary_format
    assert fmt is not None
    digits = element_type.bits // 4
    for a, b in pairs:
        quotient = float_quotient(a, b, fmt)
        yield f"{a:0{digits}X} {b:0{digits}X} {quotient:0{digits}X} {flags(a, b, fmt):02X}"


def flags(a_bits: int, b_bits: int, fmt: BinaryFormat) -> int:
    """Return the exceptions that a division raises under roundTiesToEven.

    Detecting tininess before or after rounding makes no difference: a quotient of p-bit significands is never so near
    below a power of two, within 2**-p / 2 of it, that rounding with full precision gives that power.

    - `a_bits`, `b_bits`: The encodings of dividend and divisor.
    - `fmt`: A format with infinities.
    """
    a, b = decode(a_bits, fmt), decode(b_bits, fmt)
    if a.is_nan or b.is_nan:
        return INVALID if _is_signaling(a_bits, fmt) or _is_signaling(b_bits, fmt) else 0
    if (a.is_infinite and b.is_infinite) or (a.is_zero and b.is_zero):
        return INVALID
    if a.is_infinite or b.is_infinite:
        return 0
    if b.is_zero:
        return DIVIDE_BY_ZERO
    exact = a.magnitude / b.magnitude
    rounded = decode(float_quotient(a_bits, b_bits, fmt), fmt)
    if rounded.is_infinite:
        return OVERFLOW | INEXACT
    if rounded.magnitude == exact:
        return 0
    return INEXACT | (UNDERFLOW if exact < power_of_two(fmt.smallest_exponent) else 0)


def _is_signaling(bits: int, fmt: BinaryFormat) -> bool:
    quiet = 1 << (fmt.trailing_bits - 1)
    return decode(bits, fmt).is_nan and not bits & quiet
