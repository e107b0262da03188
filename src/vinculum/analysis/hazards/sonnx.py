"""The constraints of the safety-related profile SONNX on Div."""

from __future__ import annotations

from vinculum.analysis.domain.formats import FORMATS, INTEGERS, is_discrete
from vinculum.analysis.hazards.divisors import is_certain
from vinculum.analysis.hazards.hazard import Found, Hazard, divided, is_empty
from vinculum.analysis.hazards.integers import MinOverMinusOne
from vinculum.analysis.interpreter import Site

_TYPES = {*FORMATS, *INTEGERS} - {"bfloat16", "int2", "int4", "uint2", "uint4"}


class SonnxShapes(Hazard):
    """[C1]: A, B and C have the same shape; SONNX has no broadcasting."""

    code = "sonnx-c1"
    operators = ("Div",)
    fix = "expand the smaller operand first"
    profile = "sonnx"

    def look(self, site: Site) -> Found | None:
        """Return the divisor if its shape differs, or may differ, from the dividend's."""
        dividend, divisor, place = divided(site)
        if dividend is None or divisor is None or (dividend.shape is not None and dividend.shape == divisor.shape):
            return None
        known = dividend.shape is not None and divisor.shape is not None
        fixed = known and all(isinstance(s, int) for s in (*(dividend.shape or ()), *(divisor.shape or ())))
        return Found(place, certain=bool(fixed))


class SonnxTypes(Hazard):
    """[C2]: A, B and C have the same element type, one that SONNX has."""

    code = "sonnx-c2"
    operators = ("Div",)
    fix = "give both operands one of SONNX's element types: float16, float, double, or an integer of 8 to 64 bits"
    profile = "sonnx"

    def look(self, site: Site) -> Found | None:
        """Return the first operand that has another type."""
        types = [operand.element_type for operand in site.operands[:2] if operand is not None]
        for place, name in enumerate(types):
            if name and (name not in _TYPES or name != types[0]):
                return Found(place, certain=True, detail={"element_type": name})
        return None


class SonnxUntyped(Hazard):
    """[GR2]: every operand states its element type; this one's is not known."""

    code = "sonnx-gr2"
    operators = ("Div",)
    fix = "declare the element type in value_info"
    profile = "sonnx"

    def look(self, site: Site) -> Found | None:
        """Return the first operand without an element type."""
        for place, operand in enumerate(site.operands[:2]):
            if operand is not None and not operand.element_type:
                return Found(place)
        return None


class SonnxZeroDivisor(Hazard):
    """[C3]: no integer divisor is zero; for floats 0/0 is the only error condition."""

    code = "sonnx-c3"
    operators = ("Div",)
    fix = "keep the divisor from zero before it is divided by"
    profile = "sonnx"

    def look(self, site: Site) -> Found | None:
        """Return the divisor if an integer can be zero, or a float where the dividend can be, too."""
        dividend, divisor, place = divided(site)
        if dividend is None or divisor is None or not divisor.may_zero or is_empty(site):
            return None
        if is_discrete(divisor.element_type) or (divisor.form is not None and dividend.may_zero):
            return Found(place, is_certain(divisor))
        return None


class SonnxOverflow(MinOverMinusOne):
    """[V1]: no quotient lies beyond its type; the smallest integer can be divided by -1 here."""

    code = "sonnx-v1"
    operators = ("Div",)
    profile = "sonnx"
