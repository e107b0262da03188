"""Every hazard, and those that an operator can have."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from vinculum.analysis.hazards import divisors, functions, integers, legality
from vinculum.analysis.hazards.hazard import Hazard

HAZARDS: tuple[Hazard, ...] = (
    divisors.IntegerZeroDivisor(),
    divisors.ZeroDivisor(),
    divisors.ZeroOverZero(),
    functions.MaskedRow(),
    integers.MinOverMinusOne(),
    divisors.QuotientOverflow(),
    divisors.EpsilonLost(),
    integers.IntegersThroughFloat(),
    integers.RoundedQuotient(),
    integers.FloorExpected(),
    legality.LegacyBroadcast(),
    legality.IllegalElementType(),
    legality.IllegalAttribute(),
    divisors.SubnormalDivisor(),
    integers.NarrowedIntegers(),
    legality.SonnxShapes(),
    legality.SonnxTypes(),
    legality.SonnxUntyped(),
    legality.SonnxZeroDivisor(),
    legality.SonnxOverflow(),
    functions.OutsideDomain(),
    functions.ExponentialOverflow(),
)
DIVIDES_INSIDE: tuple[Hazard, ...] = tuple(hazard for hazard in HAZARDS if isinstance(hazard, divisors.ZeroDivisor))
"""The hazards of every operator that divides inside, besides its own."""
BY_CODE: Mapping[str, Hazard] = {hazard.code: hazard for hazard in HAZARDS}


def by_operator(profiles: Collection[str]) -> Mapping[str, tuple[Hazard, ...]]:
    """Return the hazards that each operator can have on targets of some profiles."""
    wanted = [hazard for hazard in HAZARDS if not hazard.profile or hazard.profile in profiles]
    operators = {operator for hazard in wanted for operator in hazard.operators}
    return {o: tuple(hazard for hazard in wanted if o in hazard.operators) for o in operators}
