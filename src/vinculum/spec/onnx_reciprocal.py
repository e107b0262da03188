"""ONNX Reciprocal, versions 1, 6 and 13."""

from __future__ import annotations

from dataclasses import replace

from vinculum.spec.element_types import named
from vinculum.spec.model import (
    Broadcasting,
    Clause,
    Dialect,
    Operand,
    OperatorSpec,
    Source,
    TypeConstraint,
)
from vinculum.spec.onnx_div import ATTRIBUTES_OF_THIS_VERSION, CONSUMED_INPUTS, CONSUMED_INPUTS_HINT


def _source(version: int) -> Source:
    url = f"https://onnx.ai/onnx/operators/onnx__Reciprocal.html#reciprocal-{version}"
    return Source(f"ONNX operators, Reciprocal, version {version}", url)


_EVERY_VERSION = (
    Clause("element-by-element", "Y has the shape of X, and each element y is 1/x.", "Summary"),
    Clause(
        "one-element-type",
        "X and Y have one element type, which T allows; nothing is converted silently.",
        "Type Constraints, T is the one variable of both tensors",
    ),
    ATTRIBUTES_OF_THIS_VERSION,
    Clause(
        "ieee-754",
        "A reciprocal is the exact one rounded once, to nearest with ties to even, subnormals kept.",
        "the specification is silent here: this is the strictest accuracy that IEEE 754 has",
    ),
    Clause(
        "special-values",
        "1/0 is an infinity and 1/inf a zero, each of x's sign; 1/NaN is NaN, and nothing is raised.",
        "the specification is silent here: IEEE 754 decides, and no sign or payload of a NaN is compared",
    ),
)
_INFERENCE_NOT_PROMISED = Clause(
    "shape-inference-not-promised",
    "The shape and type of Y are inferred all the same, as those of X.",
    "Version, no shape inference; Summary, 1/x for each element settles what there is to infer",
)
_BFLOAT16 = Clause("bfloat16", "bfloat16 is inverted too, and rounded once.", "Type Constraints, T from version 13 on")

RECIPROCAL_1 = OperatorSpec(
    dialect=Dialect.ONNX,
    domain="",
    name="Reciprocal",
    since_version=1,
    variant=None,
    inputs=(Operand("X", "T", "The divisors; every dividend is 1."),),
    outputs=(Operand("Y", "T", "The reciprocals, of X's shape and type."),),
    attributes=(CONSUMED_INPUTS,),
    type_constraints=(TypeConstraint("T", named("double float float16"), "Floating-point tensors."),),
    broadcasting={None: Broadcasting.EQUAL},
    broadcasting_attribute=None,
    integer_rounding={},
    integer_rounding_attribute=None,
    shape_inference=False,
    function=False,
    support_level="COMMON",
    documentation=("Replaces each element x of X by its reciprocal, 1/x.",),
    clauses=(*_EVERY_VERSION, CONSUMED_INPUTS_HINT, _INFERENCE_NOT_PROMISED),
    source=_source(1),
)

RECIPROCAL_6 = replace(
    RECIPROCAL_1,
    since_version=6,
    attributes=(),
    shape_inference=True,
    clauses=_EVERY_VERSION,
    source=_source(6),
)

RECIPROCAL_13 = replace(
    RECIPROCAL_6,
    since_version=13,
    type_constraints=(TypeConstraint("T", named("bfloat16 double float float16"), "Floating-point tensors."),),
    clauses=(*RECIPROCAL_6.clauses, _BFLOAT16),
    source=_source(13),
)
