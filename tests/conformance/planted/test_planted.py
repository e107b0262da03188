"""The suite finds every planted divider, and names no false cause."""

from __future__ import annotations

from functools import partial

import pytest

from tests.conformance.asking import answered
from tests.conformance.planted.dividers import DIVIDERS, Planted, Truth
from tests.conformance.planted.measuring import InProcess, cases_of, measured
from tests.conformance.planted.oracle import contradictions
from vinculum.conformance.arithmetic import predicts, written
from vinculum.conformance.runtimes.backends import STARTED
from vinculum.spec.element_types import by_name

FRESH = 40
"""How many fresh operations each cause is compared with."""

BY_ALL_CASES = ("dies of a constant 0 beyond 16", "dies of large dividends")
"""What is truly named only if it is asked the cases of more than one operator version."""
QUICK = [name for name, own in DIVIDERS.items() if not own.lasts and name not in BY_ALL_CASES]


@pytest.mark.parametrize("name", QUICK[::2])  # `make machine` measures them all.
def test_found_and_truly_named(name: str) -> None:
    own = DIVIDERS[name]
    for seed in (0, 1, 42) if own.truth is Truth.UNSTEADY else (0,):  # 42: few answers differ where shapes are small.
        told = measured(own, cases_of(own), FRESH, seed)
        assert not told.failures, (seed, told.checked)


@pytest.mark.parametrize("name", [name for name, own in DIVIDERS.items() if own.aimed])
def test_the_cases_made_for_it_find_it(name: str) -> None:
    own = DIVIDERS[name]
    aimed = [one for one in answered(Planted({"divider": own.name}), cases_of(own)) if one.case.id.matches(own.aimed)]
    assert aimed
    assert all(one.deviates for one in aimed)


@pytest.mark.parametrize(
    ("divider", "cause"),
    [
        ("gives +0 for 0 / -x", "arithmetic: plus_zero(a / b)"),
        ("saturates float16", "arithmetic: a / b computed in float32, cut off"),
        ("is wrong in the second call", "arithmetic: a / b computed in float16"),
        ("chooses its kernel at random", "arithmetic: a * (1/b)"),
        ("inverts whole packets of 8", "arithmetic: a * (1/b)"),
        ("is off by one below -10**6", "arithmetic: floor(a / b)"),
        ("shifts by a power of two", "arithmetic: floor(a / b)"),
        ("refuses a zero divisor", "rule: refused where x / 0 and more than 64 elements"),
        ("gives a scalar a dimension", "rule: gave another shape where one element"),
        ("drops axis of squares", "rule: axis ignored"),
    ],
)
def test_the_oracle_contradicts_what_is_false(divider: str, cause: str) -> None:
    """A cause that explains some cases of the suite may be false; fresh operands show it."""
    own, false = DIVIDERS[divider], written(cause, [by_name(t) for t in DIVIDERS[divider].types.split()])
    told = answered(Planted({"divider": own.name}), cases_of(own))
    predicted = [one for one in told if one.deviates and predicts(false, one)]
    assert predicted
    spoken_of = predicted if false.divisions else told
    answer = partial(InProcess(STARTED, own.called).call, "answer")
    against, spoken = contradictions(false, [false], [one.case for one in spoken_of], answer, FRESH)
    assert 0 < against <= spoken
