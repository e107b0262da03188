"""Division by NumPy alone: exact for every element type, but slower; used where there is no compiled core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import ml_dtypes
import numpy as np
import numpy.typing as npt

from vinculum.kernels.contract import Arithmetic, Array, Exceptions, Index
from vinculum.kernels.float_environment import ieee_754
from vinculum.tensors.broadcasting import multidirectional
from vinculum.tensors.storage import is_nested, native_dtype

# Elements that are divided at once, few enough that all intermediate arrays fit in the cache.
_BLOCK = 8192

# These are divided in binary32. Rounding a quotient to its 24 bits, and then to at most 11, gives the same as rounding
# it once.
_WIDENED_TO = {
    np.dtype(narrow): np.dtype(np.float32)
    for narrow in (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
}
# ml_dtypes stores one element in a byte, whose upper half has no meaning in an operand.
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
        dtype = self._dtypes[native_dtype(operands[1].dtype)]
        try:
            shape = multidirectional(operands[0].shape, operands[1].shape).shape
            result = _new_result(shape, dtype, *operands) if out is None else out
        except ValueError:  # The shapes do not broadcast, or the result is too large.
            return None
        if type(result) is not np.ndarray or not _is_result(result, shape, dtype):
            return None
        if dtype.kind in "iu" or dtype in _STORED_AS:
            return self._divide_integers(*operands, result) or result
        _divide_floats(*operands, result)
        return result

    def _operands(self, a: object, b: object) -> tuple[Array, Array] | None:
        """Return dividend and divisor as arrays; None if the arithmetic does not take them."""
        arithmetic = self._arithmetic
        if arithmetic.reciprocal:
            divisor = _as_array(a)
            if b is not None or divisor is None or native_dtype(divisor.dtype) not in self._dtypes:
                return None
            return np.ones((), native_dtype(divisor.dtype)), divisor
        dividend, divisor = _as_array(a), _as_array(b)
        if dividend is None or divisor is None or not (arithmetic.broadcasts or dividend.shape == divisor.shape):
            return None
        dtype = native_dtype(dividend.dtype)
        return (dividend, divisor) if dtype in self._dtypes and dtype == native_dtype(divisor.dtype) else None

    def _divide_integers(self, dividend: Array, divisor: Array, result: Array) -> Exceptions | None:
        arithmetic, stored = self._arithmetic, _STORED_AS.get(result.dtype, result.dtype)
        signed, width = stored.kind == "i", 8 * stored.itemsize
        bits = width if stored == result.dtype else 4
        smallest, largest = (-1 << (bits - 1) if signed else 0), (1 << (bits - signed)) - 1
        zeros, overflows = _Found(result.shape), _Found(result.shape)
        # If a policy raises, elements are visited in row-major order, so that the first exception is found first.
        views = [x if stored == result.dtype else x.view(stored) for x in (dividend, divisor, result)]
        with _blocks(views, stored, "C" if self._raises else "K") as blocks:
            for a, b, out in blocks:
                if bits < width:  # Extend the sign, or zeros, into the upper half.
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


def _new_result(shape: tuple[int, ...], dtype: np.dtype[Any], *operands: Array) -> Array:
    """Return a new array with the memory layout of the first operand that is not repeated, else in row-major order."""
    for operand in operands:
        whole = np.broadcast_to(operand, shape)
        if all(step or size == 1 for step, size in zip(whole.strides, shape, strict=True)):
            return np.empty_like(whole, dtype)
    return np.empty(shape, dtype)


def _is_result(out: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Whether an array can hold quotients of that shape and element type, each in its own memory."""
    is_of_them = out.dtype == dtype and out.shape == shape and out.flags.writeable
    return is_of_them and is_nested(shape, out.strides, dtype.itemsize)


def _blocks(arrays: Sequence[Array], operand: np.dtype[Any], order: Literal["C", "K"]) -> np.nditer:
    """Return an iterator over blocks of some thousand dividends, divisors and quotients.

    NumPy converts operands block by block, and first copies those that overlap `out`.
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
    """Divide integers, all of whose pairs have a quotient."""
    quotients: Array = a // b
    if not floor and a.dtype.kind == "i":
        quotients += (quotients * b != a) & ((a < 0) != (b < 0))
    return quotients


class _Found:
    """The number of exceptional elements of one kind, and the index of the first."""

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
