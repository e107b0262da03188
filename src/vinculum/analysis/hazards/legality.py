"""Divisions that their operator set does not allow, or that mean something else in another."""

from __future__ import annotations

from vinculum.analysis.hazards.hazard import Found, Hazard
from vinculum.analysis.interpreter import Site
from vinculum.errors import AttributeValueError
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.rows import find

_DIVISIONS = ("Div", "Reciprocal")


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
        row = find(site.node.op_type, opset=site.call.opset)
        try:
            checked_attributes(row, site.call.attributes)
        except AttributeValueError as error:
            return Found(len(site.node.input) - 1, certain=True, detail={"reason": str(error)})
        return None
