"""The known ways to divide each element type, and their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product

from vinculum.conformance.arithmetic.division import Division, FloatDivision, IntegerDivision
from vinculum.conformance.arithmetic.stages import (
    STORED,
    Conversion,
    Flush,
    Inverse,
    Narrowing,
    Rounding,
    Saturation,
    Width,
)
from vinculum.conformance.cases.floats import format_of
from vinculum.errors import AttributeValueError
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT8E4M3FN,
    FLOAT8E5M2,
    FLOAT16,
    INT64,
    UINT32,
    UINT64,
    ElementType,
    Kind,
)
from vinculum.text import did_you_mean, quoted

_WIDER = {
    FLOAT: (DOUBLE,),
    FLOAT16: (FLOAT, DOUBLE),
    BFLOAT16: (FLOAT, DOUBLE),
    FLOAT8E4M3FN: (FLOAT, FLOAT16, BFLOAT16),
    FLOAT8E5M2: (FLOAT, FLOAT16, BFLOAT16),
}
_NARROWER = {DOUBLE: (FLOAT, FLOAT16, BFLOAT16), FLOAT: (FLOAT16, BFLOAT16), FLOAT16: (BFLOAT16,), BFLOAT16: (FLOAT16,)}
_NARROWED = (Saturation.NO, Saturation.OPERANDS, Saturation.ALL)
_OPERANDS = (Flush.NO, Flush.SIGNED, Flush.POSITIVE)
_INVERSES = ((Inverse.NO, Flush.NO), *((Inverse.ROUNDED, flush) for flush in Flush))
_WIDTHS = (
    (Width.OWN, Width.OWN),
    (Width.WRAPPED, Width.WRAPPED),
    (Width.SATURATED, Width.SATURATED),
    (Width.WRAPPED, Width.SATURATED),
    (Width.SATURATED, Width.WRAPPED),
)


@cache
def catalogue(element_type: ElementType) -> tuple[Division, ...]:
    """Return the ways to divide an element type, the simplest first; the first is the correct division.

    Dividing float16 or bfloat16 in float and rounding gives the correctly rounded quotient, so it cannot be told apart
    from a correct division. Multiplying by a reciprocal in float can, by ties between subnormal numbers and, for
    bfloat16, by reciprocals outside float's range.
    """
    ways = _integers(element_type) if element_type.is_integer else _floats(element_type)
    return tuple(sorted(ways, key=lambda way: way.complexity))


def right(element_type: ElementType) -> Division:
    """Return the correct way to divide: the first of the catalogue, without the time to build the catalogue."""
    return IntegerDivision(element_type) if element_type.is_integer else FloatDivision(element_type, element_type)


def named(form: str, element_type: ElementType) -> Division:
    """Return the way to divide an element type that has this form: ``"a * (1/b)"``.

    AttributeValueError if no way has it.
    """
    ways = _by_form(element_type)
    if form not in ways:
        message = f"{quoted(form)} is not a known way to divide {element_type}"
        raise AttributeValueError(message + did_you_mean(form, ways))
    return ways[form]


@cache
def _by_form(element_type: ElementType) -> Mapping[str, Division]:
    return {way.form: way for way in catalogue(element_type)}


def _floats(t: ElementType) -> Iterator[FloatDivision]:
    for dividend, divisor, quotient in product(_OPERANDS, _OPERANDS, Flush):
        for reciprocal, inverse in _INVERSES:
            stages = (reciprocal, dividend, divisor, inverse, quotient)
            yield FloatDivision(t, t, *stages)
            for narrower, saturation in product(_NARROWER.get(t, ()), _NARROWED):
                yield FloatDivision(t, narrower, *stages, saturation=saturation)
            for wider in _WIDER.get(t, ()):
                # Rounding twice, first to float, gives the correctly rounded quotient.
                for narrowing in Narrowing if wider is FLOAT else (Narrowing.ROUNDED,):
                    if reciprocal is not Inverse.NO or narrowing is not Narrowing.ROUNDED:
                        yield FloatDivision(t, wider, *stages, narrowing)
        for inverse in _OPERANDS:
            if t is FLOAT:
                yield FloatDivision(t, t, Inverse.POWER, dividend, divisor, inverse, quotient)
                if inverse is Flush.NO:
                    yield FloatDivision(t, DOUBLE, Inverse.NO, dividend, divisor, inverse, quotient, Narrowing.CUT)
            for reciprocal, narrowing, saturation in product(
                STORED, Narrowing if FLOAT in _WIDER.get(t, ()) else (), (Saturation.NO, Saturation.INVERSES)
            ):
                stages = (reciprocal, dividend, divisor, inverse, quotient)
                yield FloatDivision(t, FLOAT, *stages, narrowing, saturation)


def _integers(t: ElementType) -> Iterator[IntegerDivision]:
    widths = _WIDTHS if t in (INT64, UINT64, UINT32) else _WIDTHS[:1]
    signs = (False, True) if t.kind is Kind.UNSIGNED else (False,)
    for rounding, (dividend, divisor), as_signed in product(Rounding, widths, signs):
        operands = (t, rounding, dividend, divisor, as_signed)
        yield IntegerDivision(*operands)
        if dividend is Width.OWN and len(widths) > 1:
            for result in (Width.WRAPPED, Width.SATURATED):
                yield IntegerDivision(*operands, result=result)
        for computed_in, reciprocal, conversion in product((FLOAT, DOUBLE), (False, True), Conversion):
            # Where MAX is a number of the format, a clamped quotient is a saturated one.
            if conversion is not Conversion.CLAMPED or t.bits > format_of(computed_in).significand_bits:
                yield IntegerDivision(*operands, computed_in, reciprocal, conversion)
