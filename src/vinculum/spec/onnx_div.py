"""ONNX Div, versions 1, 6, 7, 13 and 14: clauses first, then rows."""

from __future__ import annotations

from dataclasses import replace

from vinculum.spec.element_types import named
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


def _source(version: int) -> Source:
    url = f"https://onnx.ai/onnx/operators/onnx__Div.html#div-{version}"
    return Source(f"ONNX operators, Div, version {version}", url)


# Versions 1 and 6: only the divisor is broadcast, and only if broadcast=1.
_LIMITED = (
    Clause(
        "equal-shapes-by-default",
        "Unless broadcast=1 is set, A and B have the same shape.",
        "Attributes, broadcast and its default; Summary, the sentence after the examples",
    ),
    Clause(
        "one-element-divisor",
        "With broadcast=1, a B of one element and no more dimensions than A divides every element of A.",
        "Summary, the first of the two ways to broadcast; examples () and (1, 1)",
    ),
    Clause(
        "broadcast-suffix",
        "With broadcast=1 and no axis, the shape of B is the end of A's shape.",
        "Summary, suffix matching; examples (5,) and (4, 5)",
    ),
    Clause(
        "broadcast-axis",
        "With broadcast=1 and axis=k, the shape of B is the run of A's shape that begins at dimension k.",
        "Summary, what axis says; examples (3, 4) with axis=1 and (2,) with axis=0",
    ),
    Clause(
        "no-one-dim-expansion",
        "A dimension of size 1 in B does not stretch over a larger one of A, unless B has one element.",
        "Summary, the sentence on 1-dim expansion",
    ),
    Clause(
        "negative-axis-undefined",
        "A negative axis is refused.",
        "the specification is silent here: no version that has axis counts it from the end",
    ),
    Clause("output-of-dividend-shape", "C has the shape of A.", "Outputs, C"),
)

ATTRIBUTES_OF_THIS_VERSION = Clause(
    "attributes-of-this-version",
    "An attribute that this version does not list, or of another type than it lists, is refused.",
    "Attributes, which lists them all, or is not there; ONNX's own checker refuses any other",
)
IEEE_754 = Clause(
    "ieee-754",
    "A float quotient is the exact one rounded once, to nearest with ties to even; subnormals are kept.",
    "the specification is silent here: this is the strictest accuracy that IEEE 754 has",
)
_EVERY_VERSION = (
    Clause(
        "one-element-type",
        "A, B and C have one element type, which T allows; nothing is converted silently.",
        "Type Constraints, T is the one variable of all three tensors",
    ),
    ATTRIBUTES_OF_THIS_VERSION,
    IEEE_754,
    Clause(
        "special-values",
        "Zeros, infinities and NaN follow IEEE 754: x/0 is an infinity, 0/0 is NaN, and nothing is raised.",
        "the specification is silent here: IEEE 754 decides, and no sign or payload of a NaN is compared",
    ),
)

MINIMUM_BY_MINUS_ONE = Clause(
    "minimum-by-minus-one-silent",
    "The smallest signed integer divided by -1 follows the caller's overflow: wrap, raise or saturate.",
    "the specification is silent here: so the caller decides, and the default is to wrap",
)
_INTEGERS = (
    Clause(
        "truncating-division",
        "An integer quotient is the exact one rounded toward zero: -11/3 is -3.",
        "Div, version 6, Summary, last sentence; for later versions the schemas of ONNX 1.20 state it",
    ),
    Clause(
        "integer-zero-divisor-silent",
        "An integer divided by zero follows the caller's zero_divisor: raise, zero or saturate.",
        "the specification is silent here: so the caller decides, and the default is to raise",
    ),
    MINIMUM_BY_MINUS_ONE,
    Clause(
        "empty-result-divides-nothing",
        "If C is empty, nothing is divided and nothing is raised, whatever B holds.",
        "the specification is silent here: no element of C has a divisor",
    ),
)

CONSUMED_INPUTS_HINT = Clause(
    "consumed-inputs-hint",
    "consumed_inputs is checked to be a list of integers and changes no result.",
    "Attributes, consumed_inputs is a legacy",
)
_INFERENCE_NOT_PROMISED = Clause(
    "shape-inference-not-promised",
    "The shape and type of C are inferred all the same, as those of A.",
    "Version, no shape inference; Outputs, C settles what there is to infer",
)
_MULTIDIRECTIONAL = Clause(
    "multidirectional-broadcasting",
    "Shapes are matched from their ends; in A and in B a dimension that is 1 or missing is repeated.",
    "Summary, broadcasting in the manner of NumPy",
)
_BFLOAT16 = Clause("bfloat16", "bfloat16 is divided too, and rounded once.", "Type Constraints, T from version 13 on")
_NARROW = Clause(
    "narrow-integers",
    "Integers of 8 and 16 bits are divided too: uint8 12/23 is 0.",
    "Summary, what operator set 14 changed",
)

_AXIS = Attribute(
    "axis", "INT", None, False, "With broadcast=1: the dimension of A at which the shape of B begins.", minimum=0
)
_BROADCAST = Attribute(
    "broadcast", "INT", 0, False, "1 lets B be broadcast onto A, 0 demands equal shapes.", allowed=(0, 1)
)
CONSUMED_INPUTS = Attribute(
    "consumed_inputs", "INTS", None, False, "A hint of old optimizers, without effect.", hint=True
)

DIV_1 = OperatorSpec(
    dialect=Dialect.ONNX,
    domain="",
    name="Div",
    since_version=1,
    variant=None,
    inputs=(
        Operand("A", "T", "The dividend; its shape is the result's."),
        Operand("B", "T", "The divisor; as large as A, or smaller if it is broadcast."),
    ),
    outputs=(Operand("C", "T", "The quotient, of A's shape and type."),),
    attributes=(_AXIS, _BROADCAST, CONSUMED_INPUTS),
    type_constraints=(TypeConstraint("T", named("double float float16"), "Floating-point tensors."),),
    broadcasting={0: Broadcasting.EQUAL, 1: Broadcasting.LIMITED},
    broadcasting_attribute="broadcast",
    integer_rounding={},
    integer_rounding_attribute=None,
    shape_inference=False,
    function=False,
    support_level="COMMON",
    documentation=(
        "Divides each element of A by the corresponding element of B.",
        "",
        "A fixes the shape of the result; only B is ever repeated.",
        "B may hold a single element, with any number of dimensions up to A's.",
        "Otherwise the shape of B must be a contiguous run of the shape of A.",
        "`axis` names the dimension of A at which the run begins.",
        "Without `axis` the run is the end of A's shape.",
        "A dimension of size 1 in B is not stretched to fit a larger one of A.",
        "",
        "For A of shape (2, 3, 4, 5) and broadcast=1, B may have these shapes:",
        "(): a scalar",
        "(1, 1): one element",
        "(5,): the last dimension",
        "(4, 5): the last two dimensions",
        "(3, 4) with axis=1: the second and the third",
        "(2,) with axis=0: the first",
        "",
        "Broadcasting has to be asked for by broadcast=1.",
        "Without it nothing is repeated, and the two shapes are equal.",
    ),
    clauses=(*_LIMITED, *_EVERY_VERSION, CONSUMED_INPUTS_HINT, _INFERENCE_NOT_PROMISED),
    source=_source(1),
)

_TRUNCATION = "Integer quotients are truncated: rounded toward zero."

DIV_6 = replace(
    DIV_1,
    since_version=6,
    attributes=(_AXIS, _BROADCAST),
    type_constraints=(
        TypeConstraint("T", named("double float float16 int32 int64 uint32 uint64"), "High-precision numeric tensors."),
    ),
    integer_rounding={None: IntegerRounding.TRUNCATING},
    shape_inference=True,
    documentation=(*DIV_1.documentation, "", _TRUNCATION),
    clauses=(*_LIMITED, *_EVERY_VERSION, *_INTEGERS),
    source=_source(6),
)

DIV_7 = replace(
    DIV_6,
    since_version=7,
    inputs=(Operand("A", "T", "The dividend."), Operand("B", "T", "The divisor.")),
    outputs=(Operand("C", "T", "The quotient, of the joined shape and of the operands' type."),),
    attributes=(),
    broadcasting={None: Broadcasting.MULTIDIRECTIONAL},
    broadcasting_attribute=None,
    documentation=(
        "Divides each element of A by the corresponding element of B.",
        "",
        "The shapes are joined by multidirectional broadcasting, as NumPy does it.",
        "",
        _TRUNCATION,
    ),
    clauses=(_MULTIDIRECTIONAL, *_EVERY_VERSION, *_INTEGERS),
    source=_source(7),
)

DIV_13 = replace(
    DIV_7,
    since_version=13,
    type_constraints=(
        TypeConstraint(
            "T", named("bfloat16 double float float16 int32 int64 uint32 uint64"), "High-precision numeric tensors."
        ),
    ),
    clauses=(*DIV_7.clauses, _BFLOAT16),
    source=_source(13),
)

DIV_14 = replace(
    DIV_13,
    since_version=14,
    type_constraints=(
        TypeConstraint(
            "T",
            named("bfloat16 double float float16 int16 int32 int64 int8 uint16 uint32 uint64 uint8"),
            "All numeric tensors.",
        ),
    ),
    documentation=(
        *DIV_13.documentation,
        "Operator set 14 adds the integers of 8 and 16 bits, signed and unsigned.",
    ),
    clauses=(*DIV_13.clauses, _NARROW),
    source=_source(14),
)
