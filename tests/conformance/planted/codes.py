"""What planted dividers compute, where it takes more than an expression."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tests import fake_runtime
from tests.fake_runtime import Array, FakeRuntime
from vinculum.conformance.cases.operation import Operation, alignment
from vinculum.sandbox import CrashedError

RIGHT = FakeRuntime()


@dataclass
class Asked:
    """One division, as the code of a divider sees it: operands in the shape of the quotient."""

    operation: Operation
    a: Array
    b: Array
    call: int  # From 1, since the divider was started.
    kept: dict[Any, Any]  # What the divider keeps between calls.
    random: np.random.Generator  # Each start of the divider has other numbers.

    @cached_property
    def right(self) -> Array:
        return np.array(RIGHT.quotients(self.operation, self.a, self.b))

    @cached_property
    def inverted(self) -> Array:
        return np.asarray(self.a * (1 / self.b))

    @cached_property
    def exact(self) -> Array:
        """The quotients in double, from which those of narrower floats are rounded."""
        return np.asarray(self.a.astype(np.float64) / self.b.astype(np.float64))

    @property
    def place(self) -> Array:
        """The number of each element."""
        return np.arange(self.a.size).reshape(self.a.shape)

    @property
    def left(self) -> Array:
        """How many elements follow each, itself included."""
        return self.a.size - self.place

    @property
    def divisor(self) -> Array:
        return self.operation.operands[-1]

    @property
    def stretched(self) -> bool:
        """Whether an operand is broadcast."""
        return any(operand.shape != self.a.shape for operand in self.operation.operands)

    def within(self, packet: int) -> Array:
        """Return which elements are in whole packets, and not in the remainder."""
        return self.place < self.a.size // packet * packet

    def through(self, dtype: Any, *, inverse: bool = False) -> Array:
        """Return quotients computed in another float type."""
        a, b = self.a.astype(dtype), self.b.astype(dtype)
        return np.asarray(a * (1 / b) if inverse else a / b).astype(self.a.dtype)

    def toward(self, limit: Any, when: Array) -> Array:
        """Return the right quotients, some replaced by their neighbours in a direction."""
        return np.where(when, np.nextafter(self.right, np.asarray(limit, self.a.dtype)), self.right)

    def spread(self, divisor: Array) -> Array:
        """Return another divisor in the shape of the quotient."""
        return np.broadcast_to(divisor, self.a.shape)


class TakesWhatDoesNotFit(FakeRuntime):
    """It repeats a divisor that does not fit."""

    def answer(self, operation: Operation) -> Array:
        if alignment(operation) is None and len({operand.dtype for operand in operation.operands}) == 1:
            a, b = operation.operands
            operation = replace(operation, operands=(a, self.fitted(a, b)), attributes={})
        return super().answer(operation)

    def fitted(self, a: Array, b: Array) -> Array:
        return np.resize(b, a.shape)


class TakesWhatHasOneSize(TakesWhatDoesNotFit):
    """It divides element by element what has as many elements."""

    def fitted(self, a: Array, b: Array) -> Array:
        return b.reshape(a.shape) if a.size == b.size else b


class DropsAxisOfSquares(FakeRuntime):
    """It ignores axis where two dimensions are equal, so that nothing is refused."""

    def axis(self, operation: Operation) -> int | None:
        shape = operation.operands[0].shape
        return None if len(set(shape)) < len(shape) else super().axis(operation)


class TakesNoAxisForTheFirst(FakeRuntime):
    """It lays divisors from the first dimension on where a model with pdpd has no axis."""

    def axis(self, operation: Operation) -> int | None:
        axis = super().axis(operation)
        return 0 if axis is None and operation.attributes.get("auto_broadcast") == "pdpd" else axis


def tiny(x: Array) -> Array:
    """Return which floats are subnormal."""
    return np.asarray((x != 0) & (np.abs(x) < np.finfo(x.dtype).smallest_normal))


def flushed(x: Array) -> Array:
    return np.where(tiny(x), np.copysign(x.dtype.type(0), x), x)


def overflows(x: Asked) -> Array:
    """Return which pairs are MIN / -1."""
    return np.asarray((x.a == np.iinfo(x.a.dtype).min) & (x.b == -1) if x.a.dtype.kind == "i" else False)


def die(x: Asked, when: Any) -> Array:
    """Crash with SIGFPE, as on an x86 processor, if the condition holds for any pair."""
    if np.any(when):
        raise CrashedError(-signal.SIGFPE)
    return x.right


def floor_in_7(x: Asked) -> Array:
    divider = fake_runtime.Floors() if x.operation.spec.since_version == 7 else RIGHT
    return np.array(divider.quotients(x.operation, x.a, x.b))


def hang(x: Asked) -> Array:
    time.sleep(0 if x.a.size else fake_runtime.FOREVER)
    return x.right


def eat(x: Asked) -> Array:
    eaten = np.ones(0 if x.a.size else 9 << 22)
    time.sleep(fake_runtime.FOREVER if eaten.size else 0)
    return x.right


def refine(x: Asked) -> Array:
    """Multiply by an estimate of 12 bits that one step of Newton's method has improved."""
    estimate = ((1 / x.b).view(np.uint32) & np.uint32(0xFFFFF000)).view(np.float32)
    better = estimate * (2 - x.b * estimate)
    return np.where(np.isfinite(better), x.a * better, x.right)


def round_to_36_bits(x: Asked) -> Array:
    """Round twice, first to 36 bits; from 48 bits on the result would be right."""
    first = x.exact * (2.0**17 + 1)
    rounded = first - (first - x.exact)
    return np.where(np.isfinite(rounded), rounded, x.exact).astype(np.float32)


def round_ties_away(x: Asked) -> Array:
    """Round half up in size: floats have exact ties only between subnormal quotients."""
    away = np.nextafter(x.right, np.copysign(np.float32(np.inf), x.right))
    return np.where(2 * x.exact == x.right.astype(np.float64) + away.astype(np.float64), away, x.right)


def round_subnormals_twice(x: Asked) -> Array:
    fraction, exponent = np.frexp(x.exact)
    rounded = np.ldexp(np.rint(np.ldexp(fraction, 24)), exponent - 24)
    return np.where(tiny(x.right), rounded, x.right).astype(np.float32)


def invert_after_packets(size: int, x: Asked) -> Array:
    return np.where(x.within(size), x.right, x.inverted)


def remembered(x: Asked) -> Array:
    return np.asarray(x.kept.setdefault((x.a.dtype, *(operand.shape for operand in x.operation.operands)), x.right))


def constant_remembered(x: Asked) -> Array:
    """Divide vectors by the first constant of each shape."""
    if x.operation.constant != (False, True) or x.a.ndim != 1:
        return x.right
    return np.asarray(x.a / x.spread(x.kept.setdefault(x.divisor.shape, x.divisor)))


def doubled_at_the_second_shape(x: Asked) -> Array:
    """Be wrong once, at the first shape that differs from that of the first call."""
    shapes = x.kept.setdefault("shapes", [])
    shapes += [x.a.shape] if x.a.shape not in shapes[-1:] else []
    twice = len(shapes) == 2 and not x.kept.get("done")
    x.kept["done"] = twice or x.kept.get("done")
    return x.right * np.float32(1 + twice)


def write_into_the_dividend(x: Asked) -> Array:
    """Divide in place where nothing is broadcast."""
    dividend = x.operation.operands[0]
    if dividend.shape != x.divisor.shape:
        return x.right
    dividend[...] = x.right
    return dividend.copy()


def from_the_left(x: Asked) -> Array:
    """Lay a divisor of fewer than three dimensions along the first ones of the dividend, where it fits there."""
    shape = x.divisor.shape
    if x.a.ndim != 3 or len(shape) >= 3 or shape != x.a.shape[: len(shape)]:
        return x.right
    return np.asarray(x.a / x.spread(x.divisor.reshape(shape + (1,) * (3 - len(shape)))))


def backward(x: Asked) -> Array:
    """Read a stretched divisor of three dimensions in the order of a transposed one."""
    stretched = x.divisor.ndim == 3 and x.divisor.shape != x.a.shape
    return np.asarray(x.a / x.spread(x.divisor.ravel().reshape(x.divisor.shape, order="F"))) if stretched else x.right


def column_as_row(x: Asked) -> Array:
    square = x.a.ndim == 2 and x.a.shape[0] == x.a.shape[1] and x.divisor.shape == (1, x.a.shape[0])
    return np.asarray(x.a / x.spread(x.divisor.T)) if square else x.right


def fold_to_one(x: Asked) -> Array:
    alike = all(x.operation.constant) and x.a.size > 1 and x.a.tobytes() == x.b.tobytes()
    return np.ones_like(x.a) if alike else x.right


def forget_the_middle(x: Asked) -> Array:
    """Be wrong if a dimension of 1 is stretched that has others on either side."""
    shape = x.divisor.shape
    middle = len(shape) > 2 and 1 in shape[1:-1] and shape[0] > 1 and shape[-1] > 1
    return -x.right if middle and shape != x.a.shape else x.right


def repeat_the_first_thread(x: Asked) -> Array:
    x.right.flat[1 << 16 :] = x.right.flat[: max(x.right.size - (1 << 16), 0)]
    return x.right


def by_exponentials(x: Asked) -> Array:
    wide = np.copysign(np.exp(-np.log(np.abs(x.b.astype(np.float64)))), x.b).astype(np.float32)
    return np.where(np.isfinite(x.right) & (x.right != 0), wide, x.right)


def in_fixed_point(x: Asked) -> Array:
    """Make a constant scalar divisor a factor of 32 bits, where 33 are needed."""
    d = x.divisor
    if x.operation.constant != (False, True) or d.ndim or d & (d - 1) == 0:
        return x.right
    return (x.a.astype(np.uint64) * np.uint64((1 << 32) // int(d) + 1) >> np.uint64(32)).astype(np.uint32)


def by_shifting(x: Asked) -> Array:
    d = x.divisor
    return np.asarray(x.a >> int(d).bit_length() - 1) if not d.ndim and d > 1 and d & (d - 1) == 0 else x.right


def by_shifting_negated(x: Asked) -> Array:
    size = -int(x.divisor) if not x.divisor.ndim else 0
    return np.asarray(-(x.a >> size.bit_length() - 1)) if size > 0 and size & (size - 1) == 0 else x.right


def through_floats(x: Asked, dtype: Any, *, inverse: bool = False) -> Array:
    """Return integer quotients truncated from those of floats, MIN where none fits, as on x86 processors."""
    limits, a, b = np.iinfo(x.a.dtype), x.a.astype(dtype), x.b.astype(dtype)
    whole = np.trunc(a * (1 / b) if inverse else a / b).astype(np.float64)
    fits = (whole >= limits.min) & (whole < -float(limits.min))
    return np.where(fits, np.where(fits, whole, 0).astype(x.a.dtype), limits.min)


def clamp(dtype: Any, x: Asked) -> Array:
    """Return integer quotients truncated from those of floats, at most the largest float that fits, as from WGSL."""
    limits = np.iinfo(x.a.dtype)
    largest = np.nextafter(dtype(limits.max), 0)  # MAX is rounded up.
    whole = np.trunc(x.a.astype(dtype) / x.b.astype(dtype))
    return np.asarray(np.clip(np.nan_to_num(whole, posinf=largest), dtype(limits.min), largest).astype(x.a.dtype))


def saturate_float8(x: Asked) -> Array:
    """Give float8e5m2's largest number for infinite quotients of numbers, as ONNX's Cast does by default."""
    largest = np.copysign(np.float32(57344), x.right.astype(np.float32))
    return np.where(np.isinf(x.right) & np.isfinite(x.a) & (x.b != 0), largest.astype(x.a.dtype), x.right)


def cut_from_float16(x: Asked) -> Array:
    quotients = np.asarray(x.a.astype(np.float16) / x.b.astype(np.float16))
    return (quotients.view(np.uint16) >> 8).astype(np.uint8).view(x.a.dtype)


def nonnegative_remainders(x: Asked) -> Array:
    negative = (x.a - x.right * x.b < 0) & (x.b != 0)
    return np.where(negative, x.right - np.sign(x.b), x.right)


def anything_where_open(x: Asked) -> Array:
    noise = x.random.integers(-100, 100, x.a.shape).astype(x.a.dtype)
    return np.where((x.b == 0) | overflows(x), noise, x.right)


def limits_where_open(x: Asked) -> Array:
    """Give MAX for MIN / -1, and MIN or MAX for x / 0."""
    limits = np.iinfo(x.a.dtype)
    by_zero = np.where(x.a > 0, limits.max, np.where(x.a < 0, limits.min, 0))
    return np.where(x.b == 0, by_zero, np.where(overflows(x), limits.max, x.right)).astype(x.a.dtype)


def in_saturated_int32(x: Asked) -> Array:
    limits = np.iinfo(np.int32)
    a, b = (np.clip(operand, limits.min, limits.max).astype(np.int32) for operand in (x.a, x.b))
    return np.asarray(RIGHT.quotients(x.operation, a, b)).astype(np.int64)


def as_signed(x: Asked) -> Array:
    a, b = (operand.view(f"i{operand.itemsize}") for operand in (x.a, x.b))
    return np.asarray(RIGHT.quotients(x.operation, a, b)).astype(x.a.dtype)


def with_other_nan(x: Asked) -> Array:
    bits = x.right.view(np.uint32)
    return np.where(np.isnan(x.right), bits ^ np.uint32(0x80000123), bits).view(np.float32)


def refuse(x: Asked, when: bool) -> Array:
    if when:
        raise TypeError("no kernel for it")
    return x.right
