"""Every hazard, and those that an operator can have."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from vinculum.analysis.hazards.divisors import (
    EpsilonLost,
    IntegerZeroDivisor,
    QuotientOverflow,
    SubnormalDivisor,
    ZeroDivisor,
    ZeroOverZero,
)
from vinculum.analysis.hazards.functions import ExponentialOverflow, MaskedRow, OutsideDomain
from vinculum.analysis.hazards.hazard import Hazard
from vinculum.analysis.hazards.integers import (
    FloorExpected,
    IntegersThroughFloat,
    MinOverMinusOne,
    NarrowedIntegers,
    RoundedQuotient,
)
from vinculum.analysis.hazards.legality import (
    IllegalAttribute,
    IllegalElementType,
    LegacyBroadcast,
    SonnxOverflow,
    SonnxShapes,
    SonnxTypes,
    SonnxUntyped,
    SonnxZeroDivisor,
)

HAZARDS: tuple[Hazard, ...] = (
    IntegerZeroDivisor(),
    ZeroDivisor(),
    ZeroOverZero(),
    MaskedRow(),
    MinOverMinusOne(),
    QuotientOverflow(),
    EpsilonLost(),
    IntegersThroughFloat(),
    RoundedQuotient(),
    FloorExpected(),
    LegacyBroadcast(),
    IllegalElementType(),
    IllegalAttribute(),
    SubnormalDivisor(),
    NarrowedIntegers(),
    SonnxShapes(),
    SonnxTypes(),
    SonnxUntyped(),
    SonnxZeroDivisor(),
    SonnxOverflow(),
    OutsideDomain(),
    ExponentialOverflow(),
)
DIVIDES_INSIDE: tuple[Hazard, ...] = tuple(hazard for hazard in HAZARDS if isinstance(hazard, ZeroDivisor))
"""The hazards of every operator that divides inside, besides its own."""
BY_CODE: Mapping[str, Hazard] = {hazard.code: hazard for hazard in HAZARDS}


def by_operator(profiles: Collection[str]) -> Mapping[str, tuple[Hazard, ...]]:
    """Return the hazards that each operator can have on targets of some profiles."""
    wanted = [hazard for hazard in HAZARDS if not hazard.profile or hazard.profile in profiles]
    operators = {operator for hazard in wanted for operator in hazard.operators}
    return {o: tuple(hazard for hazard in wanted if o in hazard.operators) for o in operators}
