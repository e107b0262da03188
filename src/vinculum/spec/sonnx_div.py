"""SONNX Div: three operators of one name, for reals, floating-point numbers and integers."""

from __future__ import annotations

from dataclasses import replace

from vinculum.spec.element_types import named
from vinculum.spec.model import (
    Broadcasting,
    Clause,
    Dialect,
    IntegerRounding,
    Operand,
    OperatorSpec,
    Source,
    TypeConstraint,
)


def _source(variant: str) -> Source:
    url = "https://github.com/onnx/working-groups/tree/main/safety-related-profile"
    return Source(f"SONNX, Div ({variant}, {variant})", url)


_SHAPES = Clause("[C1]", "A, B and C have the same shape: there is no broadcasting.", "Inputs, A, [C1]")
_TYPES = Clause("[C2]", "A, B and C have the same element type.", "Inputs, A, [C2]")
_GENERAL = (
    Clause("[GR1]", "No operand is a sparse tensor.", "General restrictions, [GR1]"),
    Clause(
        "[GR2]",
        "Every operand states its element type, so that a Python list or a bare number is refused.",
        "General restrictions, [GR2], numerical types are explicit and never inferred",
    ),
    Clause("[GR3]", "No operand is converted to another element type.", "General restrictions, [GR3]"),
    Clause(
        "[GR4]",
        "No operand has a default value, and there is no attribute that has one.",
        "General restrictions, [GR4]",
    ),
)
_PROPAGATED = Clause(
    "propagated-error",
    "Operands in error by A_err and B_err put C in error by at most (|A_err| + |A/B| |B_err|) / |B + B_err|.",
    "Numeric accuracy note, corrected: 1/2 with B_err = 0.5 errs by 0.1, where the note allows 0.05",
)

DIV_REAL = OperatorSpec(
    dialect=Dialect.SONNX,
    domain="",
    name="Div",
    since_version=1,
    variant="real",
    inputs=(Operand("A", "T", "The dividend."), Operand("B", "T", "The divisor.")),
    outputs=(Operand("C", "T", "The quotient."),),
    attributes=(),
    type_constraints=(TypeConstraint("T", named("real"), "Real tensors; ours hold exact rationals."),),
    broadcasting={None: Broadcasting.EQUAL},
    broadcasting_attribute=None,
    integer_rounding={},
    integer_rounding_attribute=None,
    shape_inference=True,
    function=False,
    support_level="",
    documentation=(
        "Divides each element of A by the element of B at the same index.",
        "The quotient is the mathematical one, undefined where B is zero.",
    ),
    clauses=(
        Clause(
            "exact-quotient",
            "Each element of C is the exact quotient.",
            "Informal specification, the formula",
        ),
        _SHAPES,
        Clause("[C2]", "No element of B is zero.", "Inputs, B, [C2]"),
        Clause("no-error-condition", "There is no error condition: error_conditions is empty.", "Error conditions"),
        *_GENERAL,
        _PROPAGATED,
    ),
    source=_source("real"),
)

DIV_FLOAT = replace(
    DIV_REAL,
    variant="float",
    type_constraints=(TypeConstraint("T", named("float16 float double"), "Floating-point tensors."),),
    documentation=(
        "Divides each element of A by the element of B at the same index.",
        "The quotient is that of IEEE 754: x/0 is an infinity, and 0/0 is NaN.",
    ),
    clauses=(
        Clause(
            "ieee-754",
            "A quotient is the exact one rounded once, to nearest with ties to even; subnormals are kept.",
            "Informal specification, semantics of IEEE 754; on the rounding direction the specification is silent here",
        ),
        Clause(
            "special-values",
            "x/0 is an infinity and 0/x a zero, signed by the exclusive-or of the signs; 0/0 is NaN.",
            "Informal specification; on 0/x, inf and NaN/0 the specification is silent here: IEEE 754 decides",
        ),
        Clause(
            "zero-by-zero-error-condition",
            "Where both operands are zero C is NaN, reported by error_conditions and not raised.",
            "Error conditions",
        ),
        _SHAPES,
        _TYPES,
        *_GENERAL,
        _PROPAGATED,
        Clause(
            "introduced-error",
            "Rounding errs by at most half the spacing of the numbers around the quotient.",
            "Numeric accuracy note; IEEE 754, below the normal range half the smallest subnormal",
        ),
    ),
    source=_source("float"),
)

DIV_INT = replace(
    DIV_REAL,
    variant="int",
    type_constraints=(
        TypeConstraint("T", named("int8 int16 int32 int64 uint8 uint16 uint32 uint64"), "Integer tensors."),
    ),
    integer_rounding={None: IntegerRounding.TRUNCATING},
    documentation=(
        "Divides each element of A by the element of B at the same index.",
        "The quotient is the mathematical one, its fraction discarded.",
    ),
    clauses=(
        Clause(
            "truncating-division",
            "Each element of C is the exact quotient rounded toward zero: -35/3 is -11.",
            "Informal specification, the fractional part is discarded; example 1",
        ),
        _SHAPES,
        _TYPES,
        Clause(
            "[C3]",
            "No element of B is zero.",
            "Inputs, B, [C3]",
        ),
        Clause(
            "null-denominator",
            "What a null denominator gives is the implementation's choice: ours refuses it, naming the first.",
            "Error conditions",
        ),
        Clause(
            "[V1]",
            "MIN/-1 is outside the type: it is refused, or MIN if overflow is 'wrap'.",
            "the specification is silent here: the quotient is outside the type; the tag is ours",
        ),
        *_GENERAL,
        _PROPAGATED,
        Clause(
            "introduced-error",
            "Discarding the fraction errs by less than 1.",
            "Numeric accuracy note, corrected: it allows 0.5, but 5/3 discards 2/3",
        ),
    ),
    source=_source("int"),
)
