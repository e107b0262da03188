"""Guards of chains of divisions: each divisor is kept from zero by the same fraction of its range, and by no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx.parser
import pytest
from numpy.typing import NDArray
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from vinculum.repair.fixing import Fixed, chains, fix
from vinculum.repair.fixing.chains import Link

CHAIN = "[q] q = Div (x, d) [y] y = Div (q, e)"
UNIT = ("x=-1:1", "d=0:1", "e=0:1", "f=0:1")


def model(nodes: str, element_type: str = "float") -> ModelProto:
    inputs = ", ".join(f"{element_type}[N] {name}" for name in "xdef" if name in nodes)
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 17]>
        g ({inputs}) => ({element_type}[N] y) <float large = {{1e30}}, float small = {{0.0009765625}}> {{ {nodes} }}""")


def epsilons(result: Fixed) -> dict[str, str]:
    """Return the guards that are written, by their divisions."""
    return {one.finding.node: one.remedy.what for one in result.fixes if one.remedy is not None}


def at_least(**exponents: int) -> dict[str, str]:
    return {node: f"Max(divisor, {2.0**exponent:.6g})" for node, exponent in exponents.items()}


SHARED: tuple[tuple[str, Sequence[str], Mapping[str, str]], ...] = (
    (CHAIN, UNIT, at_least(q=-63, y=-63)),
    ("[q] q = Div (x, d) s = Neg (q) [y] y = Div (s, e)", UNIT, at_least(q=-63, y=-63)),
    ("[q] q = Reciprocal (d) [y] y = Div (q, e)", UNIT, at_least(q=-63, y=-63)),
    ("[q] q = Div (x, d) [p] p = Div (q, e) [y] y = Div (p, f)", UNIT, at_least(q=-42, p=-42, y=-42)),
    ("[q] q = Div (x, d) [p] p = Div (q, e) [y] y = Div (p, d)", UNIT, at_least(q=-42, p=-42, y=-42)),
    # By a constant between, which needs no guard.
    ("[q] q = Div (x, d) [p] p = Div (q, large) [y] y = Div (p, e)", UNIT, at_least(q=-113, y=-113)),
    # A root that is zero or NaN has no range to take a fraction of.
    ("s = Sqrt (d) [q] q = Div (x, s) [y] y = Div (q, e)", ("x=-1:1", "d=-1:0", "e=0:1"), at_least(q=-63, y=-63)),
    # The second finding of the chain takes so much that the epsilon of the first is no longer enough.
    ("[q] q = Div (d, d) [p] p = Div (q, d) [y] y = Div (p, d)", ("d=0:1000",), at_least(q=-39, p=-39, y=-39)),
    # What only divisors are computed from has no part in it.
    (
        "[q] q = Div (x, d) [p] p = Div (x, e) a = Abs (p) b = Add (a, small) [y] y = Div (q, b)",
        UNIT,
        at_least(q=-117, p=-126),
    ),
    (
        "[q] q = Div (x, d) [p] p = Div (x, e) a = Abs (p) b = Add (a, large) r = Div (q, b) [y] y = Div (r, f)",
        UNIT,
        at_least(q=-113, p=-126, y=-113),
    ),
    # Two chains with the same first division, and two quotients in one sum.
    ("[q] q = Div (x, d) [p] p = Div (q, e) [z] z = Div (q, f) y = Add (p, z)", UNIT, at_least(q=-63, p=-63, z=-63)),
    ("[q] q = Div (x, d) [p] p = Div (x, e) s = Add (q, p) [y] y = Div (s, f)", UNIT, at_least(q=-63, p=-63, y=-63)),
    # The same fraction of each range.
    (CHAIN, ("x=-1:1", "d=0:1048576", "e=0:9.5367431640625e-07"), at_least(q=-43, y=-83)),
    (CHAIN, ("x=-8e37:8e37", "d=0:1", "e=0:1"), at_least(q=-1, y=-1)),
    # Ranges that end apart from zero: the last divisor needs no guard, or a small one.
    (CHAIN, ("x=-1:1", "d=0:1", "e=0.0009765625:1"), at_least(q=-117)),
    (CHAIN, ("x=-1e30:1e30", "d=0:1", "e=0.0009765625:1"), at_least(q=-18)),
    (CHAIN, ("x=-1:1", "d=-1:0", "e=0:1"), {"q": f"Min(divisor, {-(2.0**-63):.6g})", **at_least(y=-63)}),
)
"""Nodes, the declared ranges, and the guards of each division."""
ALONE: tuple[tuple[str, Sequence[str], Mapping[str, str]], ...] = (
    # The last quotient is finite in any case.
    ("[q] q = Div (x, d) s = Sigmoid (q) [y] y = Div (s, e)", UNIT, at_least(q=-126, y=-126)),
    # The guarded quotient divides.
    ("[q] q = Div (x, d) [y] y = Div (e, q)", ("x=1:2", "d=0:1", "e=0:1"), at_least(q=-126)),
    # A divisor of whole numbers.
    (CHAIN, ("x=-1:1", "d=0|1", "e=0:1"), at_least(q=0, y=-126)),
    # There is no room to share.
    (CHAIN, ("x=-1e38:1e38", "d=0.25:1", "e=0.25:1"), at_least(q=-1, y=0)),
    # A root falls by less than its operand, so that the shares do not remove the finding.
    ("[q] q = Div (x, d) s = Sqrt (q) [y] y = Div (s, e)", ("x=0:1", "d=0:1", "e=0:1"), at_least(q=-126, y=-64)),
)
"""Guards that are no chain."""


@pytest.mark.parametrize(("nodes", "assume", "expected"), [*SHARED, *ALONE])
def test_epsilons(nodes: str, assume: Sequence[str], expected: Mapping[str, str]) -> None:
    result = fix(model(nodes), assume=[one for one in assume if one[0] in nodes], runs=0)
    assert epsilons(result) == expected
    assert not result.report.findings


def test_the_fraction_of_divisors_that_keep_theirs() -> None:
    wide, narrow = Link(2.0**-20, 2.0**-20, 2.0**15), Link(2.0**-2, 2.0**-6, 2.0**-4)
    assert chains._fraction([wide]) == 2.0**-35
    assert chains._fraction([wide, narrow]) == chains._fraction([narrow, wide]) == 2.0**-31


@pytest.mark.parametrize(("element_type", "exponent"), [("float16", -7), ("bfloat16", -63), ("double", -511)])
def test_of_every_format(element_type: str, exponent: int) -> None:
    result = fix(model(CHAIN, element_type), assume=UNIT[:3], runs=0)
    assert epsilons(result) == at_least(q=exponent, y=exponent)


def test_a_long_chain() -> None:
    count = 9
    inputs = ", ".join(f"float[N] d{number}" for number in range(count))
    nodes = " ".join(f"[n{number}] q{number + 1} = Div (q{number}, d{number})" for number in range(count))
    graph = f"g (float[N] q0, {inputs}) => (float[N] q{count}) {{ {nodes} }}"
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {graph}')
    result = fix(proto, assume=["q0=-1:1", *(f"d{number}=0:1" for number in range(count))], runs=0)
    assert not result.report.findings
    assert epsilons(result) == at_least(**{f"n{number}": -14 for number in range(count)})


def drawn(seed: int = 0, size: int = 100_000) -> dict[str, NDArray[Any]]:
    """Return operands in the declared ranges: of every magnitude, uniform ones, zeros and subnormal numbers."""
    generator = np.random.default_rng(seed)
    small = 2.0 ** generator.uniform(-149, 0, (2, size))
    divisors = np.where(generator.random((2, size)) < 0.5, small, generator.random((2, size))).astype(np.float32)
    divisors[:, :4] = [[0, 0, 1, 2.0**-149], [0, 1, 0, 2.0**-149]]
    dividends = generator.uniform(-1, 1, size).astype(np.float32)
    return {"x": dividends, "d": divisors[0], "e": divisors[1]}


def check_numbers(run: Callable[[ModelProto, Mapping[str, NDArray[Any]]], NDArray[Any]]) -> None:
    """Demand finite quotients, and where no divisor is small, which is most of the range, the same bits as before."""
    original, inputs = model(CHAIN), drawn()
    fixed = fix(original, assume=UNIT[:3], runs=0).model
    before, after = run(original, inputs), run(fixed, inputs)
    assert np.isfinite(after).all()
    assert not np.isfinite(before).all()
    untouched = np.minimum(inputs["d"], inputs["e"]) >= 2.0**-63
    assert 0.25 < untouched.mean() < 0.75
    assert (before[untouched].view(np.int32) == after[untouched].view(np.int32)).all()


def test_numbers() -> None:
    def run(made: ModelProto, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        with np.errstate(all="ignore"):
            results: Any = ReferenceEvaluator(made).run(None, dict(inputs))
        return np.asarray(results[0])

    check_numbers(run)
