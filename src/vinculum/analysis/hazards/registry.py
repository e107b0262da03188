"""Every hazard, and those that an operator can have."""

from __future__ import annotations

from collections.abc import Mapping

from vinculum.analysis.hazards.divisors import IntegerZeroDivisor, ZeroDivisor, ZeroOverZero
from vinculum.analysis.hazards.hazard import Hazard

HAZARDS: tuple[Hazard, ...] = (IntegerZeroDivisor(), ZeroDivisor(), ZeroOverZero())
BY_CODE: Mapping[str, Hazard] = {hazard.code: hazard for hazard in HAZARDS}
BY_OPERATOR: Mapping[str, tuple[Hazard, ...]] = {
    operator: tuple(hazard for hazard in HAZARDS if operator in hazard.operators)
    for operator in sorted({operator for hazard in HAZARDS for operator in hazard.operators})
}
