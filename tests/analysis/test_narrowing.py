"""The block list of a conversion: nodes that overflow or lose their divisor in a narrower type, and no others."""

from __future__ import annotations

import pytest
from onnx import ModelProto

import vinculum
from tests.analysis.hazardous import parsed
from vinculum.reporting.check.words import block_lists


def normalised() -> ModelProto:
    """Return a norm whose squares overflow float16, and whose epsilon is lost there."""
    nodes = (
        "[square] s = Mul (x, x) [guard] d = Add (s, e) [root] r = Sqrt (d) [ratio] y = Div (x, r) [other] z = Neg (x)"
    )
    return parsed(nodes, "float[N] x", "float y, float z", "float e = {1e-12}")


def blocked(made: ModelProto, *assume: str, as_type: str = "float16") -> list[str]:
    """Return the names of the nodes that have to stay in float32."""
    report = vinculum.check(made, assume=assume, as_type=as_type)
    return block_lists(report.block_list)["node_block_list"]


class TestBlockList:
    """What is named is what goes wrong in the narrower type and not in float32."""

    def test_an_overflow_and_all_that_handle_it(self) -> None:
        assert blocked(normalised(), "x=1:300") == ["square", "guard", "root"]

    def test_a_lost_divisor_and_what_makes_it_zero(self) -> None:
        assert blocked(normalised(), "x=-1:1") == ["guard", "root", "ratio"]

    def test_bfloat16_has_the_range_of_float32(self) -> None:
        assert blocked(normalised(), "x=-300:300", as_type="bfloat16") == []

    def test_unknown_ranges_say_nothing_of_overflow(self) -> None:
        assert blocked(normalised()) == ["guard", "root", "ratio"]

    def test_a_mask_that_becomes_infinite(self) -> None:
        nodes = "[pick] b = Where (m, zero, low) [mask] s = Add (x, b) [soft] p = Softmax (s)"
        made = parsed(nodes, "bool[N] m, float[N] x", "float p", "float low = {-3.4e38}, float zero = {0}")
        assert blocked(made, "x=-5:5") == ["pick", "mask", "soft"]

    def test_the_same_in_float32_is_not_named(self) -> None:
        assert blocked(parsed("[ratio] y = Div (x, d)", "float[N] x, float[N] d"), "x=-1:1", "d=0:1") == []

    @pytest.mark.parametrize("as_type", [None, "float16"])
    def test_only_a_narrower_type_has_one(self, as_type: str | None) -> None:
        report = vinculum.check(normalised(), assume=["x=-1:1"], as_type=as_type, runs=0)
        assert bool(report.block_list) is (as_type is not None)

    def test_unnamed_nodes_are_in_the_list_of_operators_alone(self) -> None:
        made = normalised()
        made.graph.node[1].name = ""
        lists = block_lists(vinculum.check(made, assume=["x=-1:1"], as_type="float16").block_list)
        assert lists == {"op_block_list": ["Add", "Sqrt", "Div"], "node_block_list": ["root", "ratio"]}
