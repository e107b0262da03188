"""Functions other than division whose operand can lie where they have no finite value; off by default."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vinculum.analysis.domain.abstract_tensor import BoundsFrom
from vinculum.analysis.hazards.hazard import Found, Hazard, is_empty
from vinculum.analysis.interpreter import Site
from vinculum.analysis.transfer.all_operators import TABLE
from vinculum.analysis.transfer.unary import EVERYWHERE, Unary

DOMAINS: Mapping[str, tuple[float, float]] = {
    "Sqrt": (0.0, np.inf),
    **{
        name: operator.transfer.domain
        for (domain, name), operator in TABLE.items()
        if not domain and isinstance(operator.transfer, Unary) and operator.transfer.domain != EVERYWHERE
    },
}
"""Where functions are numbers, both ends included."""


class OutsideDomain(Hazard):
    """An operand can lie outside of the function's domain: the result is NaN, or -inf for the logarithm of 0."""

    code = "outside-domain"
    operators = tuple(DOMAINS)
    fix = "keep the operand inside: Clip, or Max(operand, epsilon)"
    profile = "domains"

    def look(self, site: Site) -> Found | None:
        """Return the operand if it can lie outside."""
        x, (start, end) = site.operands[0], DOMAINS[site.node.op_type]
        if x is None or x.form is None or is_empty(site):
            return None
        low, high = x.box.hull()
        if not (low < start or high > end or (site.node.op_type == "Log" and x.may_zero)):
            return None
        return Found(
            0, certain=(high < start or low > end) and not x.may_nan, detail={"domain": f"{start:g} to {end:g}"}
        )


class ExponentialOverflow(Hazard):
    """An exponential of declared ranges can lie beyond the largest finite number."""

    code = "exponential-overflow"
    operators = ("Exp",)
    fix = "subtract the largest element first, or Clip the operand"
    profile = "domains"

    def look(self, site: Site) -> Found | None:
        """Return the operand if it is finite, and its exponential need not be."""
        x = site.operands[0]
        if x is None or x.form is None or x.may_infinite or x.bounds_from is BoundsFrom.TYPE or is_empty(site):
            return None
        least, most = float(x.low.min()), float(np.log(x.form.max))
        if float(x.high.max()) <= most:
            return None
        return Found(0, certain=least > most, detail={"largest": f"{most:.4g}"})
