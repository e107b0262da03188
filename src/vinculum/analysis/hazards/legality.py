"""Divisions that their operator set, or the safety-related profile SONNX, does not allow."""

from __future__ import annotations

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.dimensions import fixed
from vinculum.analysis.domain.formats import FORMATS, NUMPY_INTEGERS, is_discrete
from vinculum.analysis.hazards.divisors import is_certain
from vinculum.analysis.hazards.hazard import Found, Hazard, HazardOfDivisions, divided
from vinculum.analysis.hazards.integers import MinOverMinusOne
from vinculum.analysis.interpreter import Site
from vinculum.errors import AttributeValueError
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.rows import find

_DIVISIONS = ("Div", "Reciprocal")
_OF_SONNX = {*FORMATS, *NUMPY_INTEGERS} - {"bfloat16"}


class LegacyBroadcast(Hazard):
    """The divisor is broadcast by the attributes broadcast and axis, which current runtimes ignore."""

    code = "legacy-broadcast"
    operators = ("Div",)
    fix = "convert the model: vinculum convert MODEL --opset 17"

    def look(self, site: Site) -> Found | None:
        """Return the divisor if the operator set is older than 7 and broadcasting is asked for."""
        if site.call.opset >= 7 or not site.call.attribute("broadcast", 0):
            return None
        return Found(1, certain=True, detail={"axis": site.call.attribute("axis", "the last ones")})


class IllegalElementType(Hazard):
    """The operator set does not allow this element type here."""

    code = "illegal-element-type"
    operators = _DIVISIONS
    fix = "import a newer operator set, or cast the operands"

    def look(self, site: Site) -> Found | None:
        """Return the first operand if the operator version does not allow its type."""
        operand = site.operands[0] if site.operands else None
        if operand is None or not operand.element_type:
            return None
        row = find(site.node.op_type, opset=site.call.opset)
        allowed = {element_type.numpy for element_type in row.element_types}
        if operand.element_type in allowed or site.call.narrowed == operand.element_type != "float32":
            return None
        return Found(0, certain=True, detail={"version": row.title, "element_type": operand.element_type})


class IllegalAttribute(Hazard):
    """The operator set does not allow this attribute, or this value of it."""

    code = "illegal-attribute"
    operators = _DIVISIONS
    fix = "leave the attribute out, or import the operator set that has it"

    def look(self, site: Site) -> Found | None:
        """Return the divisor if an attribute is not allowed."""
        try:
            checked_attributes(find(site.node.op_type, opset=site.call.opset), site.call.attributes)
        except AttributeValueError as error:
            return Found(len(site.node.input) - 1, certain=True, detail={"reason": str(error)})
        return None


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
        return Found(place, certain=None not in (fixed(dividend.shape), fixed(divisor.shape)))


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
            if name and (name not in _OF_SONNX or name != types[0]):
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
        places = (place for place, one in enumerate(site.operands[:2]) if one is not None and not one.element_type)
        return next(map(Found, places), None)


class SonnxZeroDivisor(HazardOfDivisions):
    """[C3]: no integer divisor is zero; for floats 0/0 is the only error condition."""

    code = "sonnx-c3"
    operators = ("Div",)
    fix = "keep the divisor from zero before it is divided by"
    profile = "sonnx"

    def divided(self, site: Site, dividend: AbstractTensor | None, divisor: AbstractTensor, place: int) -> Found | None:
        """Return the divisor if an integer can be zero, or a float where the dividend can be, too."""
        if dividend is None or not divisor.may_zero:
            return None
        found = is_discrete(divisor.element_type) or (divisor.form is not None and dividend.may_zero)
        return Found(place, is_certain(divisor)) if found else None


class SonnxOverflow(MinOverMinusOne):
    """[V1]: no quotient lies beyond its type; the smallest integer can be divided by -1 here."""

    code = "sonnx-v1"
    operators = ("Div",)
    profile = "sonnx"
