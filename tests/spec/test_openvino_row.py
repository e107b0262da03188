"""Divide-1 against the OpenVINO document."""

from __future__ import annotations

from vinculum.spec.element_types import ELEMENT_TYPES, Kind
from vinculum.spec.model import Broadcasting, IntegerRounding
from vinculum.spec.openvino_divide import DIVIDE_1


class TestAttributes:
    """The section on attributes: two of them, neither required."""

    def test_the_documents_attributes_and_defaults(self) -> None:
        stated = {a.name: (a.type, a.default, a.required) for a in DIVIDE_1.attributes if a.name != "axis"}
        assert stated == {
            "m_pythondiv": ("boolean", True, False),
            "auto_broadcast": ("string", "numpy", False),
        }

    def test_pythondiv_is_another_spelling_of_m_pythondiv(self) -> None:
        """The attribute list writes pythondiv, both examples and every IR file m_pythondiv."""
        assert DIVIDE_1.attribute("pythondiv") is DIVIDE_1.attribute("m_pythondiv")

    def test_axis_says_that_it_is_ours(self) -> None:
        axis = DIVIDE_1.attribute("axis")
        assert axis is not None
        assert axis.default == -1
        assert "keyword of ours" in axis.description


class TestRules:
    """What the values of the two attributes select."""

    def test_auto_broadcast(self) -> None:
        assert DIVIDE_1.broadcasting_rule({}) is Broadcasting.MULTIDIRECTIONAL
        assert DIVIDE_1.broadcasting_rule({"auto_broadcast": "none"}) is Broadcasting.EQUAL
        assert DIVIDE_1.broadcasting_rule({"auto_broadcast": "numpy"}) is Broadcasting.MULTIDIRECTIONAL
        assert DIVIDE_1.broadcasting_rule({"auto_broadcast": "pdpd"}) is Broadcasting.PDPD

    def test_m_pythondiv(self) -> None:
        assert DIVIDE_1.rounding({}) is IntegerRounding.FLOOR
        assert DIVIDE_1.rounding({"m_pythondiv": True}) is IntegerRounding.FLOOR
        assert DIVIDE_1.rounding({"m_pythondiv": False}) is IntegerRounding.TRUNCATING


class TestTypes:
    """The section on types: T is any numeric type."""

    def test_every_type_that_openvino_names_is_divided(self) -> None:
        assert set(DIVIDE_1.element_types) == {t for t in ELEMENT_TYPES if t.kind is not Kind.REAL}
        assert all(t.openvino for t in DIVIDE_1.element_types)
