"""The classes of floating-point operands, for divisions and for Reciprocal."""

from __future__ import annotations

from functools import partial

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.operation import BOTH, DIVIDEND, DIVISOR, FOLDED
from vinculum.conformance.cases.values import float_operands as given
from vinculum.conformance.cases.values import hard_quotients as hard
from vinculum.conformance.cases.values.encodings import random_bits, whole
from vinculum.conformance.cases.values.float_operands import alone, by_each, by_themselves, from_pairs, random_pairs
from vinculum.conformance.cases.values.value_class import Joined, ValueClass, above, of_bits

QUICK, DEFAULT, FULL = Level
QUOTIENT, ORDINARY, SPECIAL, DISCARDED = Subject.QUOTIENT, Subject.ORDINARY, Subject.SPECIAL, Subject.DISCARDED
BY_ZERO, TOO_LARGE = Subject.ZERO_BY_ZERO, Subject.TOO_LARGE
SCALAR, SCALAR_DIVIDEND, EQUAL = Joined.SCALAR_DIVISOR, Joined.SCALAR_DIVIDEND, Joined.EQUAL
_PAIRS, _HALF_PAIRS = 1 << 15, 1 << 18  # More for 16-bit formats.


# Scenario, subject, operands; level for the newest version, level for older ones; placements with constants.
DIVISIONS = (
    ValueClass("ordinary numbers", ORDINARY, given.ordinary, QUICK, DEFAULT, FOLDED),
    ValueClass("x divided by itself", QUOTIENT, by_themselves(given.nonzero_codes), QUICK, DEFAULT, DIVISOR),
    ValueClass("whole numbers divided by their factors", QUOTIENT, given.multiples, DEFAULT, FULL, DIVISOR),
    ValueClass("ordinary numbers divided by 3", QUOTIENT, given.divided_by(3), QUICK, DEFAULT, DIVISOR, SCALAR),
    ValueClass("ordinary numbers divided by 10", QUOTIENT, given.divided_by(10), DEFAULT, FULL, DIVISOR + BOTH, SCALAR),
    ValueClass("1 divided by ordinary numbers", QUOTIENT, given.dividing(1), DEFAULT, FULL, DIVIDEND, SCALAR_DIVIDEND),
    ValueClass("3 divided by ordinary numbers", QUOTIENT, given.dividing(3), DEFAULT, FULL, DIVIDEND, SCALAR_DIVIDEND),
    ValueClass("zeros, infinities and NaN", SPECIAL, by_each(given.special_codes, given.special_codes),
               QUICK, QUICK, DIVISOR + BOTH),
    ValueClass("zeros, infinities and NaN divided by themselves", SPECIAL, by_themselves(given.special_codes),
               DEFAULT, FULL, BOTH),
    ValueClass("zero divided by subnormals", SPECIAL, by_each(given.zeros, given.subnormal_codes(30)),
               QUICK, DEFAULT, DIVISOR),
    ValueClass("zero divided by zero", BY_ZERO, by_each(given.zeros, given.zeros)),
    ValueClass("edge numbers by each other", SPECIAL, by_each(given.edge_codes, given.edge_codes), DEFAULT, FULL, BOTH),
    ValueClass("subnormal dividends", QUOTIENT, from_pairs(given.subnormal_dividends)),
    # Finds runtimes that flush subnormal numbers only where one divisor serves all dividends.
    ValueClass("subnormal dividends divided by 3", QUOTIENT, given.subnormals_divided_by(3),
               DEFAULT, FULL, DIVISOR, SCALAR),
    ValueClass("subnormal divisors", QUOTIENT, from_pairs(given.subnormal_divisors), DEFAULT, FULL, DIVISOR),
    ValueClass("quotients next to overflow", TOO_LARGE, from_pairs(hard.next_to_overflow), QUICK, DEFAULT, BOTH),
    ValueClass("quotients next to underflow", QUOTIENT, from_pairs(hard.next_to_underflow), DEFAULT, FULL, BOTH),
    ValueClass("subnormal quotients at and next to ties", QUOTIENT, from_pairs(hard.subnormal_ties),
               QUICK, DEFAULT, BOTH),
    ValueClass("every pair of 8-bit values", QUOTIENT, by_each(given.every_code, given.every_code),
               DEFAULT, DEFAULT, (), EQUAL, of_bits(8)),
    ValueClass("quotients hard to round", DISCARDED, from_pairs(partial(hard.nearest_to_halfway, count=1000)),
               QUICK, QUICK, FOLDED, EQUAL, above(8)),
    ValueClass("10000 quotients hard to round", DISCARDED, from_pairs(partial(hard.nearest_to_halfway, count=10_000)),
               FULL, FULL, (), EQUAL, above(8)),
    ValueClass("random bit patterns", QUOTIENT, random_pairs(5000), DEFAULT, DEFAULT, (), EQUAL, above(8)),
    ValueClass(f"{_HALF_PAIRS} pairs of random bit patterns", QUOTIENT, random_pairs(_HALF_PAIRS),
               FULL, FULL, (), EQUAL, of_bits(16)),
    ValueClass(f"{_PAIRS} pairs of random bit patterns", QUOTIENT, random_pairs(_PAIRS),
               FULL, FULL, (), EQUAL, above(16)),
)  # fmt: skip

RECIPROCALS = (
    ValueClass("zeros, infinities and NaN", SPECIAL, alone(given.special_codes), QUICK, QUICK, BOTH),
    ValueClass("ordinary numbers", ORDINARY, lambda t: (given.ordinary_floats(t, "operands of Reciprocal"),),
               QUICK, QUICK, BOTH),
    ValueClass("reciprocals hard to round", QUOTIENT, alone(lambda _, fmt: hard.hard_reciprocals(fmt, 300)),
               QUICK, QUICK, BOTH),
    ValueClass("edge numbers", SPECIAL, alone(given.edge_codes), DEFAULT, DEFAULT, BOTH),
    ValueClass("subnormal numbers", QUOTIENT, alone(given.subnormal_codes(500)), DEFAULT, DEFAULT, BOTH),
    ValueClass("subnormal reciprocals", QUOTIENT, alone(given.with_subnormal_reciprocals), DEFAULT, DEFAULT, BOTH),
    ValueClass("reciprocals next to overflow", TOO_LARGE, alone(given.next_to_overflow), DEFAULT, DEFAULT, BOTH),
    ValueClass("the whole numbers to 1000", QUOTIENT, lambda t: (whole(range(1, 1001), t),),
               DEFAULT, FULL, BOTH),
    ValueClass("random bit patterns", QUOTIENT, alone(lambda t, _: random_bits("random bit patterns", t, 3000)),
               DEFAULT, DEFAULT, BOTH),
    ValueClass("every 16-bit value", QUOTIENT, alone(given.every_code), FULL, FULL, (), EQUAL, of_bits(16)),
    ValueClass(f"{_PAIRS} random bit patterns", QUOTIENT,
               alone(lambda t, _: random_bits("many random bit patterns", t, _PAIRS)),
               FULL, FULL, (), EQUAL, above(16)),
)  # fmt: skip
