"""How other specifications divide integers: rows of small numbers under every rounding, x/0 and MIN/-1 that they have.

What a specification says was read there; where one leaves the quotient open, or defines the division away, a row has
none. Those whose rounding is not written down, as SPIR-V's, PTX's and NNAPI's, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from vinculum.conformance.vectors.elements import elements_text
from vinculum.conformance.vectors.records import ConventionLine, Standing, Tensor
from vinculum.reference.exact_quotient import floor, truncating
from vinculum.spec.element_types import (
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ElementType,
    Kind,
)
from vinculum.tensors.storage import dtype_of


def euclidean(a: int, b: int) -> int:
    """Return a / b rounded so that the remainder is not negative, b not 0."""
    return a // b if b > 0 else -(a // -b)


class Rounding(Enum):
    """How the quotient of two integers becomes an integer."""

    TRUNCATING = "truncating"
    FLOOR = "floor"
    EUCLIDEAN = "euclidean"


class ByZero(Enum):
    """What x/0 gives."""

    UNSPECIFIED = "is unspecified"
    REFUSED = "must be refused"
    DIVIDEND = "gives x"
    ZERO = "gives 0"
    ALL_ONES = "gives all ones"


class Overflow(Enum):
    """What MIN/-1 gives."""

    UNSPECIFIED = "is unspecified"
    REFUSED = "must be refused"
    MINIMUM = "gives MIN"


@dataclass(frozen=True)
class Specification:
    """A division of integers by another specification.

    Attributes
    ----------
    name : str
        The specification, and the operator.
    rounding : Rounding
        How it rounds.
    by_zero, overflow : ByZero, Overflow
        What becomes of the divisions that have no quotient.
    element_types : tuple of ElementType
        Those integers that it divides.
    source : str
        Where that is written.
    """

    name: str
    rounding: Rounding
    by_zero: ByZero
    overflow: Overflow
    element_types: tuple[ElementType, ...]
    source: str


_SIGNED = (INT8, INT16, INT32, INT64)
_ALL = (*_SIGNED, UINT8, UINT16, UINT32, UINT64)
_UP_TO_32 = (INT8, INT16, INT32, UINT8, UINT16, UINT32)
_OF_WEBNN = (INT8, INT32, INT64, UINT8, UINT32, UINT64)
_TRUNC, _FLOOR, _EUCLID = Rounding
_OPEN = ByZero.UNSPECIFIED, Overflow.UNSPECIFIED
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
    ("SONNX Div", _TRUNC, ByZero.REFUSED, Overflow.REFUSED, _ALL, "github.com/onnx/working-groups"),
    ("StableHLO divide", _TRUNC, *_OPEN, _ALL, "github.com/openxla/stablehlo/blob/main/docs/spec.md#divide"),
    ("jax.lax.div", _TRUNC, *_OPEN, _ALL, "docs.jax.dev/en/latest/_autosummary/jax.lax.div.html"),
    ("TOSA INTDIV", _TRUNC, *_OPEN, (INT32, INT64), "www.mlplatform.org/tosa/tosa_spec.html#_intdiv"),
    ("WebNN div", _TRUNC, *_OPEN, _OF_WEBNN, "www.w3.org/TR/webnn/#api-mlgraphbuilder-binary"),
    ("DirectML ELEMENT_WISE_DIVIDE", _TRUNC, *_OPEN, _UP_TO_32, _DML),
    ("WGSL /", _TRUNC, ByZero.DIVIDEND, Overflow.MINIMUM, (INT32, UINT32), "www.w3.org/TR/WGSL/#arithmetic-expr"),
    ("Direct3D udiv", _TRUNC, ByZero.ALL_ONES, Overflow.UNSPECIFIED, (UINT32,),
     "learn.microsoft.com/windows/win32/direct3dhlsl/udiv--sm5---asm-"),
    ("MLIR arith.divsi, arith.divui", _TRUNC, *_OPEN, _ALL, _ARITH),
    ("MLIR arith.floordivsi", _FLOOR, *_OPEN, _SIGNED, _ARITH),
    ("TFLite DIV", _TRUNC, *_OPEN, (INT32,), f"{_TFLITE}/div.cc"),
    ("TFLite FLOOR_DIV", _FLOOR, ByZero.REFUSED, Overflow.UNSPECIFIED, (INT32,), f"{_TFLITE}/floor_div.cc"),
    ("Core ML floor_div", _FLOOR, *_OPEN, (INT32,), _MIL),
    ("XNNPACK divide", _EUCLID, ByZero.ZERO, Overflow.UNSPECIFIED, (INT32,), _XNNPACK),
    ("numpy.floor_divide", _FLOOR, ByZero.ZERO, Overflow.MINIMUM, _ALL,
     "numpy.org/doc/stable/reference/generated/numpy.floor_divide.html"),
    ('torch.div, rounding_mode="trunc"', _TRUNC, *_OPEN, (*_SIGNED, UINT8), _TORCH),
    ('torch.div, rounding_mode="floor"', _FLOOR, *_OPEN, (*_SIGNED, UINT8), _TORCH),
    ("tf.truncatediv", _TRUNC, *_OPEN, _ALL, f"{_TENSORFLOW}/truncatediv"),
    ("tf.math.floordiv", _FLOOR, *_OPEN, _ALL, f"{_TENSORFLOW}/math/floordiv"),
))  # fmt: skip

_QUOTIENT: dict[Rounding, Callable[[int, int], int]] = {
    Rounding.TRUNCATING: truncating,
    Rounding.FLOOR: floor,
    Rounding.EUCLIDEAN: euclidean,
}
_STANDING = {"is unspecified": Standing.UNSPECIFIED, "must be refused": Standing.REFUSED}


def convention_lines() -> Iterator[ConventionLine]:
    """Yield every row: for each element type ordinary quotients, x/0 and MIN/-1, under each convention there is."""
    for element_type in _ALL:
        own = [specification for specification in SPECIFICATIONS if element_type in specification.element_types]
        for rounding in Rounding:
            named = [s.name for s in own if s.rounding is rounding]
            if named:
                yield _ordinary(element_type, rounding, named)
        for by_zero in ByZero:
            for rounding in Rounding:
                named = [s.name for s in own if s.by_zero is by_zero and s.rounding is rounding]
                if named:
                    yield _by_zero(element_type, rounding, by_zero, named)
        for overflow in Overflow if element_type.kind is Kind.SIGNED else ():
            for rounding in Rounding:
                named = [s.name for s in own if s.overflow is overflow and s.rounding is rounding]
                if named:
                    yield _overflow(element_type, rounding, overflow, named)


def _ordinary(element_type: ElementType, rounding: Rounding, named: Sequence[str]) -> ConventionLine:
    dividends, divisors = _dividends(element_type), [b for b in _dividends(element_type) if b]
    overflow = (element_type.minimum, -1) if element_type.kind is Kind.SIGNED else None
    pairs = [(a, b) for a in dividends for b in divisors if (a, b) != overflow]
    quotients = [_QUOTIENT[rounding](a, b) for a, b in pairs]
    return _line(element_type, rounding, "ordinary quotients", named, pairs, Standing.EXACT, quotients)


def _by_zero(element_type: ElementType, rounding: Rounding, by_zero: ByZero, named: Sequence[str]) -> ConventionLine:
    pairs = [(a, 0) for a in _dividends(element_type)]
    ones = -1 if element_type.kind is Kind.SIGNED else element_type.maximum
    given = {
        ByZero.DIVIDEND: [a for a, _ in pairs],
        ByZero.ZERO: [0] * len(pairs),
        ByZero.ALL_ONES: [ones] * len(pairs),
    }
    standing = _STANDING.get(by_zero.value, Standing.EXACT)
    return _line(element_type, rounding, f"x/0 {by_zero.value}", named, pairs, standing, given.get(by_zero))


def _overflow(
    element_type: ElementType, rounding: Rounding, overflow: Overflow, named: Sequence[str]
) -> ConventionLine:
    pairs = [(element_type.minimum, -1)]
    quotients = [element_type.minimum] if overflow is Overflow.MINIMUM else None
    standing = _STANDING.get(overflow.value, Standing.EXACT)
    return _line(element_type, rounding, f"MIN/-1 {overflow.value}", named, pairs, standing, quotients)


def _dividends(element_type: ElementType) -> list[int]:
    """Return small numbers of both signs, and the ends of the type's range."""
    small = [-8, -7, -6, -3, -2, -1, 0, 1, 2, 3, 6, 7, 8]
    ends = [element_type.minimum, element_type.minimum + 1, element_type.maximum - 1, element_type.maximum]
    return sorted({number for number in (*small, *ends) if number >= element_type.minimum})


def _line(
    element_type: ElementType,
    rounding: Rounding,
    convention: str,
    named: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    standing: Standing,
    quotients: Sequence[int] | None,
) -> ConventionLine:
    operands = tuple(_tensor([pair[place] for pair in pairs], element_type) for place in (0, 1))
    quotient = None if quotients is None else _tensor(quotients, element_type)
    if standing is Standing.UNSPECIFIED:
        quotient = Tensor(element_type.name, (len(pairs),), " ".join("-" for _ in pairs))
    return ConventionLine(
        id=f"{rounding.value}/{element_type}/{convention}",
        standing=standing,
        rounding=rounding.value,
        convention=convention,
        specifications=tuple(named),
        operands=operands,
        quotient=quotient,
    )


def _tensor(numbers: Sequence[int], element_type: ElementType) -> Tensor:
    array = np.array(numbers, dtype_of(element_type))
    return Tensor(element_type.name, array.shape, elements_text(array, element_type))
