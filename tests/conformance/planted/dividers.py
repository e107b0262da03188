"""Planted dividers: each is wrong in one way, or right in an unusual one, and lists its true causes.

``tests.conformance.planted.dividers:Planted[divider=multiplies by the reciprocal]`` names one on a command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import count
from typing import Any

import ml_dtypes
import numpy as np

from tests import fake_runtime as fake
from tests.conformance.planted import codes
from tests.conformance.planted.codes import Asked, die, overflows, through_floats, tiny
from tests.fake_runtime import Array, FakeRuntime
from vinculum.conformance.cases.operation import Operation
from vinculum.sandbox import Limits
from vinculum.tensors.storage import element_type_of

Code = Callable[[Asked], Any]
SEEDS = count()
"""Each start of a divider draws other numbers."""


class Truth(Enum):
    """The verdict on a divider."""

    RIGHT = "exact"
    WRONG = "wrong, by a cause that is true of it, or by none"
    UNSTEADY = "answers differ between runs"


BUSY = Limits(seconds=60.0)
"""Time that a call may need on a busy machine."""


@dataclass(frozen=True)
class Divider:
    """A planted divider.

    - `name`: What it does.
    - `types`: The element types that it has, separated by spaces.
    - `code`: A function that returns the quotients, or a class of runtimes.
    - `causes`: The true causes, one of which must be named; if there are none, none need be. A name that ends with
      ``...`` stands for all that begin so.
    - `aimed`: The pattern of the cases made to find it, all of which deviate; empty if there are none.
    - `truth`: The verdict on it.
    - `row`: The operator version of the cases in `make test`.
    - `limits`: The limits of a call; `make test` leaves out dividers that exceed them, which need their own process.
    - `backend`: The backend on a command line, if it is not one of our plug-ins.
    """

    name: str
    types: str
    code: Code | type[FakeRuntime] = FakeRuntime
    causes: tuple[str, ...] = ()
    aimed: str = ""
    truth: Truth = Truth.WRONG
    row: str = "Div-14"
    limits: Limits = BUSY

    @property
    def lasts(self) -> bool:
        """Whether it takes more time or memory than is allowed."""
        return self.limits is not BUSY

    backend: str = ""

    @property
    def called(self) -> str:
        """The backend, as on a command line."""
        return self.backend or f"{__name__}:Planted[divider={self.name}]"

    def made(self) -> FakeRuntime:
        """Return a new runtime, which counts its calls from 1."""
        return self.code() if isinstance(self.code, type) else Coded(self.code)


class Planted(FakeRuntime):
    """The divider that the option ``divider`` names, for its element types only."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.own = DIVIDERS[options["divider"]]
        self._runtime = self.own.made()

    def covers(self, operation: Operation) -> bool:
        named = element_type_of(operation.operands[0]).name in self.own.types.split()
        return named and self._runtime.covers(operation)

    def answer(self, operation: Operation) -> Array:
        # The fake runtime reads attributes by their declared names alone.
        declared = {name: operation.spec.attribute(name) for name in operation.attributes}
        attributes = {known.name if (known := declared[n]) else n: v for n, v in operation.attributes.items()}
        return self._runtime.answer(replace(operation, attributes=attributes))


class Coded(FakeRuntime):
    """A runtime that computes quotients by a function."""

    def __init__(self, code: Code) -> None:
        self._code, self._calls, self._random = code, 0, np.random.default_rng(next(SEEDS))
        self._kept: dict[Any, Any] = {}

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        self._calls += 1
        return self._code(Asked(operation, a, b, self._calls, self._kept, self._random))


def _a(*forms: str) -> tuple[str, ...]:
    """Return the names of arithmetic causes."""
    return tuple(f"arithmetic: {form}" for form in forms)


def _truncated(form: str) -> tuple[str, ...]:
    """Return the causes of a divider that always truncates, by an arithmetic."""
    return _a(f"{form}", f"trunc({form.partition(' computed')[0]}) computed{form.partition(' computed')[2]}")


def _r(rule: str) -> tuple[str, ...]:
    """Return the name of a rule."""
    return (f"rule: {rule}",)


_F32, _F16, _BF16 = np.float32, np.float16, ml_dtypes.bfloat16
_EXACT, _UNSTEADY = Truth.RIGHT, Truth.UNSTEADY
_FLOAT, _INT32, _INT64 = "Div-14/float", "Div-14/int32", "Div-14/int64"
_TIES, _EDGES = f"{_FLOAT}/subnormal quotients at and next to ties/*", "numbers at the edges of the type/*"
_INVERTED = _a("a * (1/b)")

_ROWS = (
    # An arithmetic of the catalogue.
    Divider("multiplies by the reciprocal", "float", fake.MultipliesByReciprocal, _INVERTED,
            f"{_FLOAT}/x divided by itself/*"),
    Divider("multiplies doubles by the reciprocal", "double", lambda x: x.inverted, _INVERTED),
    Divider("multiplies by the reciprocal in double", "float", lambda x: x.through(float, inverse=True),
            _a("a * (1/b) computed in float64"), _TIES),
    # One quotient of the suite is wrong, which proves no arithmetic.
    Divider("multiplies float16 by the reciprocal in float", "float16", lambda x: x.through(_F32, inverse=True)),
    Divider("flushes operands", "float", fake.FlushesOperands, _a("flush(a) / flush(b)")),
    Divider("flushes quotients", "float", lambda x: codes.flushed(x.right), _a("flush(a / b)")),
    Divider("flushes operands and quotients", "double",
            lambda x: codes.flushed(codes.flushed(x.a) / codes.flushed(x.b)), _a("flush(flush(a) / flush(b))")),
    Divider("computes float in float16", "float", lambda x: x.through(_F16), _a("a / b computed in float16")),
    Divider("computes float in bfloat16", "float", lambda x: x.through(_BF16), _a("a / b computed in bfloat16")),
    Divider("computes double in float", "double", lambda x: x.through(_F32), _a("a / b computed in float32")),
    Divider("cuts bfloat16 off", "bfloat16", fake.CutsBfloat16, _a("a / b computed in float32, cut off")),
    Divider("inverts divisors that are repeated", "float",
            lambda x: x.inverted if x.divisor.size < np.broadcast(x.a, x.divisor).size else x.right, _INVERTED,
            f"{_FLOAT}/distinct numbers/(2, 3, 4, 5) by (5,)/*"),
    Divider("inverts one divisor for all", "float", lambda x: x.right if x.divisor.ndim else x.inverted, _INVERTED,
            f"{_FLOAT}/ordinary numbers divided by 10/*"),
    # Scalar divisors of vectors are right, which refutes any cause in these circumstances.
    Divider("inverts one divisor of matrices", "float",
            lambda x: x.inverted if x.a.ndim > 1 and not x.divisor.ndim else x.right,
            aimed=f"{_FLOAT}/distinct numbers/(3, * by a scalar/*"),
    Divider("inverts constant divisors", "float",
            lambda x: x.inverted if x.operation.constant[-1] else x.right, _INVERTED,
            f"{_FLOAT}/ordinary numbers divided by 10/*/constant divisor"),
    Divider("inverts constant scalars", "double",
            lambda x: x.inverted if x.operation.constant == (False, True) and not x.divisor.ndim else x.right,
            _INVERTED, "Div-14/double/ordinary numbers divided by 3/*/constant divisor"),
    Divider("divides int32 in float", "int32", lambda x: through_floats(x, _F32),
            _truncated("a / b computed in float32")),
    Divider("divides int64 in double", "int64", lambda x: through_floats(x, float),
            _truncated("a / b computed in float64"), f"{_INT64}/large numbers divided by 7/*"),
    *(Divider(f"divides {name} in {dtype.__name__} and clamps", name, partial(codes.clamp, dtype),
              _truncated(f"a / b computed in {dtype.__name__}, clamped"), f"Div-14/{name}/{_EDGES}")
      for name, dtype in (("uint32", _F32), ("int64", np.float64))),
    Divider("multiplies int32 by a reciprocal in double", "int32", lambda x: through_floats(x, float, inverse=True),
            _truncated("a * (1/b) computed in float64")),
    Divider("drops the upper half of int64", "int64", fake.NarrowsInt64, _a("int32(a) / int32(b)")),
    Divider("saturates int64 to int32", "int64", codes.in_saturated_int32, _a("saturate_int32(a) / saturate_int32(b)")),
    Divider("takes uint8 as int8", "uint8", codes.as_signed, _a("signed(a) / signed(b)")),
    Divider("floors", "int32", fake.Floors, _a("floor(a / b)")),
    Divider("floors in version 7", "int32", codes.floor_in_7, _a("floor(a / b)"), row="Div-7"),
    Divider("truncates where it is to floor", "int32", lambda x: through_floats(x, float), _a("trunc(a / b)"),
            row="Divide-1 floor"),
    Divider("rounds int8 to nearest", "int8",
            lambda x: np.clip(np.rint(x.exact), -128, 127).astype(np.int8), _a("nearest(a / b)")),
    Divider("has no negative remainders", "int32", codes.nonnegative_remainders, _a("euclid(a / b)")),
    # Floats, by no arithmetic of the catalogue.
    Divider("improves an estimate by one step of Newton", "float", codes.refine),
    Divider("rounds ties away from zero", "float", codes.round_ties_away, aimed=_TIES),
    Divider("rounds toward zero", "float", lambda x: x.toward(0, np.abs(x.right.astype(float)) > np.abs(x.exact))),
    Divider("rounds toward infinity", "float", lambda x: x.toward(np.inf, x.right.astype(float) < x.exact)),
    Divider("rounds twice", "float", codes.round_to_36_bits,
            aimed=f"{_FLOAT}/quotients hard to round/*/run-time operands"),
    Divider("cuts subnormal quotients off", "float",
            lambda x: x.toward(0, tiny(x.right) & (np.abs(x.right.astype(float)) > np.abs(x.exact))),
            aimed=f"{_FLOAT}/quotients next to underflow/*"),
    Divider("saturates next to overflow", "float",
            lambda x: x.toward(0, np.isinf(x.right) & (np.abs(x.exact) < 2.0**128 * (1 + 2.0**-20))),
            aimed=f"{_FLOAT}/quotients next to overflow/*"),
    Divider("saturates float16", "float16", lambda x: x.toward(0, np.isinf(x.right) & np.isfinite(x.a) & (x.b != 0))),
    Divider("saturates float8", "float8e5m2", codes.saturate_float8, row="Divide-1"),
    Divider("cuts quotients of float16 off to float8", "float8e5m2", codes.cut_from_float16, row="Divide-1"),
    Divider("gives 1 for x / x", "float", lambda x: np.where(x.a.view("u4") == x.b.view("u4"), _F32(1), x.right)),
    Divider("folds itself to 1", "float",
            codes.fold_to_one,
            aimed="Div-14/*/zeros, infinities and NaN divided by themselves/*/constant operands"),
    Divider("gives +0 for 0 / -x", "float", lambda x: np.where((x.a == 0) & (x.right == 0), _F32(0), x.right)),
    Divider("gives +0 for every -0", "float", fake.LosesTheSignOfZero),
    Divider("loses the sign of a zero divisor", "float", lambda x: x.a / np.where(x.b == 0, _F32(0), x.b),
            aimed=f"{_FLOAT}/zeros, infinities and NaN/*"),
    # Right quotients of cases that deviate refute that -0 counts as +0.
    Divider("takes subnormal divisors for +0", "float", lambda x: x.a / np.where(tiny(x.b), _F32(0), x.b)),
    Divider("gives infinity for inf / inf", "float",
            lambda x: np.where(np.isinf(x.a) & np.isinf(x.b), _F32(np.inf), x.right)),
    Divider("gives 0 for NaN", "float", lambda x: np.nan_to_num(x.right, nan=0, posinf=np.inf, neginf=-np.inf)),
    Divider("gives 1 for x / 0", "float", lambda x: np.where(x.b == 0, _F32(1), x.right)),
    Divider("inverts by exponentials", "float", codes.by_exponentials,
            aimed="Reciprocal-13/float/reciprocals hard to round/*", row="Reciprocal-13"),
    Divider("rounds doubles to 64 bits first", "double", lambda x: x.through(np.longdouble)),
    Divider("rounds subnormal quotients twice", "float", codes.round_subnormals_twice, aimed=_TIES),
    Divider("flushes quotients of normal numbers", "float",
            lambda x: np.where(tiny(x.a) | tiny(x.b), x.right, codes.flushed(x.right)),
            aimed=f"{_FLOAT}/quotients next to underflow/*"),
    Divider("gives 0 for signalling NaN", "float",
            lambda x: np.where(np.isnan(x.a) & (x.a.view("u4") & 0x400000 == 0), _F32(0), x.right)),
    Divider("inverts by negative scalars", "float",
            lambda x: x.inverted if not x.divisor.ndim and x.divisor < 0 else x.right,
            aimed=f"{_FLOAT}/ordinary numbers divided by -7/*"),
    # By the place of an element, the number of elements or the call.
    Divider("flushes in whole packets of 8", "float",
            lambda x: np.where(x.within(8), codes.flushed(x.right), x.right), _a("flush(a / b) where packets of 8")),
    Divider("negates the last two of 4", "float",
            lambda x: np.where((x.place % 4 >= 2) & x.within(4), -x.right, x.right)),
    Divider("spoils the last element", "float", lambda x: np.where((x.left == 1) & (x.a.size > 1), _F32(5), x.right)),
    Divider("spoils the last 3 elements", "float", lambda x: np.where(x.left <= 3, x.inverted, x.right)),
    Divider("forgets the last of 15", "double",
            lambda x: np.where((x.left == 1) & (x.a.size % 16 == 15), 0.0, x.right),
            aimed="Div-14/double/numbers in sequence/equal shapes of 15 elements/*"),
    Divider("negates where 7 remain after 8", "float", lambda x: -x.right if x.a.size % 8 == 7 else x.right,
            aimed=f"{_FLOAT}/numbers in sequence/equal shapes of 31 elements/*"),
    *(Divider(f"inverts what remains after packets of {n}", "float", partial(codes.invert_after_packets, n))
      for n in (4, 8, 16)),
    Divider("inverts whole packets of 8", "float", lambda x: np.where(x.within(8), x.inverted, x.right)),
    Divider("repeats the first thread", "int32", codes.repeat_the_first_thread,
            aimed=f"{_INT32}/numbers in sequence/equal shapes of 70001 elements/*"),
    Divider("is wrong in the first call", "float", lambda x: x.through(_F16) if x.call == 1 else x.right),
    Divider("is wrong in the second call", "float", lambda x: x.through(_F16) if x.call == 2 else x.right),
    Divider("remembers by shape", "float", codes.remembered),
    Divider("remembers constants by shape", "float", codes.constant_remembered, truth=_UNSTEADY),
    Divider("doubles at the second shape", "float", codes.doubled_at_the_second_shape, truth=_UNSTEADY),
    Divider("writes into its dividend", "float", codes.write_into_the_dividend,
            _r("refused where shapes that are equal")),
    # By shapes.
    Divider("lays divisors from the left in rank 3", "float", codes.from_the_left),
    Divider("reads stretched divisors of rank 3 backward", "float", codes.backward),
    Divider("drops axis", "float", fake.DropsAxis, _r("axis ignored"), row="Div-6"),
    Divider("takes no axis for the first", "int32", codes.TakesNoAxisForTheFirst,
            _r("aligned from the first dimension"), row="Divide-1 floor"),
    Divider("drops axis of squares", "float", codes.DropsAxisOfSquares,
            aimed="Div-6/*/distinct numbers/(3, 3) by (3,), broadcast=1, axis=0/*", row="Div-6"),
    Divider("is wrong with scalars", "double", lambda x: x.right if x.a.ndim else -x.right,
            aimed="Div-14/double/distinct numbers/a scalar by a scalar/*"),
    Divider("is wrong beyond rank 5", "int64",
            lambda x: -x.right if x.a.ndim > 5 and x.stretched else x.right,
            aimed=f"{_INT64}/distinct numbers/(3, 1, 3, 1, 3, 1) by (1, 3, 1, 3, 1, 3)/*"),
    Divider("loses a stretched middle", "int64", codes.forget_the_middle,
            aimed=f"{_INT64}/distinct numbers/(1, 3, 1) by (3, 1, 3)/*"),
    Divider("is wrong with an even number of rows", "double",
            lambda x: -x.right if x.a.ndim == 2 and x.a.shape[0] % 2 == 0 else x.right,
            aimed="Div-14/double/distinct numbers/(2, 4) by (2, 4)/*"),
    Divider("is wrong with an odd number of even columns", "int32",
            lambda x: -x.right if x.a.ndim == 2 and x.a.shape[0] % 2 and x.a.shape[1] % 2 == 0 else x.right,
            aimed=f"{_INT32}/distinct numbers/(3, 4) by */*"),
    Divider("inverts for 16 channels", "float",
            lambda x: x.inverted if x.a.ndim == 4 and x.a.shape[1] == 16 and x.stretched else x.right,
            aimed=f"{_FLOAT}/distinct numbers/(2, 16, 4, 4) by (16, 1, 1)/*"),
    Divider("transposes squares", "float",
            lambda x: x.right.T if x.a.ndim == 2 and x.a.shape[0] == x.a.shape[1] else x.right,
            aimed=f"{_FLOAT}/distinct numbers/(3, 3) by (3, 3)/*"),
    Divider("takes a column for a row of squares", "float", codes.column_as_row,
            aimed=f"{_FLOAT}/distinct numbers/(3, 1) by (1, 3)/*"),
    Divider("negates the second half beyond 2**15", "double",
            lambda x: np.where((x.a.size > 1 << 15) & (x.left <= x.a.size // 2), -x.right, x.right),
            aimed="Div-14/double/numbers in sequence/equal shapes of 70001 elements/*"),
    # Integers, by no arithmetic of the catalogue.
    Divider("is off by one above 2**53", "int64", lambda x: np.where(np.abs(x.a) > 1 << 53, x.right + 1, x.right)),
    Divider("is off by one below -10**6", "int32", lambda x: np.where(x.right < -(10**6), x.right - 1, x.right)),
    Divider("is short of multiples", "int64",
            lambda x: np.where((np.abs(x.right) > 1 << 40) & (x.b != 0) & (x.a == x.b * x.right), x.right - 1, x.right),
            aimed=f"{_INT64}/multiples of the divisor/*"),
    Divider("negates MIN / 1", "int64",
            lambda x: np.where((x.a == np.iinfo(x.a.dtype).min) & (x.b == 1), ~x.a, x.right),
            aimed=f"{_INT64}/{_EDGES}"),
    Divider("shifts by a negative power of two", "int64", codes.by_shifting_negated,
            aimed=f"{_INT64}/ordinary numbers divided by -8/*"),
    Divider("gives 0 by a scalar of 1", "int32",
            lambda x: x.right * int(bool(x.divisor.ndim or x.divisor != 1 or not x.a.ndim)),
            aimed=f"{_INT32}/ordinary numbers divided by 1/*"),
    Divider("multiplies by a tenth in fixed point", "uint64",
            lambda x: np.where((x.divisor.ndim == 0) & (x.b == 10) & (x.a > 1 << 63), x.right + 1, x.right),
            aimed="Div-14/uint64/large numbers divided by 10/*"),
    Divider("shifts by a power of two", "int32", codes.by_shifting, aimed=f"{_INT32}/ordinary numbers divided by 4/*"),
    Divider("multiplies in fixed point", "uint32", codes.in_fixed_point,
            aimed="Div-14/uint32/large numbers divided by 7/*/constant divisor"),
    Divider("takes the divisor as signed", "uint32",
            lambda x: np.where((x.b >= 1 << 31) & (x.a < x.b), np.uint32(1), x.right), aimed=f"Div-14/uint32/{_EDGES}"),
    Divider("divides int64 by a scalar in double", "int64",
            lambda x: x.right if x.divisor.ndim else through_floats(x, float), _truncated("a / b computed in float64"),
            aimed=f"{_INT64}/large numbers divided by 7/*"),
    # What is not a number.
    Divider("gives a scalar a dimension", "float", lambda x: x.right if x.a.ndim else x.right.reshape(1),
            _r("gave another shape where ...")),
    Divider("transposes", "float", lambda x: x.right.T),
    Divider("gives int32 as int64", "int32", lambda x: x.right.astype(np.int64), _r("gave int64 where ...")),
    Divider("gives lists", "int32", fake.GivesLists, _r("gave no array where ...")),
    Divider("refuses uint8", "uint8 int8", lambda x: codes.refuse(x, x.a.dtype == np.uint8), _r("refused where ...")),
    Divider("refuses a zero divisor", "float", fake.RaisesAtZero, _r("refused where x / 0")),
    Divider("refuses constants", "float", lambda x: codes.refuse(x, any(x.operation.constant)),
            _r("refused where a constant operand")),
    Divider("takes what does not fit", "float", codes.TakesWhatDoesNotFit,
            _r("accepted where shapes that the version does not join")),
    Divider("takes what has one size", "float", codes.TakesWhatHasOneSize,
            aimed=f"{_FLOAT}/shapes that do not broadcast/(2, 3) by (3, 2)/*"),
    Divider("takes everything", "float", fake.AcceptsAll, _r("accepted where ...")),
    Divider("dies of MIN / -1", "int32", lambda x: die(x, overflows(x)), _r("crashed: SIGFPE where MIN / -1"),
            "Div-14/int32/MIN divided by -1/*/run-time operands"),
    Divider("dies of MIN / -1 after packets of 4", "int32", lambda x: die(x, overflows(x) & ~x.within(4)),
            _r("crashed: SIGFPE where MIN / -1 in the remainder after packets of 4")),
    Divider("dies of MIN / -1 in pairs", "int32", lambda x: die(x, overflows(x) & (x.a.size == 2)),
            _r("crashed: SIGFPE where MIN / -1 among two elements")),
    Divider("dies of MIN / -1 by a constant", "int32",
            lambda x: die(x, overflows(x) & (x.operation.constant == (False, True))),
            aimed="Div-14/int32/MIN divided by -1/scalar divisor/constant divisor"),
    Divider("dies of x / 0", "int32", lambda x: die(x, x.b == 0), _r("crashed: SIGFPE where x / 0")),
    # By the number of elements, as nearly as cases tell.
    Divider("dies of x / 0 beyond 16", "int32", lambda x: die(x, (x.b == 0) & (x.a.size > 16)),
            _r("crashed: SIGFPE where x / 0 and more than 16 elements")),
    Divider("dies of x / 0 beyond 40", "int32", lambda x: die(x, (x.b == 0) & (x.a.size > 40)),
            _r("crashed: SIGFPE where x / 0 and more than 33 to ...")),
    Divider("dies of x / 0 from 9 to 64", "int32", lambda x: die(x, (x.b == 0) & (x.a.size >= 9) & (x.a.size <= 64))),
    Divider("dies of MIN / -1 up to 16", "int8", lambda x: die(x, overflows(x) & (x.a.size <= 16)),
            _r("crashed: SIGFPE where MIN / -1 and at most 16 elements")),
    Divider("dies of MIN / -1 in whole packets of 8", "int32", lambda x: die(x, overflows(x) & (x.a.size % 8 == 0))),
    Divider("dies of a constant 0 beyond 16", "int32",
            lambda x: die(x, (x.b == 0) & (x.a.size > 16) & (x.operation.constant == (False, True))),
            _r("crashed: SIGFPE where x / 0 and a constant divisor and more than 16 elements")),
    Divider("dies of four zeros", "int32", lambda x: die(x, np.count_nonzero(x.b == 0) > 3)),
    Divider("dies of 0 in the first half beyond 16", "int32",
            lambda x: die(x, (x.b == 0) & (x.left > (x.a.size + 1) // 2) & (x.a.size > 16))),
    Divider("dies of MIN / -1 that is not last", "int32", lambda x: die(x, overflows(x) & (x.left > 1))),
    Divider("dies of large dividends", "int32", lambda x: die(x, np.abs(x.a.astype(float)) > 2.0**30)),
    Divider("refuses scalar divisors beyond 16", "int8",
            lambda x: codes.refuse(x, not x.divisor.ndim and x.a.size > 16),
            _r("refused where a divisor of rank 0 and more than 3 to ...")),
    Divider("refuses beyond 16 but for whole packets", "float",
            lambda x: codes.refuse(x, x.a.size > 16 and x.a.size % 16 > 0)),
    Divider("gives double up to 16", "float", lambda x: x.right.astype(float) if x.a.size <= 16 else x.right,
            _r("gave float64 where a legal operation and at most 16 elements")),
    Divider("hangs with nothing to divide", "int8", codes.hang, _r("hung where an empty operand"),
            limits=Limits(seconds=2.0)),
    Divider("eats memory with nothing to divide", "int8", codes.eat, _r("out of memory where an empty operand"),
            limits=Limits(seconds=60.0, memory=288 << 20)),
    # Answers that differ between runs.
    Divider("chooses its kernel at random", "float", lambda x: x.inverted if x.random.random() < 0.5 else x.right,
            truth=_UNSTEADY),
    Divider("has a racing thread", "float",
            lambda x: np.where(x.place < x.random.integers(x.a.size + 1), x.right, x.inverted), truth=_UNSTEADY),
    Divider("gives what memory held", "float",
            lambda x: np.where(x.random.random(x.a.shape) < 0.02, x.random.random(x.a.shape, _F32), x.right),
            truth=_UNSTEADY),
    Divider("is off by a bit in every second call", "float", fake.Races, truth=_UNSTEADY),
    # What is right, however it looks.
    Divider("gives other NaN", "float", codes.with_other_nan, truth=_EXACT),
    Divider("gives MIN or MAX where any will do", "int32", codes.limits_where_open, truth=_EXACT),
    Divider("gives anything where any will do", "int32", codes.anything_where_open, truth=_EXACT),
    Divider("refuses x / 0 and MIN / -1", "int32", fake.RefusesFaults, truth=_EXACT),
    Divider("computes float16 in float", "float16", lambda x: x.through(_F32), truth=_EXACT),
    Divider("computes uint8 in bfloat16", "uint8", lambda x: x.through(_BF16) if x.b.all() else x.right, truth=_EXACT),
)  # fmt: skip
_AS_BACKENDS = "multiplies by the reciprocal", "floors", "divides int32 in float", "gives +0 for 0 / -x"


def _all() -> Iterator[Divider]:
    """Yield all rows, and some of them again behind ONNX's own interface."""
    yield from _ROWS
    for row in _ROWS:
        if row.name in _AS_BACKENDS:
            backend = f"tests.conformance.planted.onnx_backend:Backend[divider={row.name}]"
            yield replace(row, name=f"{row.name} as an ONNX backend", aimed="", backend=backend)


DIVIDERS: Mapping[str, Divider] = {divider.name: divider for divider in _all()}
"""All planted dividers in Python, by name."""
