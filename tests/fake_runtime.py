"""The runtime that stands in for all others: exact, or wrong in one way that a class names.

A `FakeRuntime` divides operations and runs ONNX models. ``tests.fake_runtime:Floors`` names it on a command line, and
`installed` makes it the package ``onnxruntime`` or ``openvino``, as far as Vinculum uses them, in this process and in
those of the sandbox. None uses our engine or our reference: NumPy's float quotients are right.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper
from onnx.external_data_helper import load_external_data_for_model
from onnx.inliner import inline_local_functions
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from vinculum.conformance.cases.operation import Operation
from vinculum.models.engines.onnxruntime import session
from vinculum.models.engines.onnxruntime.divider import NUMBER, Asked, Divider, Operand
from vinculum.models.engines.reference.operators import Loop
from vinculum.ops.policies import Policies
from vinculum.sandbox import UnsupportedError
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import INT64, ElementType
from vinculum.spec.model import Dialect, IntegerRounding
from vinculum.spec.rows import find
from vinculum.tensors.broadcasting import join
from vinculum.tensors.inference import infer
from vinculum.tensors.storage import element_type_of

Array = NDArray[Any]

FOREVER = 600.0
VARIABLE = "VINCULUM_FAKE_RUNTIMES"
"""What is installed in a process of the tests, such as ``onnxruntime=Floors``; not set in tests of real runtimes."""
FOREIGN = ("onnxruntime", "openvino", "torch", "jax", "jaxlib")
"""The packages that tests outside of tests/runtimes never import."""


class FakeRuntime:
    """It divides rightly, refuses what it must, and gives 0 where nothing is specified."""

    title = "Fake"

    def check(self) -> None:
        """Need nothing."""

    def start(self) -> None:
        """Import nothing."""

    def versions(self) -> Mapping[str, str]:
        return {}

    def covers(self, operation: Operation) -> bool:
        return operation.spec.dialect is not Dialect.SONNX

    def reproducer(self, operation: Operation) -> str:
        return f"# {operation.spec.title}"

    def answer(self, operation: Operation) -> Array:
        self.look(operation)
        self.checked(operation)
        a, b = self.laid(operation)
        with np.errstate(all="ignore"):
            return np.asarray(self.quotients(operation, a, b))

    def run_model(self, file: Path | str | bytes, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of an ONNX model, whose divisions are answers of this runtime."""
        return Model(self, file).run(None, inputs)

    def look(self, operation: Operation) -> None:
        """See what is asked before anything is done."""

    def checked(self, operation: Operation) -> None:
        attributes = checked_attributes(operation.spec, operation.attributes)
        types = [element_type_of(operand) for operand in operation.operands]
        infer(operation.spec, attributes, types, [operand.shape for operand in operation.operands])

    def laid(self, operation: Operation) -> tuple[Array, Array]:
        """Return both operands in the result's shape."""
        if len(operation.operands) == 1:
            (b,) = operation.operands
            return np.ones_like(b), b
        a, b = operation.operands
        axis = self.axis(operation)
        alignment = join(operation.spec.broadcasting_rule(operation.attributes), a.shape, b.shape, axis)
        return _laid(a, alignment.a, alignment.shape), _laid(b, alignment.b, alignment.shape)

    def axis(self, operation: Operation) -> int | None:
        axis = operation.attributes.get("axis")
        return axis if isinstance(axis, int) else None

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if element_type_of(a).is_integer:
            return _integers(a, b, floor=operation.spec.rounding(operation.attributes) is IntegerRounding.FLOOR)
        return a / b

    def remainders(self, a: Array, b: Array, fmod: int) -> Any:
        """Return what a model's Mod gives."""
        return np.fmod(a, b) if fmod else np.mod(a, b)


def _laid(operand: Array, own: tuple[int | None, ...], shape: tuple[int, ...]) -> Array:
    sizes = [1 if dimension is None else operand.shape[dimension] for dimension in own]
    return np.broadcast_to(operand.reshape(sizes), shape)


def _integers(a: Array, b: Array, *, floor: bool) -> Array:
    dtype = a.dtype
    if dtype.itemsize == 1:  # ml_dtypes has no floor_divide.
        a, b = a.astype(np.int64), b.astype(np.int64)
    zero = b == 0
    b = np.where(zero, b.dtype.type(1), b)
    down = a // b
    up = ~np.bool_(floor) & (a - down * b != 0) & ((a < 0) != (b < 0))
    return np.where(zero, 0, down + up.astype(a.dtype)).astype(dtype)


class Floors(FakeRuntime):
    """It rounds integers toward minus infinity, whatever is asked."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return _integers(a, b, floor=True) if element_type_of(a).is_integer else a / b


class DividesInt8(FakeRuntime):
    """It has ONNX's newest division of 8-bit integers, and no other."""

    def covers(self, operation: Operation) -> bool:
        return operation.spec.title == "Div-14" and operation.operands[0].dtype == np.int8


class FloorsInt8(DividesInt8, Floors):
    """And it rounds them toward minus infinity."""


class Truncates(FakeRuntime):
    """It rounds integers toward zero, whatever is asked."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return _integers(a, b, floor=False) if element_type_of(a).is_integer else a / b


class FloatDivider(FakeRuntime):
    """It is wrong with floats of 32 bits only."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return self.floats(a, b) if a.dtype == np.float32 else super().quotients(operation, a, b)

    def floats(self, a: Array, b: Array) -> Any:
        return a / b


class MultipliesByReciprocal(FloatDivider):
    """It rounds twice."""

    def floats(self, a: Array, b: Array) -> Any:
        return a * (np.float32(1) / b)


class FlushesOperands(FloatDivider):
    """It takes subnormal operands for zero."""

    def floats(self, a: Array, b: Array) -> Any:
        return _flushed(a) / _flushed(b)


class FlushesQuotients(FloatDivider):
    """It gives zero for subnormal quotients."""

    def floats(self, a: Array, b: Array) -> Any:
        return _flushed(a / b)


class LosesTheSignOfZero(FloatDivider):
    """It gives 0.0 for -0.0."""

    def floats(self, a: Array, b: Array) -> Any:
        return a / b + np.float32(0)


class OtherNan(FloatDivider):
    """It gives NaN of another sign and payload, which is right."""

    def floats(self, a: Array, b: Array) -> Any:
        quotients = np.asarray(a / b)
        bits = quotients.view(np.uint32)
        return np.where(np.isnan(quotients), bits ^ np.uint32(0x80000123), bits).astype(np.uint32).view(np.float32)


def _flushed(array: Array) -> Array:
    return np.where(np.abs(array) < np.finfo(np.float32).smallest_normal, np.copysign(np.float32(0), array), array)


class ComputesDoubleInFloat(FakeRuntime):
    """It divides 64-bit floats as 32-bit ones."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.float64:
            return super().quotients(operation, a, b)
        return (a.astype(np.float32) / b.astype(np.float32)).astype(np.float64)


class NarrowsInt64(FakeRuntime):
    """It divides what the lower 32 bits of 64-bit integers say."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.int64:
            return super().quotients(operation, a, b)
        narrow = super().quotients(operation, a.astype(np.int32), b.astype(np.int32))
        return narrow.astype(np.int64)


class DropsAxis(FakeRuntime):
    """It lays the divisor under the dividend's last dimensions, and refuses where it does not fit there."""

    def axis(self, operation: Operation) -> int | None:
        return None


class AcceptsAll(FakeRuntime):
    """It refuses nothing: what it cannot divide it gives back."""

    def answer(self, operation: Operation) -> Array:
        try:
            return super().answer(operation)
        except Exception:
            return operation.operands[0]


class SaysSurrogates(FakeRuntime):
    """It refuses in a text that no encoding has."""

    def look(self, operation: Operation) -> None:
        raise ValueError("no \ud800 kernel")


class Transposes(FakeRuntime):
    """It gives the quotients in another order of dimensions."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return np.asarray(super().quotients(operation, a, b)).T


class Widens(FakeRuntime):
    """It gives 32-bit integers as 64-bit ones."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = super().quotients(operation, a, b)
        return quotients.astype(np.int64) if a.dtype == np.int32 else quotients


class GivesLists(FakeRuntime):
    """It gives Python's lists."""

    def answer(self, operation: Operation) -> Any:
        return super().answer(operation).tolist()


class SpoilsTheLast(FakeRuntime):
    """The last of many quotients is that of other operands."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.array(super().quotients(operation, a, b))
        if quotients.size > 1:
            quotients.flat[-1] = quotients.dtype.type(5)
        return quotients


class SaturatesByZero(FakeRuntime):
    """It gives 1 where an integer is divided by zero, as it may."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = super().quotients(operation, a, b)
        return np.where(b == 0, quotients.dtype.type(1), quotients) if element_type_of(a).is_integer else quotients


class RaisesAtZero(FakeRuntime):
    """It refuses every zero divisor; of integers it may, of floats it must not."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if np.any(b == 0):
            raise ZeroDivisionError("division\nby zero")
        return super().quotients(operation, a, b)


class FailsWithConstants(FakeRuntime):
    """It refuses constant operands."""

    def look(self, operation: Operation) -> None:
        if any(operation.constant):
            raise RuntimeError("constants are folded elsewhere")


class LacksBfloat16(FakeRuntime):
    """It says that it has no bfloat16."""

    def look(self, operation: Operation) -> None:
        if any(operand.dtype.name == "bfloat16" for operand in operation.operands):
            raise UnsupportedError("no kernel for bfloat16")


class DiesOfMinByMinusOne(FakeRuntime):
    """It divides as the processor does."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        element_type: ElementType = element_type_of(a)
        if element_type.minimum and np.any((a == element_type.minimum) & (b == -1)):
            os.kill(os.getpid(), signal.SIGFPE)
        return super().quotients(operation, a, b)


class DiesAfterPacketsOf4(FakeRuntime):
    """It dies of MIN/-1 among the last elements, which are fewer than 4; whole packets of 4 it divides otherwise."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        t: ElementType = element_type_of(a)
        last = slice(a.size - a.size % 4, None)
        if t.is_integer and t.minimum and np.any((a.ravel()[last] == t.minimum) & (b.ravel()[last] == -1)):
            os.kill(os.getpid(), signal.SIGFPE)
        return super().quotients(operation, a, b)


class Exits(FakeRuntime):
    """It ends the process where there is nothing to divide."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return super().quotients(operation, a, b) if a.size else sys.exit(7)


class ExitsPastPython(FakeRuntime):
    """It ends the process without asking Python."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return super().quotients(operation, a, b) if a.size else os._exit(9)


class Sleeps(FakeRuntime):
    """It does not come back from the smallest number alone."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype == np.int64 and a.size == 1 and a == INT64.minimum:
            time.sleep(FOREVER)
        return super().quotients(operation, a, b)


class EatsMemory(FakeRuntime):
    """It takes more than a quarter of a GiB for the smallest number alone."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype == np.int64 and a.size == 1 and a == INT64.minimum:
            eaten = np.ones(9 << 22)
            time.sleep(FOREVER)
            del eaten
        return super().quotients(operation, a, b)


class Leaks(FakeRuntime):
    """It keeps 32 MiB for each operation."""

    def __init__(self) -> None:
        self._kept: list[Array] = []

    def look(self, operation: Operation) -> None:
        self._kept.append(np.ones(1 << 22))


class Prints(FakeRuntime):
    """It prints what it does, to every way out."""

    def look(self, operation: Operation) -> None:
        print(operation.spec, flush=True)
        print(operation.spec, file=sys.stderr, flush=True)
        os.write(1, b"\x93vnc" * 20)


class InvertsOneDivisor(FakeRuntime):
    """It multiplies 32-bit floats by the reciprocal of a divisor that is one number."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype == np.float32 and operation.operands[-1].ndim == 0:
            return a * (np.float32(1) / b)
        return super().quotients(operation, a, b)


class FlushesByOneDivisor(FakeRuntime):
    """It takes subnormal dividends for zero where a divisor is one number of 32 bits."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype == np.float32 and operation.operands[-1].ndim == 0:
            a = np.where(np.abs(a) < np.finfo(np.float32).smallest_normal, np.copysign(np.float32(0), a), a)
        return super().quotients(operation, a, b)


class ComputesFloatInFloat16(FloatDivider):
    """It divides 32-bit floats as 16-bit ones."""

    def floats(self, a: Array, b: Array) -> Any:
        return (a.astype(np.float16) / b.astype(np.float16)).astype(np.float32)


class IsOffByAnUlp(FloatDivider):
    """Every second quotient is off, in a way that no model has."""

    def floats(self, a: Array, b: Array) -> Any:
        quotients = np.asarray(a / b).copy()
        quotients[::2] = np.nextafter(quotients[::2], np.float32(np.inf))
        return quotients


class IsOddAtZero(FloatDivider):
    """Numbers divided by zero give 1."""

    def floats(self, a: Array, b: Array) -> Any:
        return np.where(b == 0, np.float32(1), a / b)


class CutsBfloat16(FakeRuntime):
    """It drops the lower half of a quotient of float."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype.name != "bfloat16":
            return super().quotients(operation, a, b)
        bits = (a.astype(np.float32) / b.astype(np.float32)).view(np.uint32)
        return (bits >> 16).astype(np.uint16).view(a.dtype)


class SaturatesInt64(FakeRuntime):
    """It divides 64-bit integers as 32-bit ones, the larger ones as the largest."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.int64:
            return super().quotients(operation, a, b)
        limits = np.iinfo(np.int32)
        a, b = (np.clip(operand, limits.min, limits.max).astype(np.int32) for operand in (a, b))
        return super().quotients(operation, a, b).astype(np.int64)


class ComputesInt64InDouble(FakeRuntime):
    """It divides 64-bit integers as doubles."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.int64:
            return super().quotients(operation, a, b)
        whole = np.trunc(a.astype(np.float64) / b.astype(np.float64))
        large = (whole >= 2.0**63) | (whole < -(2.0**63))
        return np.where(large, np.iinfo(np.int64).min, np.where(large, 0, whole).astype(np.int64))


class TakesUnsignedAsSigned(FakeRuntime):
    """It divides unsigned integers as if they were signed."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype.kind != "u":
            return super().quotients(operation, a, b)
        a, b = (operand.view(f"i{operand.itemsize}") for operand in (a, b))
        return super().quotients(operation, a, b).astype(f"u{a.dtype.itemsize}")


class RoundsIntegersToNearest(FakeRuntime):
    """It rounds 8-bit quotients to the nearest integer."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.int8:
            return super().quotients(operation, a, b)
        return np.clip(np.rint(a.astype(np.float64) / b.astype(np.float64)), -128, 127).astype(np.int8)


class IsOddWithIntegers(FakeRuntime):
    """It gives one less for every large 32-bit quotient."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = super().quotients(operation, a, b)
        return np.where(quotients > 1000, quotients - 1, quotients) if a.dtype == np.int32 else quotients


class FoldsOtherwise(FakeRuntime):
    """It multiplies by the reciprocal where both operands are constants, and where the divisor is."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype == np.float32 and operation.constant[-1]:
            return a * (np.float32(1) / b)
        return super().quotients(operation, a, b)


class IgnoresFloor(FakeRuntime):
    """It truncates at run time, and takes notice of the attribute when it folds."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if not all(operation.constant):
            operation = Operation(operation.spec, {"m_pythondiv": False}, operation.operands, operation.constant)
        return super().quotients(operation, a, b)


class Saturates(FakeRuntime):
    """MIN / -1 is MAX, and x / 0 is MIN or MAX."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = super().quotients(operation, a, b)
        if a.dtype.kind not in "iu":
            return quotients
        limits = np.iinfo(a.dtype)
        least, most = (np.full_like(a, limit) for limit in (limits.min, limits.max))
        if limits.min:
            quotients = np.where((a == least) & (b == -1), most, quotients)
        by_sign = np.where(a > 0, most, np.where(a < 0, least, np.zeros_like(a)))
        return np.where(b == 0, by_sign, quotients)


class IsNoisy(FakeRuntime):
    """About one quotient in a hundred is one encoding too large; which ones depends on the seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.array(super().quotients(operation, a, b))
        bits = quotients.view(f"u{quotients.itemsize}")
        bits[self._random.random(bits.shape) < 0.01] += bits.dtype.type(1)
        return quotients


class MixesFaults(FloatDivider):
    """One known way of computing, and another for some of the operands: both are drawn by the seed."""

    def __init__(self, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        ways: dict[str, Callable[[Array, Array], Array]] = {
            "exact": lambda a, b: a / b,
            "reciprocal": lambda a, b: a * (np.float32(1) / b),
            "in float16": lambda a, b: (a.astype(np.float16) / b.astype(np.float16)).astype(np.float32),
            "one too large": lambda a, b: np.nextafter(a / b, np.float32(np.inf)),
            "one too small": lambda a, b: np.nextafter(a / b, np.float32(0)),
            "negative zero lost": lambda a, b: a / b + np.float32(0),
        }
        places: dict[str, Callable[[Array, Array], Array]] = {
            "small divisors": lambda a, b: np.abs(b) < 1e-20,
            "large dividends": lambda a, b: np.abs(a) > 1e20,
            "between 1 and 2": lambda a, b: (np.abs(a / b) > 1) & (np.abs(a / b) < 2),
            "negative dividends": lambda a, b: np.signbit(a),
            "every third": lambda a, b: np.arange(a.size).reshape(a.shape) % 3 == 0,
        }
        usual = str(random.choice(["exact", "reciprocal"]))
        other = str(random.choice([name for name in ways if name not in (usual, "exact")]))
        place = str(random.choice(list(places)))
        self.faults = f"{usual}, but {other} for {place}"
        self._usual, self._other, self._place = ways[usual], ways[other], places[place]

    def floats(self, a: Array, b: Array) -> Any:
        quotients: Array = np.where(self._place(a, b), self._other(a, b), self._usual(a, b))
        return quotients.astype(np.float32)


class FlooringBackend:
    """An implementation of ONNX's backend interface that rounds integers toward minus infinity."""

    @staticmethod
    def run_model(model: Any, inputs: list[Array], device: str = "CPU") -> list[Array]:
        """Return the quotients of a model's one division."""
        a, b = inputs
        return [np.floor_divide(a, b)]


class DiesOfIntegers(DiesOfMinByMinusOne):
    """It dies of MIN/-1 and of integers divided by zero, as an x86 processor's own instruction does."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if element_type_of(a).is_integer and np.any(b == 0):
            os.kill(os.getpid(), signal.SIGFPE)
        return super().quotients(operation, a, b)


class RefusesFaults(FakeRuntime):
    """It refuses integers by zero and MIN by -1, whose remainders too; those of fmod=1 it takes of doubles."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        self.look_for_faults(a, b)
        return super().quotients(operation, a, b)

    def remainders(self, a: Array, b: Array, fmod: int) -> Any:
        self.look_for_faults(a, b)
        if fmod and element_type_of(a).is_integer:
            return np.fmod(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)
        return super().remainders(a, b, fmod)

    def look_for_faults(self, a: Array, b: Array) -> None:
        """Raise an error where an x86 processor would end the process."""
        element_type = element_type_of(a)
        if element_type.is_integer and np.any(b == 0):
            raise ZeroDivisionError("SIGFPE of x/0")
        if element_type.minimum and element_type.is_integer and np.any((a == element_type.minimum) & (b == -1)):
            raise OverflowError("SIGFPE of MIN/-1")


class EstimatesSigned(RefusesFaults):
    """It rounds quotients of signed integers through float."""

    precision: type[np.floating[Any]] = np.float32

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        exact = super().quotients(operation, a, b)
        if a.dtype.kind != "i":
            return exact
        estimates = self.estimates(exact, a.astype(self.precision), b.astype(self.precision))
        return np.where(np.abs(estimates) < 2.0 ** (8 * a.itemsize - 1), estimates, 0).astype(a.dtype)

    def estimates(self, exact: Array, a: Array, b: Array) -> Any:
        return np.trunc(a / b)


class EstimatesInDouble(EstimatesSigned):
    """It rounds quotients of signed integers through double."""

    precision = np.float64


class EstimatesByReciprocal(EstimatesSigned):
    """It multiplies signed integers by the reciprocal in float, and truncates."""

    def estimates(self, exact: Array, a: Array, b: Array) -> Any:
        return np.trunc(a * (1 / b))


class FloorsByReciprocal(EstimatesSigned):
    """It multiplies signed integers by the reciprocal in float, and floors."""

    def estimates(self, exact: Array, a: Array, b: Array) -> Any:
        return np.floor(a * (1 / b))


class EstimatesByReciprocalInDouble(EstimatesByReciprocal):
    """It multiplies signed integers by the reciprocal in double, and truncates."""

    precision = np.float64


class RoundsEstimates(EstimatesSigned):
    """It rounds quotients of signed integers to the nearest."""

    def estimates(self, exact: Array, a: Array, b: Array) -> Any:
        return np.rint(a / b)


class FloorsAndRefuses(RefusesFaults, Floors):
    """It rounds integers toward minus infinity, and refuses faults."""


class IsOneTooHigh(RefusesFaults):
    """Its quotients of signed integers are one too high."""

    error = 1

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        exact = super().quotients(operation, a, b)
        return exact + a.dtype.type(self.error) if a.dtype.kind == "i" else exact


class IsOneTooLow(IsOneTooHigh):
    """Its quotients of signed integers are one too low."""

    error = -1


class IsOneTooHighAbove20Bits(RefusesFaults):
    """Its quotients of signed integers beyond 20 bits are one too high."""

    error = 1

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        exact = super().quotients(operation, a, b)
        large = (a.dtype.kind == "i") & (np.abs(exact.astype(np.float64)) > 2**20)
        return np.where(large, exact + exact.dtype.type(self.error), exact) if a.dtype.kind == "i" else exact


class IsOneTooLowAbove20Bits(IsOneTooHighAbove20Bits):
    """Its quotients of signed integers beyond 20 bits are one too low."""

    error = -1


class InvertsAndNarrows(MultipliesByReciprocal, NarrowsInt64):
    """It multiplies floats by the reciprocal, and divides 64-bit integers as 32-bit ones."""


class Races(FakeRuntime):
    """Every second answer has one quotient that is wrong in its last bit."""

    def __init__(self) -> None:
        self._answers = 0

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.array(super().quotients(operation, a, b))
        self._answers += 1
        if quotients.size and self._answers % 2 == 0:
            quotients.reshape(-1).view(f"u{quotients.itemsize}")[0] ^= 1
        return quotients


class EverySecondSessionIsOff(FakeRuntime):
    """The first quotient is wrong in its last bit in every second one that a process makes."""

    _made = 0

    def __init__(self) -> None:
        type(self)._made += 1
        self._off = self._made % 2 == 0

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.array(super().quotients(operation, a, b))
        if quotients.size and self._off:
            quotients.reshape(-1).view(f"u{quotients.itemsize}")[0] ^= 1
        return quotients


class Library(FakeRuntime):
    """What stands in for the library of `vinculum.onnxruntime`: exact, or asking the process that it is in."""

    def __init__(self, entries: Mapping[str, str]) -> None:
        self._policies = Policies(entries["zero_divisor"], entries["overflow"])  # type: ignore[arg-type]
        self._divider = Divider(int(entries["divider"])) if "divider" in entries else None

    def answer(self, operation: Operation) -> Array:
        attributes = dict(operation.attributes)
        number = attributes.pop(NUMBER)
        bare = replace(operation, attributes=attributes)
        if self._divider is not None:
            return self._asked(int(str(number)), bare)
        quotients = super().answer(bare)
        a, b = self.laid(bare)
        if element_type_of(b).is_integer:
            overflow = (a == np.iinfo(a.dtype).min) & (b + b.dtype.type(1) == 0) & (a < 0)
            for policy, found in ((self._policies.zero_divisor, b == 0), (self._policies.overflow, overflow)):
                if policy == "raise" and found.any():
                    raise RuntimeError("vinculum: this is not allowed")
            if self._policies.zero_divisor == "saturate":
                limits = np.where(a < 0, np.iinfo(a.dtype).min, np.iinfo(a.dtype).max).astype(a.dtype)
                quotients = np.where((b == 0) & (a != 0), limits, quotients)
            if self._policies.overflow == "saturate":
                quotients = np.where(overflow, np.iinfo(a.dtype).max, quotients)
        return quotients

    def _asked(self, number: int, operation: Operation) -> Array:
        arrays = [np.array(operand, order="C") for operand in operation.operands]
        result = np.empty(self.laid(operation)[0].shape, arrays[0].dtype)
        operands = [_handed_on(array) for array in (*([] if arrays[1:] else [result[:0]]), *arrays, result)]
        code = helper.np_dtype_to_tensor_dtype(result.dtype)
        assert self._divider is not None
        if self._divider(Asked(number, code, *operands)):
            raise RuntimeError("vinculum: the divider failed")
        for array in arrays:  # A runtime uses its memory again.
            array.fill(77)
        return result


def _handed_on(array: Array) -> Operand:
    return Operand(array.ctypes.data, array.ndim, (ctypes.c_ssize_t * array.ndim)(*array.shape))


class Model:
    """An ONNX model in ONNX's reference evaluator, its divisions answered by a runtime.

    Raises
    ------
    Exception
        Any of onnx's, if it cannot read or run the model.
    """

    def __init__(self, runtime: FakeRuntime, model: Path | str | bytes) -> None:
        content = model if isinstance(model, bytes) else Path(model).read_bytes()
        proto = _inlined(ModelProto.FromString(content))
        if not isinstance(model, bytes):
            load_external_data_for_model(proto, str(Path(model).parent))
        constants = {initializer.name for initializer in proto.graph.initializer}
        self.inputs = [_declared(value) for value in proto.graph.input if value.name not in constants]
        self.outputs = [_declared(value) for value in proto.graph.output]
        self._proto, self._operators = proto, _operators(runtime)
        self._given: dict[str, Any] = {}
        self._evaluator: ReferenceEvaluator | None = None

    def give(self, initializers: Mapping[str, Array]) -> None:
        """Supply initializers that the model declares as external."""
        self._given = dict(initializers)
        kept = [initializer for initializer in self._proto.graph.initializer if initializer.name not in self._given]
        del self._proto.graph.initializer[:]
        self._proto.graph.initializer.extend(kept)
        self._proto.graph.input.extend(helper.make_empty_tensor_value_info(name) for name in self._given)

    def load(self) -> ReferenceEvaluator:
        """Refuse what cannot be run at all, as runtimes do when they load a model."""
        if self._evaluator is None:
            self._evaluator = ReferenceEvaluator(self._proto, new_ops=self._operators)
        return self._evaluator

    def run(self, names: Sequence[str] | None, inputs: Mapping[str, Any]) -> list[Any]:
        """Return outputs by name; None stands for all."""
        evaluator = self.load()
        with np.errstate(all="ignore"):
            found = dict(zip(evaluator.output_names, evaluator.run(None, {**self._given, **inputs}), strict=True))
        return [found[name] for name in names or found]


def _inlined(proto: ModelProto) -> ModelProto:
    """Return a model without functions, in which the evaluator would not use the operators that it is given."""
    (version,) = (entry.version for entry in proto.opset_import if entry.domain == "")
    for function in proto.functions:  # Those of another operator set would stay.
        for entry in function.opset_import:
            entry.version = entry.version if entry.domain else version
    return inline_local_functions(proto)


def _declared(value: Any) -> SimpleNamespace:
    tensor = value.type.tensor_type
    name = TensorProto.DataType.Name(tensor.elem_type).lower()
    shape = [size.dim_value if size.HasField("dim_value") else size.dim_param for size in tensor.shape.dim]
    return SimpleNamespace(name=value.name, type=f"tensor({name})", shape=shape)


def _operators(runtime: FakeRuntime) -> list[type[OpRun]]:
    """Return operators, which the evaluator finds by their classes' names; its own Loop has faults."""

    class Div(OpRun):
        op_domain = ""

        def _run(self, *operands: Any, **_: Any) -> tuple[Any]:
            attributes = {
                attribute.name: helper.get_attribute_value(attribute) for attribute in self.onnx_node.attribute
            }
            spec = find(self.onnx_node.op_type, opset=self.run_params["opsets"][""])
            arrays = tuple(map(np.asarray, operands))
            return (runtime.answer(Operation(spec, attributes, arrays, (False,) * len(arrays))),)

    class Reciprocal(Div):
        pass

    class Mod(OpRun):
        op_domain = ""

        def _run(self, a: Any, b: Any, fmod: int | None = None) -> tuple[Any]:
            dividend, divisor = np.broadcast_arrays(a, b)
            return (np.asarray(runtime.remainders(dividend, divisor, fmod or 0)),)

    return [Div, Reciprocal, Mod, Loop]


class OrtValue:
    """A value of the package ``onnxruntime``: a tensor, or a sequence of them."""

    def __init__(self, value: Any) -> None:
        self._value = np.ascontiguousarray(value).reshape(np.shape(value)) if isinstance(value, np.ndarray) else value

    @staticmethod
    def ortvalue_from_numpy(array: Array) -> OrtValue:
        return OrtValue(array)

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(array: Array, code: int) -> OrtValue:
        return OrtValue(array.view(helper.tensor_dtype_to_np_dtype(code)))

    def has_value(self) -> bool:
        return self._value is not None

    def is_tensor(self) -> bool:
        return isinstance(self._value, np.ndarray)

    def element_type(self) -> int:
        return int(helper.np_dtype_to_tensor_dtype(self._value.dtype))

    def data_type(self) -> str:
        if isinstance(self._value, list):
            return f"seq({OrtValue(self._value[0]).data_type()})"
        return f"tensor({TensorProto.DataType.Name(self.element_type()).lower()})"

    def shape(self) -> list[int]:
        return list(self._value.shape)

    def numpy(self) -> Any:
        return self._value

    def data_ptr(self) -> int:
        return int(self._value.ctypes.data)

    def tensor_size_in_bytes(self) -> int:
        return int(self._value.nbytes)


class SessionOptions(SimpleNamespace):
    """The options of a session: with our library, divisions are those of a `Library`; else they change nothing."""

    def __init__(self) -> None:
        super().__init__(entries={}, library=None, initializers={})

    def add_session_config_entry(self, name: str, value: str) -> None:
        self.entries[name] = value

    def register_custom_ops_library(self, path: str) -> None:
        self.library = Library({name.rpartition(".")[2]: value for name, value in self.entries.items()})

    def add_external_initializers(self, names: list[str], values: list[OrtValue]) -> None:
        self.initializers = {name: value.numpy() for name, value in zip(names, values, strict=True)}


class InferenceSession:
    """A session of the package ``onnxruntime``."""

    def __init__(self, model: str | bytes, options: SessionOptions | None = None, **_: Any) -> None:
        options = options or SessionOptions()
        self._model = Model(options.library or _installed()["onnxruntime"](), model)
        self._model.give(options.initializers)
        self._model.load()

    def get_inputs(self) -> list[SimpleNamespace]:
        return self._model.inputs

    def get_outputs(self) -> list[SimpleNamespace]:
        return self._model.outputs

    def get_providers(self) -> list[str]:
        return ["CPUExecutionProvider"]

    def run(self, names: Sequence[str] | None, inputs: Mapping[str, Any]) -> list[Any]:
        return self._model.run(names, {name: getattr(value, "_value", value) for name, value in inputs.items()})

    def run_with_ort_values(self, names: Sequence[str], inputs: Mapping[str, OrtValue]) -> list[OrtValue]:
        return list(map(OrtValue, self.run(names, inputs)))

    def io_binding(self) -> Binding:
        return Binding()

    def run_with_iobinding(self, binding: Binding) -> None:
        binding.results = self.run_with_ort_values(binding.names, binding.inputs)


class Binding:
    """Inputs and outputs of a session's run."""

    def __init__(self) -> None:
        self.inputs: dict[str, OrtValue] = {}
        self.names: list[str] = []
        self.results: list[OrtValue] = []

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        self.inputs[name] = value

    def bind_output(self, name: str) -> None:
        self.names.append(name)

    def get_outputs(self) -> list[OrtValue]:
        return self.results


class Core:
    """The device manager of the package ``openvino``; it reads ONNX only."""

    def read_model(self, model: str | bytes, weights: bytes = b"") -> Model:
        return Model(_installed()["openvino"](), model)

    def compile_model(self, model: Model, device: str, options: Mapping[str, str]) -> SimpleNamespace:
        names = [output.name for output in model.outputs]
        model.load()

        def infer(inputs: Mapping[str, Any]) -> dict[str, Any]:
            return dict(zip(names, model.run(names, inputs), strict=True))

        return SimpleNamespace(outputs=names, create_infer_request=lambda: SimpleNamespace(infer=infer))


def _package(name: str, **contents: Any) -> ModuleType:
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)  # what `find_spec` looks for
    vars(module).update(contents, __version__="0")
    return module


_ANY = DistributionFinder.Context()
_PACKAGES = {
    "onnxruntime": _package(
        "onnxruntime",
        InferenceSession=InferenceSession,
        OrtValue=OrtValue,
        SessionOptions=SessionOptions,
        GraphOptimizationLevel=SimpleNamespace(ORT_ENABLE_ALL=99, ORT_ENABLE_BASIC=1, ORT_DISABLE_ALL=0),
        OrtAllocatorType=SimpleNamespace(ORT_ARENA_ALLOCATOR=1),
        get_available_providers=lambda: ["CPUExecutionProvider"],
    ),
    "openvino": _package("openvino", Core=Core),
}


def _installed() -> dict[str, type[FakeRuntime]]:
    named = (entry.split("=") for entry in os.environ.get(VARIABLE, "").split(",") if entry)
    return {package: globals()[behaviour] for package, behaviour in named}


class _Distribution(Distribution):
    """What `importlib.metadata` tells of a fake."""

    def __init__(self, name: str) -> None:
        self._metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n"

    def read_text(self, filename: str) -> str | None:
        return self._metadata if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        return Path(path)


class _Distributions(DistributionFinder):
    """Finds the distributions of fakes before those of the real packages."""

    def find_spec(self, *_: Any) -> None:
        """Find no module."""

    def find_distributions(self, context: DistributionFinder.Context = _ANY) -> Iterator[Distribution]:
        return (_Distribution(name) for name in _installed() if name == context.name)


_FINDER = _Distributions()


def hide_runtimes() -> None:
    """Hide real runtimes from imports, and show the fakes that the variable names; without the variable do nothing."""
    if VARIABLE not in os.environ:
        return
    fakes = _installed()
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    for name in FOREIGN:
        sys.modules[name] = _PACKAGES[name] if name in fakes else None  # type: ignore[assignment]  # None: not installed
    session.onnxruntime.cache_clear()


@contextmanager
def installed(**fakes: type[FakeRuntime]) -> Iterator[None]:
    """Have a fake installed as the package of each keyword, here and in processes of the sandbox."""
    before = os.environ[VARIABLE]
    os.environ[VARIABLE] = ",".join(f"{package}={behaviour.__name__}" for package, behaviour in fakes.items())
    hide_runtimes()
    try:
        yield
    finally:
        os.environ[VARIABLE] = before
        hide_runtimes()
