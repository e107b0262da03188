"""The block list of a conversion: nodes that overflow or lose their divisor in a narrower type, and no others."""

from __future__ import annotations

import vinculum
from tests.analysis.hazardous import parsed
from tests.cases import case
from vinculum.reporting.check.words import block_lists

# A norm whose squares overflow float16, and whose epsilon is lost there.
_NODES = "[square] s = Mul(x, x) [guard] d = Add(s, e) [root] r = Sqrt(d) [ratio] y = Div(x, r) [other] z = Neg(x)"
NORM = parsed(_NODES, "float[N] x", "float y, float z", "float e = {1e-12}")
# A mask that becomes infinite.
_NODES = "[pick] b = Where(m, zero, low) [mask] s = Add(x, b) [soft] p = Softmax(s)"
MASK = parsed(_NODES, "bool[N] m, float[N] x", "float p", "float low = {-3.4e38}, float zero = {0}")
RATIO = parsed("[ratio] y = Div(x, d)", "float[N] x, float[N] d")


def test_what_goes_wrong_in_the_narrower_type_alone_is_named() -> None:
    for made, assume, as_type, blocked in (
        (NORM, ["x=1:300"], "float16", ["square", "guard", "root"]),  # An overflow, and all that handle it.
        (NORM, ["x=-1:1"], "float16", ["guard", "root", "ratio"]),  # A lost divisor, and what makes it zero.
        (NORM, ["x=-300:300"], "bfloat16", []),  # It has the range of float32.
        (NORM, [], "float16", ["guard", "root", "ratio"]),  # Unknown ranges say nothing of overflow.
        (MASK, ["x=-5:5"], "float16", ["pick", "mask", "soft"]),
        (RATIO, ["x=-1:1", "d=0:1"], "float16", []),  # The same in float32.
        (NORM, ["x=-1:1"], None, []),
    ):
        with case(assume, as_type, blocked):
            report = vinculum.check(made, assume=assume, as_type=as_type, runs=0)
            assert block_lists(report.block_list).get("node_block_list", []) == blocked


def test_unnamed_nodes_are_in_the_list_of_operators_alone() -> None:
    made = parsed("a = Mul(x, x) [guard] d = Add(a, e) y = Div(x, d)", "float[N] x", constants="float e = {1e-12}")
    lists = block_lists(vinculum.check(made, assume=["x=-1:1"], as_type="float16").block_list)
    assert lists == {"op_block_list": ["Add", "Div"], "node_block_list": ["guard"]}
