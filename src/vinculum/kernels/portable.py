"""Division by NumPy alone: exact for every element type, and slower; it serves where no compiled core is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import ml_dtypes
import numpy as np
import numpy.typing as npt

from vinculum.kernels.contract import Arithmetic, Array, Exceptions, Index
from vinculum.kernels.float_environment import ieee_754
from vinculum.tensors.broadcasting import multidirectional
from vinculum.tensors.storage import is_nested

# Elements that are divided at once: what is computed with them beside operands and result stays in the cache.
_BLOCK = 8192

# NumPy computes with none of these. A quotient of two of their numbers that is rounded to binary32's 24 bits, and then
# to theirs, of which there are at most 11, is the quotient rounded once.
_WIDENED_TO = {
    np.dtype(narrow): np.dtype(np.float32)
    for narrow in (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
}
# ml_dtypes stores one element a byte, and the upper half of an operand's byte means nothing.
_STORED_AS = {np.dtype(ml_dtypes.int4): np.dtype(np.int8), np.dtype(ml_dtypes.uint4): np.dtype(np.uint8)}


class PortableDivision:
    """The division of one arithmetic; see `vinculum.kernels.contract.Division`."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic
        self._dtypes = {dtype: dtype for dtype in arithmetic.dtypes}
        self._raises = "raise" in (arithmetic.zero_divisor, arithmetic.overflow)

    def __call__(self, a: object, b: object, out: object, /) -> Array | Exceptions | None:
        """Divide."""
        operands = self._operands(a, b)
        if operands is None:
            return None
        dtype = self._dtypes[_native(operands[1].dtype)]
        try:
            shape = multidirectional(operands[0].shape, operands[1].shape).shape
            result = _new_result(shape, dtype, *operands) if out is None else out
        except ValueError:  # the shapes do not join, or to more elements than memory has addresses
            return None
        if type(result) is not np.ndarray or not _is_result(result, shape, dtype):
            return None
        if dtype.kind in "iu" or dtype in _STORED_AS:
            return self._divide_integers(*operands, result) or result
        _divide_floats(*operands, result)
        return result

    def _operands(self, a: object, b: object) -> tuple[Array, Array] | None:
        """Return dividend and divisor as arrays, None if they are no operands of the arithmetic."""
        arithmetic = self._arithmetic
        if arithmetic.reciprocal:
            divisor = _as_array(a)
            if b is not None or divisor is None or _native(divisor.dtype) not in self._dtypes:
                return None
            return np.ones((), _native(divisor.dtype)), divisor
        dividend, divisor = _as_array(a), _as_array(b)
        if dividend is None or divisor is None or not (arithmetic.broadcasts or dividend.shape == divisor.shape):
            return None
        dtype = _native(dividend.dtype)
        return (dividend, divisor) if dtype in self._dtypes and dtype == _native(divisor.dtype) else None

    def _divide_integers(self, dividend: Array, divisor: Array, result: Array) -> Exceptions | None:
        arithmetic, stored = self._arithmetic, _STORED_AS.get(result.dtype, result.dtype)
        signed, width = stored.kind == "i", 8 * stored.itemsize
        bits = width if stored == result.dtype else 4
        smallest, largest = (-1 << (bits - 1) if signed else 0), (1 << (bits - signed)) - 1
        zeros, overflows = _Found(result.shape), _Found(result.shape)
        # Where a policy raises, elements are taken in the order of their indices, so that the first is found first.
        views = [x if stored == result.dtype else x.view(stored) for x in (dividend, divisor, result)]
        with _blocks(views, stored, "C" if self._raises else "K") as blocks:
            for a, b, out in blocks:
                if bits < width:  # the upper half of a byte becomes the sign of the lower
                    a, b = ((x << (width - bits)) >> (width - bits) for x in (a, b))
                zero = b == 0
                overflow = (a == smallest) & (b == -1) if signed else np.zeros_like(zero)
                zeros.look_at(zero, blocks.iterindex)
                if arithmetic.overflow != "wrap":
                    overflows.look_at(overflow, blocks.iterindex)
                quotients = _quotients(a, np.where(zero | overflow, stored.type(1), b), floor=arithmetic.floor)
                if arithmetic.overflow == "saturate":
                    quotients[overflow] = largest  # else it is the dividend
                quotients[zero] = 0
                if arithmetic.zero_divisor == "saturate":
                    quotients[zero & (a > 0)] = largest
                    quotients[zero & (a < 0)] = smallest
                out[...] = quotients
        if (zeros.count and arithmetic.zero_divisor == "raise") or (overflows.count and arithmetic.overflow == "raise"):
            return Exceptions(result.size, zeros.count, zeros.first(), overflows.count, overflows.first())
        return None


class Portable:
    """The backend that needs nothing but NumPy; see `vinculum.kernels.contract.Backend`."""

    name = "portable"

    def division(self, arithmetic: Arithmetic) -> PortableDivision:
        """Return the division of an arithmetic."""
        return PortableDivision(arithmetic)

    def exclusive_or(self, a: Array, b: Array, out: Array) -> None:
        """Write the exclusive or of the operands' bits."""
        bits = np.dtype(f"u{out.dtype.itemsize}")
        np.bitwise_xor(a.view(bits), b.view(bits), out=out.view(bits))


def _as_array(operand: object) -> Array | None:
    if isinstance(operand, np.generic):
        return np.asarray(operand)
    return operand if type(operand) is np.ndarray else None


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.isnative else np.dtype(dtype.type)


def _new_result(shape: tuple[int, ...], dtype: np.dtype[Any], *operands: Array) -> Array:
    """Return a new array whose dimensions lie as those of the first operand that is not repeated, else row-major."""
    for operand in operands:
        whole = np.broadcast_to(operand, shape)
        if all(step or size == 1 for step, size in zip(whole.strides, shape, strict=True)):
            return np.empty_like(whole, dtype)
    return np.empty(shape, dtype)


def _is_result(out: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Whether quotients of that shape and element type can be written to an array, each to a place of its own."""
    is_of_them = out.dtype == dtype and out.shape == shape and out.flags.writeable
    return is_of_them and is_nested(shape, out.strides, dtype.itemsize)


def _blocks(arrays: Sequence[Array], operand: np.dtype[Any], order: Literal["C", "K"]) -> np.nditer:
    """Return an iterator over some thousand dividends, divisors and places of quotients at a time.

    NumPy converts operands block by block, and copies those that `out` lies across as a whole.
    """
    return np.nditer(
        arrays,
        flags=["external_loop", "buffered", "zerosize_ok", "copy_if_overlap"],
        op_flags=[
            ["readonly", "aligned", "overlap_assume_elementwise"],
            ["readonly", "aligned", "overlap_assume_elementwise"],
            ["writeonly", "aligned", "overlap_assume_elementwise"],
        ],
        op_dtypes=[operand, operand, arrays[2].dtype],
        order=order,
        casting="unsafe",
        buffersize=_BLOCK,
    )


def _divide_floats(dividend: Array, divisor: Array, result: Array) -> None:
    operand = _WIDENED_TO.get(result.dtype, result.dtype)
    with ieee_754(), _blocks((dividend, divisor, result), operand, "K") as blocks:
        for a, b, out in blocks:
            np.divide(a, b, out=out, casting="unsafe")
            out[np.isnan(out)] = np.nan  # always the same one


def _quotients(a: Array, b: Array, *, floor: bool) -> Array:
    """Divide integers of which every pair has a quotient."""
    quotients: Array = a // b
    if not floor and a.dtype.kind == "i":
        quotients += (quotients * b != a) & ((a < 0) != (b < 0))
    return quotients


class _Found:
    """How many elements of a kind there are in an array, and where the first is."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = 0
        self._shape = shape
        self._position = 0

    def look_at(self, affected: npt.NDArray[np.bool_], position: int) -> None:
        """Count those of a block that begins at a position in row-major order."""
        count = int(np.count_nonzero(affected))
        if count and not self.count:
            self._position = position + int(np.argmax(affected))
        self.count += count

    def first(self) -> Index | None:
        """Return the index of the first, None if there is none."""
        return tuple(int(i) for i in np.unravel_index(self._position, self._shape)) if self.count else None
