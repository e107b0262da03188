"""The risks of divisions on each target, and the decisions: all are recorded in ``decisions.txt``.

Record anew with ``python -m tests.repair.test_decision``, and look at what has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.cases import case
from vinculum.errors import ModelError
from vinculum.ops.policies import Policies
from vinculum.repair import RUNTIMES, Runtime
from vinculum.repair.bounds import UNKNOWN, Bounds, Never, Values
from vinculum.repair.decision import Decision, Facts, Operator, decided
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT32,
    INT64,
    UINT8,
    UINT32,
    UINT64,
    ElementType,
)

RECORDED = Path(__file__).with_name("decisions.txt")
TARGETS: tuple[Runtime, ...] = ("onnxruntime", "openvino", "portable")
POLICIES = (Policies("zero", "wrap"), Policies("saturate", "saturate"))
NOT_ONE: frozenset[Never] = frozenset({"inverse"})  # The dividend is no constant 1.


def facts(
    element_type: ElementType,
    dividend: list[int] | None = None,
    divisor: list[int] | None = None,
    operator: Operator = "Div",
) -> Facts:
    """Return the facts about a division; None stands for an operand that is not constant."""
    a, b = (None if x is None else np.array(x) for x in (dividend, divisor))
    return Facts(operator, 17, element_type, Bounds(NOT_ONE, 1, 9, a, b))


KNOWN = (
    *(facts(each) for each in (FLOAT, FLOAT16, BFLOAT16, DOUBLE, INT8, UINT8, INT32, UINT32, INT64, UINT64)),
    *(facts(INT64, None, [1, 7]), facts(INT64, [5], [-1, 7]), facts(UINT8, None, [1, 255]), facts(INT64, None, [])),
    *(facts(INT8, None, [0, 2]), facts(INT8, None, [-1, 2]), facts(INT8, [-128], [-1, 2]), facts(INT32, None, [7])),
    *(facts(INT32, [1], [2]), facts(INT32, [1, 3], [2])),
    *(facts(INT64, None, [2**31]), facts(INT64, [-(2**31) - 1]), facts(UINT32, None, [2**31])),
    *(facts(each, operator="Mod") for each in (INT8, INT32, INT64, UINT64)),
    *(facts(INT8, None, [-1, 7], "Mod"), facts(INT64, None, [-1, 2], "Mod"), facts(INT32, [-(2**31)], [-1], "Mod")),
    *(facts(UINT8, operator="Fmod"), facts(INT32, None, [-1, 7], "Fmod"), facts(INT64, None, [2], "Fmod")),
    *(facts(INT32, None, [2], "FloorDiv"), facts(UINT32, operator="FloorDiv"), facts(INT64, operator="FloorDiv")),
    Facts("Div", 17, INT32, Bounds(frozenset({"zero"}), -9, 9)),
    Facts("Div", 17, INT32, Bounds(frozenset({"zero", "inverse"}), 1, 9)),
    Facts("Div", 17, INT64, Bounds(frozenset({"zero", "minus one", "inverse"}), 1, 9)),
    Facts("Div", 17, INT64, Bounds(frozenset({"zero", "overflow", "inverse"}), -1, 9)),
    Facts("Reciprocal", 17, FLOAT),
    Facts("Div", 17, INT32, UNKNOWN),
)


def lines() -> Iterator[str]:
    """Yield each division, and below it the decisions about it, or the reasons why there are none."""
    for known in KNOWN:
        bounds = known.bounds
        operands = [None if x is None else x.tolist() for x in (bounds.dividend, bounds.divisor)]
        never = f", never {', '.join(sorted(bounds.never))}" if bounds.never != NOT_ONE else ""
        yield f"{known.operator} of {known.element_type}: {operands[0]} / {operands[1]}{never}"
        for target in TARGETS:
            told = [_told(known, target, policies) for policies in POLICIES]
            for policies, one in zip(POLICIES, told[: len(set(told))], strict=False):
                yield f"  {target}, {policies.zero_divisor}: {one}"


def _told(known: Facts, target: Runtime, policies: Policies) -> str:
    try:
        found = decided(Decision("n", "", "Div-14", None, None, ""), known, target, policies)
    except ModelError as error:
        return f"ModelError: {error}"
    assert found.facts is known
    return " | ".join((found.what or "left", found.why, *filter(None, [found.note])))


def test_as_recorded() -> None:
    assert RUNTIMES.keys() == set(TARGETS)
    assert "\n".join(lines()) + "\n" == RECORDED.read_text("utf-8")


GUARDED: tuple[tuple[frozenset[Never], Values, bool], ...] = (
    (frozenset(), None, False),
    (frozenset({"zero"}), None, True),
    (frozenset({"zero", "inverse"}), None, False),
    (frozenset(), np.array([2]), True),
    (frozenset(), np.array([0]), True),
)
"""What is proved about a division, its constant divisor, and whether a runtime may fuse it with a product."""


def test_a_guard_before_the_division_prevents_its_fusion() -> None:
    """A guard stands before a divisor that may be 0, but not before a constant."""
    for never, divisor, may_be_inverse in GUARDED:
        with case(never, divisor):
            assert Facts("Div", 17, INT32, Bounds(never, divisor=divisor)).may_be_inverse is may_be_inverse


if __name__ == "__main__":
    RECORDED.write_text("\n".join(lines()) + "\n", "utf-8")
