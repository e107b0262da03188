"""How other specifications divide integers: rows of small numbers, x/0 and MIN/-1 for every rounding they define.

The rules were read in the specifications themselves. Where a specification does not define the quotient, or forbids
the division, the row has no quotient. Specifications without a written rounding (SPIR-V, PTX, NNAPI) are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product

import numpy as np

from vinculum.conformance.vectors.records import ConventionLine, Standing, tensor_of
from vinculum.reference.exact_quotient import floor, truncating
from vinculum.spec.element_types import INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, ElementType, Kind
from vinculum.tensors.storage import dtype_of


def euclidean(a: int, b: int) -> int:
    """Return a / b rounded so that the remainder is at least 0; b must not be 0."""
    return a // b if b > 0 else -(a // -b)


ROUNDINGS: Mapping[str, Callable[[int, int], int]] = {"truncating": truncating, "floor": floor, "euclidean": euclidean}
"""How the quotient of two integers becomes an integer, by name."""


class Outcome(Enum):
    """The result of a division without a quotient of its type: x/0 and MIN/-1."""

    UNSPECIFIED = "is unspecified"
    REFUSED = "must be refused"
    DIVIDEND = "gives x"
    ZERO = "gives 0"
    ALL_ONES = "gives all ones"
    MINIMUM = "gives MIN"


@dataclass(frozen=True)
class Specification:
    """The integer division of another specification.

    - `name`: The specification and the operator.
    - `rounding`: One of `ROUNDINGS`.
    - `by_zero`, `overflow`: The results of x/0 and of MIN/-1.
    - `source`: The address of the text.
    """

    name: str
    rounding: str
    by_zero: Outcome
    overflow: Outcome
    element_types: tuple[ElementType, ...]
    source: str


_SIGNED = (INT8, INT16, INT32, INT64)
_ALL = (*_SIGNED, UINT8, UINT16, UINT32, UINT64)
_UP_TO_32 = (INT8, INT16, INT32, UINT8, UINT16, UINT32)
_OF_WEBNN = (INT8, INT32, INT64, UINT8, UINT32, UINT64)
_TRUNC, _FLOOR, _EUCLID = ROUNDINGS
_OPEN = Outcome.UNSPECIFIED, Outcome.UNSPECIFIED
_ARITH = "mlir.llvm.org/docs/Dialects/ArithOps/"
_DIVIDE = (
    "docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/arithmetic/divide-1.html"
)
_DML = "learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_divide_operator_desc"
_MIL = "apple.github.io/coremltools/source/coremltools.converters.mil.mil.ops.defs.html"
_TENSORFLOW = "www.tensorflow.org/api_docs/python/tf"
_TFLITE = "github.com/tensorflow/tensorflow/blob/master/tensorflow/lite/kernels"
_TORCH = "docs.pytorch.org/docs/stable/generated/torch.div.html"
_XNNPACK = "github.com/google/XNNPACK/blob/master/src/reference/binary-elementwise.cc"

SPECIFICATIONS = tuple(Specification(*row) for row in (
    ("ONNX Div", _TRUNC, *_OPEN, _ALL, "onnx.ai/onnx/operators/onnx__Div.html"),
    ("OpenVINO Divide, m_pythondiv=true", _FLOOR, *_OPEN, _ALL, _DIVIDE),
    ("OpenVINO Divide, m_pythondiv=false", _TRUNC, *_OPEN, _ALL, _DIVIDE),
    ("SONNX Div", _TRUNC, Outcome.REFUSED, Outcome.REFUSED, _ALL, "github.com/onnx/working-groups"),
    ("StableHLO divide", _TRUNC, *_OPEN, _ALL, "github.com/openxla/stablehlo/blob/main/docs/spec.md#divide"),
    ("jax.lax.div", _TRUNC, *_OPEN, _ALL, "docs.jax.dev/en/latest/_autosummary/jax.lax.div.html"),
    ("TOSA INTDIV", _TRUNC, *_OPEN, (INT32, INT64), "www.mlplatform.org/tosa/tosa_spec.html#_intdiv"),
    ("WebNN div", _TRUNC, *_OPEN, _OF_WEBNN, "www.w3.org/TR/webnn/#api-mlgraphbuilder-binary"),
    ("DirectML ELEMENT_WISE_DIVIDE", _TRUNC, *_OPEN, _UP_TO_32, _DML),
    ("WGSL /", _TRUNC, Outcome.DIVIDEND, Outcome.MINIMUM, (INT32, UINT32), "www.w3.org/TR/WGSL/#arithmetic-expr"),
    ("Direct3D udiv", _TRUNC, Outcome.ALL_ONES, Outcome.UNSPECIFIED, (UINT32,),
     "learn.microsoft.com/windows/win32/direct3dhlsl/udiv--sm5---asm-"),
    ("MLIR arith.divsi, arith.divui", _TRUNC, *_OPEN, _ALL, _ARITH),
    ("MLIR arith.floordivsi", _FLOOR, *_OPEN, _SIGNED, _ARITH),
    ("TFLite DIV", _TRUNC, *_OPEN, (INT32,), f"{_TFLITE}/div.cc"),
    ("TFLite FLOOR_DIV", _FLOOR, Outcome.REFUSED, Outcome.UNSPECIFIED, (INT32,), f"{_TFLITE}/floor_div.cc"),
    ("Core ML floor_div", _FLOOR, *_OPEN, (INT32,), _MIL),
    ("XNNPACK divide", _EUCLID, Outcome.ZERO, Outcome.UNSPECIFIED, (INT32,), _XNNPACK),
    ("numpy.floor_divide", _FLOOR, Outcome.ZERO, Outcome.MINIMUM, _ALL,
     "numpy.org/doc/stable/reference/generated/numpy.floor_divide.html"),
    ('torch.div, rounding_mode="trunc"', _TRUNC, *_OPEN, (*_SIGNED, UINT8), _TORCH),
    ('torch.div, rounding_mode="floor"', _FLOOR, *_OPEN, (*_SIGNED, UINT8), _TORCH),
    ("tf.truncatediv", _TRUNC, *_OPEN, _ALL, f"{_TENSORFLOW}/truncatediv"),
    ("tf.math.floordiv", _FLOOR, *_OPEN, _ALL, f"{_TENSORFLOW}/math/floordiv"),
))  # fmt: skip

_STANDING = {Outcome.UNSPECIFIED: Standing.UNSPECIFIED, Outcome.REFUSED: Standing.REFUSED}

Pairs = Sequence[tuple[int, int]]


def convention_lines() -> Iterator[ConventionLine]:
    """Yield all rows: for each element type, ordinary quotients, x/0 and MIN/-1 under each existing convention."""
    for t in _ALL:
        own = [specification for specification in SPECIFICATIONS if t in specification.element_types]
        numbers, overflow = _numbers(t), (t.minimum, -1)
        ordinary = [(a, b) for a in numbers for b in numbers if b and (a, b) != overflow]
        for rounding, divided in ROUNDINGS.items():
            if named := [s.name for s in own if s.rounding == rounding]:
                quotients = [divided(a, b) for a, b in ordinary]
                yield _line(t, rounding, "ordinary quotients", named, ordinary, Standing.EXACT, quotients)
        yield from _without_quotient("x/0", t, [(a, 0) for a in numbers], [(s, s.by_zero) for s in own])
        if t.kind is Kind.SIGNED:
            yield from _without_quotient("MIN/-1", t, [overflow], [(s, s.overflow) for s in own])


def _without_quotient(
    what: str, t: ElementType, pairs: Pairs, own: Sequence[tuple[Specification, Outcome]]
) -> Iterator[ConventionLine]:
    fixed = {Outcome.ALL_ONES: -1 if t.kind is Kind.SIGNED else t.maximum, Outcome.MINIMUM: t.minimum}
    for outcome, rounding in product(Outcome, ROUNDINGS):
        if named := [s.name for s, gives in own if (gives, s.rounding) == (outcome, rounding)]:
            given = [a if outcome is Outcome.DIVIDEND else fixed.get(outcome, 0) for a, _ in pairs]
            standing = _STANDING.get(outcome, Standing.EXACT)
            yield _line(t, rounding, f"{what} {outcome.value}", named, pairs, standing, given)


def _numbers(t: ElementType) -> list[int]:
    """Return small numbers of both signs, and the limits of the type's range."""
    small = [-8, -7, -6, -3, -2, -1, 0, 1, 2, 3, 6, 7, 8]
    ends = [t.minimum, t.minimum + 1, t.maximum - 1, t.maximum]
    return sorted({number for number in (*small, *ends) if number >= t.minimum})


def _line(
    t: ElementType,
    rounding: str,
    convention: str,
    named: Sequence[str],
    pairs: Pairs,
    standing: Standing,
    quotients: Sequence[int],
) -> ConventionLine:
    unspecified = np.full(len(pairs), standing is Standing.UNSPECIFIED)
    dtype = dtype_of(t)
    return ConventionLine(
        id=f"{rounding}/{t}/{convention}",
        standing=standing,
        rounding=rounding,
        convention=convention,
        specifications=tuple(named),
        operands=tuple(tensor_of(np.array(numbers, dtype)) for numbers in zip(*pairs, strict=True)),
        quotient=None if standing is Standing.REFUSED else tensor_of(np.array(quotients, dtype), unspecified),
    )
