"""The element types of the five documents, and the one table that maps their names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TypeVar

from vinculum.errors import SpecLookupError

K = TypeVar("K")


class Kind(Enum):
    """The arithmetic that an element type follows."""

    REAL = "real"
    FLOAT = "float"
    SIGNED = "signed integer"
    UNSIGNED = "unsigned integer"


@dataclass(frozen=True)
class BinaryFormat:
    """A binary floating-point format in the terms of IEEE 754."""

    significand_bits: int  # The precision p, the implicit leading bit included.
    exponent_bits: int  # Width of the biased exponent.
    infinities: bool = True  # float8e4m3fn has none: its largest exponent encodes numbers and NaN.

    @cached_property
    def bias(self) -> int:
        """The exponent bias."""
        return (1 << (self.exponent_bits - 1)) - 1

    @cached_property
    def trailing_bits(self) -> int:
        """Width of the trailing significand field."""
        return self.significand_bits - 1

    @cached_property
    def smallest_exponent(self) -> int:
        """The exponent of the smallest normal number, a power of two."""
        return 1 - self.bias

    @cached_property
    def subnormal_exponent(self) -> int:
        """The exponent of the smallest subnormal number, a power of two: the spacing near zero."""
        return self.smallest_exponent - self.trailing_bits

    @cached_property
    def sign_mask(self) -> int:
        """The sign bit of an encoding."""
        return 1 << (self.trailing_bits + self.exponent_bits)

    @cached_property
    def nan(self) -> int:
        """The encoding of the quiet NaN that results carry."""
        all_ones = self.sign_mask - 1
        return all_ones - (1 << (self.trailing_bits - 1)) + 1 if self.infinities else all_ones

    @cached_property
    def largest(self) -> int:
        """The encoding of the largest finite number."""
        return (((1 << self.exponent_bits) - 1) << self.trailing_bits) - 1 if self.infinities else self.nan - 1


@dataclass(frozen=True)
class ElementType:
    """An element type with its names."""

    name: str  # ONNX's, as in tensor(float16); "real" for the SONNX reals, which ONNX lacks.
    openvino: str | None  # As in the element_type attribute of an IR file.
    numpy: str  # NumPy's or ml_dtypes'.
    c: str | None  # C11's or C23's, None where C has none.
    kind: Kind
    bits: int  # Width of an encoding; 0 for the reals.
    onnx_code: int | None  # The number in onnx.TensorProto.DataType.
    binary_format: BinaryFormat | None = None  # Of the floating-point types.

    def __str__(self) -> str:
        return self.name

    @cached_property
    def is_integer(self) -> bool:
        """Whether the type is a signed or unsigned integer."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @cached_property
    def minimum(self) -> int:
        """The smallest value of an integer type."""
        return -(1 << (self.bits - 1)) if self.kind is Kind.SIGNED else 0

    @cached_property
    def maximum(self) -> int:
        """The largest value of an integer type."""
        return (1 << (self.bits - 1 if self.kind is Kind.SIGNED else self.bits)) - 1


def _float(name: str, openvino: str, numpy: str, c: str | None, code: int, form: BinaryFormat) -> ElementType:
    bits = form.significand_bits + form.exponent_bits
    return ElementType(name, openvino, numpy, c, Kind.FLOAT, bits, code, form)


#                     ONNX            OpenVINO  NumPy, ml_dtypes   C             number, format
BFLOAT16 = _float("bfloat16", "bf16", "bfloat16", None, 16, BinaryFormat(8, 8))
FLOAT16 = _float("float16", "f16", "float16", "_Float16", 10, BinaryFormat(11, 5))
FLOAT = _float("float", "f32", "float32", "float", 1, BinaryFormat(24, 8))
DOUBLE = _float("double", "f64", "float64", "double", 11, BinaryFormat(53, 11))
FLOAT8E4M3FN = _float("float8e4m3fn", "f8e4m3", "float8_e4m3fn", None, 17, BinaryFormat(4, 4, infinities=False))
FLOAT8E5M2 = _float("float8e5m2", "f8e5m2", "float8_e5m2", None, 19, BinaryFormat(3, 5))

INT4 = ElementType("int4", "i4", "int4", None, Kind.SIGNED, 4, 22)
INT8 = ElementType("int8", "i8", "int8", "int8_t", Kind.SIGNED, 8, 3)
INT16 = ElementType("int16", "i16", "int16", "int16_t", Kind.SIGNED, 16, 5)
INT32 = ElementType("int32", "i32", "int32", "int32_t", Kind.SIGNED, 32, 6)
INT64 = ElementType("int64", "i64", "int64", "int64_t", Kind.SIGNED, 64, 7)
UINT4 = ElementType("uint4", "u4", "uint4", None, Kind.UNSIGNED, 4, 21)
UINT8 = ElementType("uint8", "u8", "uint8", "uint8_t", Kind.UNSIGNED, 8, 2)
UINT16 = ElementType("uint16", "u16", "uint16", "uint16_t", Kind.UNSIGNED, 16, 4)
UINT32 = ElementType("uint32", "u32", "uint32", "uint32_t", Kind.UNSIGNED, 32, 12)
UINT64 = ElementType("uint64", "u64", "uint64", "uint64_t", Kind.UNSIGNED, 64, 13)

REAL = ElementType("real", None, "object", None, Kind.REAL, 0, None)

ELEMENT_TYPES = (
    BFLOAT16, FLOAT16, FLOAT, DOUBLE, FLOAT8E4M3FN, FLOAT8E5M2,
    INT4, INT8, INT16, INT32, INT64, UINT4, UINT8, UINT16, UINT32, UINT64,
    REAL,
)  # fmt: skip

_BY_NAME = {t.name: t for t in ELEMENT_TYPES}
_BY_OPENVINO = {t.openvino: t for t in ELEMENT_TYPES if t.openvino}
_BY_NUMPY = {t.numpy: t for t in ELEMENT_TYPES}
_BY_CODE = {t.onnx_code: t for t in ELEMENT_TYPES if t.onnx_code}


def by_name(name: str) -> ElementType:
    """Return the element type of an ONNX name, ``"float"`` or ``"tensor(float)"``, or of SONNX's ``"real"``.

    SpecLookupError if no document has that type; the functions below raise it too.
    """
    return _find(_BY_NAME, name.removeprefix("tensor(").removesuffix(")"), "element type")


def named(names: str) -> tuple[ElementType, ...]:
    """Return the element types of several ONNX names: ``"double float float16"``."""
    return tuple(map(by_name, names.split()))


def by_openvino_name(name: str) -> ElementType:
    """Return the element type of an OpenVINO name, ``"f32"`` (or ``"FP32"`` of older IR files)."""
    lowered = name.lower()
    return _find(_BY_OPENVINO, "f" + lowered[2:] if lowered.startswith("fp") else lowered, "OpenVINO element type")


def by_numpy_name(name: str) -> ElementType:
    """Return the element type of a NumPy or ml_dtypes name, ``"float32"``."""
    return _find(_BY_NUMPY, name, "NumPy element type")


def by_onnx_code(code: int) -> ElementType:
    """Return the element type of a number of ``onnx.TensorProto.DataType``."""
    return _find(_BY_CODE, code, "ONNX element type number")


def _find(table: dict[K, ElementType], key: K, what: str) -> ElementType:
    try:
        return table[key]
    except KeyError:
        allowed = ", ".join(str(k) for k in table)
        raise SpecLookupError(f"{what} {key!r} is not one that divides; allowed: {allowed}") from None
