"""ONNX Reciprocal, versions 1, 6 and 13."""

from __future__ import annotations

from dataclasses import replace

from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16
from vinculum.spec.model import (
    Attribute,
    Broadcasting,
    Clause,
    Dialect,
    Operand,
    OperatorSpec,
    Source,
    TypeConstraint,
)


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
    Clause(
        "attributes-of-this-version",
        "An attribute that this version does not list, or of another type than it lists, is refused.",
        "Attributes, which lists them all, or is not there; ONNX's own checker refuses any other",
    ),
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
_HINT = Clause(
    "consumed-inputs-hint",
    "consumed_inputs is checked to be a list of integers and changes no result.",
    "Attributes, consumed_inputs is a legacy",
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
    attributes=(
        Attribute("consumed_inputs", "INTS", None, False, "A hint of old optimizers, without effect.", hint=True),
    ),
    type_constraints=(TypeConstraint("T", (DOUBLE, FLOAT, FLOAT16), "Floating-point tensors."),),
    broadcasting={None: Broadcasting.EQUAL},
    broadcasting_attribute=None,
    integer_rounding={},
    integer_rounding_attribute=None,
    shape_inference=False,
    function=False,
    support_level="COMMON",
    documentation=("Replaces each element x of X by its reciprocal, 1/x.",),
    clauses=(*_EVERY_VERSION, _HINT, _INFERENCE_NOT_PROMISED),
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
    type_constraints=(TypeConstraint("T", (BFLOAT16, DOUBLE, FLOAT, FLOAT16), "Floating-point tensors."),),
    clauses=(*RECIPROCAL_6.clauses, _BFLOAT16),
    source=_source(13),
)
