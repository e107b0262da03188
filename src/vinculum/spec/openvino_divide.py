"""OpenVINO Divide-1, of operation set 1."""

from __future__ import annotations

from vinculum.spec.element_types import by_openvino_name
from vinculum.spec.model import (
    Attribute,
    Broadcasting,
    Clause,
    Dialect,
    IntegerRounding,
    Operand,
    OperatorSpec,
    Source,
    TypeConstraint,
)
from vinculum.spec.onnx_div import IEEE_754, MINIMUM_BY_MINUS_ONE

_PYTHONDIV = Attribute(
    "m_pythondiv",
    "boolean",
    True,
    False,
    "For integers: true is floor division, false is truncating division; floats ignore it.",
    allowed=(False, True),
    aliases=("pythondiv",),
)
_AUTO_BROADCAST = Attribute(
    "auto_broadcast",
    "string",
    "numpy",
    False,
    "The rule that joins the shapes of a and b.",
    allowed=("none", "numpy", "pdpd"),
)
_AXIS = Attribute(
    "axis",
    "int",
    -1,
    False,
    "A keyword of ours, the document has none. "
    "With auto_broadcast=pdpd: the dimension of a at which b begins; -1 lets b end where a ends.",
    minimum=-1,
)

_CLAUSES = (
    Clause(
        "floor-division",
        "With m_pythondiv=true, the default, an integer quotient rounds toward minus infinity: -11/3 is -4.",
        "Attributes, pythondiv, value true",
    ),
    Clause(
        "regular-division",
        "With m_pythondiv=false an integer quotient rounds toward zero: -11/3 is -3.",
        "Attributes, pythondiv, value false; the specification is silent here: it truncates as C does",
    ),
    Clause(
        "floats-ignore-pythondiv",
        "m_pythondiv changes no quotient of floating-point numbers.",
        "Attributes, pythondiv, supported for integers only",
    ),
    Clause(
        "pythondiv-spelling",
        "Readers accept m_pythondiv and pythondiv; writers write m_pythondiv.",
        "Examples, m_pythondiv, as in every IR file; Attributes, pythondiv",
    ),
    Clause(
        "auto-broadcast-none",
        "With auto_broadcast=none, a and b have the same shape.",
        "Attributes, auto_broadcast, value none; example 1",
    ),
    Clause(
        "auto-broadcast-numpy",
        "With auto_broadcast=numpy, the default, broadcasting is multidirectional.",
        "Attributes, auto_broadcast, value numpy; example 2",
    ),
    Clause(
        "auto-broadcast-pdpd",
        "With pdpd, b loses its last dimensions of size 1; each one left equals a's, or is 1 and repeated.",
        "Attributes, auto_broadcast, value pdpd, and the page on broadcasting that it points to",
    ),
    Clause(
        "pdpd-axis",
        "The run begins at axis; -1 means rank(a) - rank(b), and any other negative axis is refused.",
        "the specification is silent here: the keyword is ours, and is read from an IR that carries it",
    ),
    Clause(
        "attributes-of-this-version",
        "An attribute that the document does not list, or whose value is out of its range, is refused.",
        "Attributes, which lists them with their ranges of values; axis is a keyword of ours",
    ),
    Clause(
        "one-element-type",
        "a, b and the result have one element type; nothing is converted silently.",
        "Inputs and Outputs, all three are tensors of type T",
    ),
    Clause(
        "any-numeric-type",
        "Every integer type of 4 to 64 bits and every float type of 8 to 64 bits is divided.",
        "Types, T; the specification is silent here: OpenVINO's own list of types",
    ),
    Clause(
        "division-by-zero",
        "An integer divided by zero follows the caller's zero_divisor: raise, zero or saturate.",
        "Detailed description, undefined, so the caller decides, and the default is to raise",
    ),
    MINIMUM_BY_MINUS_ONE,
    Clause(
        "empty-result-divides-nothing",
        "If the result is empty, nothing is divided and nothing is raised, whatever b holds.",
        "the specification is silent here: no element of the result has a divisor",
    ),
    IEEE_754,
    Clause(
        "special-values",
        "Zeros, infinities and NaN follow IEEE 754: x/0 is an infinity, 0/0 is NaN, and nothing is raised.",
        "Detailed description, undefined; IEEE 754 defines it for floats",
    ),
    Clause(
        "f8e4m3-without-infinity",
        "In f8e4m3, which has no infinity, x/0 and every quotient too large are NaN.",
        "the specification is silent here: the type's only special value is NaN, and nothing is saturated",
    ),
)

_NUMERIC = "f64 f32 f16 bf16 f8e4m3 f8e5m2 i64 i32 i16 i8 i4 u64 u32 u16 u8 u4"

DIVIDE_1 = OperatorSpec(
    dialect=Dialect.OPENVINO,
    domain="opset1",
    name="Divide",
    since_version=1,
    variant=None,
    inputs=(Operand("a", "T", "The dividend."), Operand("b", "T", "The divisor.")),
    outputs=(Operand("o", "T", "The quotient, of the joined shape."),),
    attributes=(_PYTHONDIV, _AUTO_BROADCAST, _AXIS),
    type_constraints=(TypeConstraint("T", tuple(map(by_openvino_name, _NUMERIC.split())), "Any numeric type."),),
    broadcasting={
        "none": Broadcasting.EQUAL,
        "numpy": Broadcasting.MULTIDIRECTIONAL,
        "pdpd": Broadcasting.PDPD,
    },
    broadcasting_attribute="auto_broadcast",
    integer_rounding={True: IntegerRounding.FLOOR, False: IntegerRounding.TRUNCATING},
    integer_rounding_attribute="m_pythondiv",
    shape_inference=True,
    function=False,
    support_level="",
    documentation=(
        "Divides each element of a by the corresponding element of b.",
        "Where the shapes differ, auto_broadcast says how they are joined.",
        "m_pythondiv chooses between floor and truncating division of integers.",
        "What division by zero gives is left undefined.",
    ),
    clauses=_CLAUSES,
    source=Source(
        "OpenVINO operation specifications, Divide-1",
        "https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/"
        "arithmetic/divide-1.html",
    ),
)
