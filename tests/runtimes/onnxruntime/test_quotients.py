"""Div, Reciprocal and Mod of the library in ONNX Runtime: errors, and each place in a model where a division can be.

`test_models` runs every type and broadcasting rule; tests/onnxruntime every pair of values and the remainders.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

from tests.kernels.comparing import INTEGERS
from tests.runtimes.onnxruntime.sessions import Array, Session, message_of, text_of

Fail = onnxruntime.capi.onnxruntime_pybind11_state.Fail


class TestErrors:
    """ONNX Runtime's error names the node; ours the number of such elements, and the first with its operands."""

    def raised(self, node: str, name: str, a: Array, b: Array, **settings: Any) -> str:
        proto = onnx.parser.parse_model(text_of(node, name))
        proto.graph.node[0].name = "mean"
        with pytest.raises(Fail, match=r"running \w+ node. Name:'mean'") as raised:
            Session(proto.SerializeToString(), **settings)(a, b)
        return message_of(raised.value)

    @pytest.mark.parametrize("name", INTEGERS)
    def test_zero_divisors(self, name: str) -> None:
        a, b = np.array([[7, 100]], name), np.array([[1, 1], [0, 2], [3, 0]], name)
        assert self.raised("c = Div(a, b)", name, a, b) == (
            f"Div 'mean' of {name}: 2 of 6 divisors are zero, the first at index [1, 0]: 7 / 0; "
            "allowed with zero_divisor='zero' or 'saturate'"
        )
        assert self.raised("c = Mod(a, b)", name, a, b).startswith(
            f"Mod 'mean' of {name}: 2 of 6 divisors are zero, the first at index [1, 0]: 7 mod 0; "
        )


CONSTANTS = """
<ir_version: 8, opset_import: ["": 14]> model () => (int32[2] c)
<int32[2] a = {-2147483648, -7}, int32[2] b = {-1, 2}> { c = Div(a, b) }
"""
IF = """
<ir_version: 8, opset_import: ["": 14]> model (int32[2] a, int32[2] b, bool which) => (int32[2] c)
{ c = If(which) <then_branch = one () => (int32[2] x) { x = Div(a, b) },
                 else_branch = other () => (int32[2] y) { y = Mod(a, b) }> }
"""
LOOP = """
<ir_version: 8, opset_import: ["": 14]> model (int32[2] a, int32[2] b) => (int32[2] c) <int64 n = {1}, bool goes = {1}>
{ c = Loop(n, goes, a) <body = once (int64 i, bool on, int32[2] x) => (bool go_on, int32[2] y)
                        { go_on = Identity(on)  y = Div(x, b) }> }
"""
SCAN = """
<ir_version: 8, opset_import: ["": 14]> model (int32[2] a, int32[2] b) => (int32[2] c)
{ d, c = Scan <num_scan_inputs = 1, body = once (int32[2] s, int32 x) => (int32[2] t, int32 y)
               { t = Identity(s)  z = Constant <value_int = -1> ()  m = Cast <to = 6> (z)  y = Div(x, m) }> (b, a) }
"""
FUNCTION = """
<ir_version: 8, opset_import: ["": 14, "own": 1]> model (int32[2] a, int32[2] b) => (int32[2] c) { c = own.ratio(a, b) }
<domain: "own", opset_import: ["": 14]> ratio (x, y) => (z) { z = Div(x, y) }
"""


class TestEverywhereInAModel:
    """Each of these ends the process of plain ONNX Runtime."""

    A, B = np.array([-(2**31), -7], np.int32), np.array([-1, 2], np.int32)

    def test_constants(self) -> None:
        for entries in ({}, {"optimization.disable_constant_folding": "1"}):
            assert Session(CONSTANTS, entries=entries)().tolist() == [-(2**31), -3]

    def test_constants_where_fusions_are_allowed(self) -> None:
        """Before 1.32, ONNX Runtime looks up its own kernel's types as well, which our schema does not name."""
        if tuple(map(int, onnxruntime.__version__.split(".")[:2])) >= (1, 32):
            assert Session(CONSTANTS, fusions=True)().tolist() == [-(2**31), -3]
        else:
            with pytest.raises(Exception, match="kernel_type_str_resolver"):
                Session(CONSTANTS, fusions=True)

    def test_constants_that_have_no_quotient(self) -> None:
        with pytest.raises(Exception, match=r"1 of 2 divisors are zero, the first at index .1.: -7 / 0"):
            Session(CONSTANTS.replace("{-1, 2}", "{-1, 0}"))()

    def test_large_constants(self) -> None:
        """They are divided while the model is loaded, where no thread pool exists yet."""
        text = """<ir_version: 8, opset_import: ["": 14]> model () => (int32[99999] c)
        <int64[1] n = {99999}, int32[1] a = {-7}, int32[1] b = {2}> { d = Expand(a, n) c = Div(d, b) }"""
        assert (Session(text, threads=2)() == np.full(99999, -3)).all()

    def test_branches(self) -> None:
        session = Session(IF)
        assert session(self.A, self.B, np.array(True)).tolist() == [-(2**31), -3]
        assert session(self.A, self.B, np.array(False)).tolist() == [0, 1]

    @pytest.mark.parametrize(("text", "last"), [(LOOP, -3), (FUNCTION, -3), (SCAN, 7)])
    def test_loops_and_functions(self, text: str, last: int) -> None:
        assert Session(text)(self.A, self.B).tolist() == [-(2**31), last]

    def test_shapes_that_are_not_known(self) -> None:
        """An operand of unknown rank is not taken for a scalar."""
        text = """<ir_version: 8, opset_import: ["": 14]> model (float[2] a, int64[r] s, float[k] b) => (float[p, q] c)
        { d = Reshape(b, s) e = Div(a, d) c = Neg(e) }"""
        result = Session(text)(
            np.array([6, 8], np.float32), np.array([3, 1], np.int64), np.array([1, 2, 4], np.float32)
        )
        assert result.tolist() == [[-6, -8], [-3, -4], [-1.5, -2]]

    def test_fusions(self, tmp_path: Path) -> None:
        """Where fusions are allowed, a decomposed layer normalisation becomes one node again."""
        text = """<ir_version: 8, opset_import: ["": 14]> model (float[4, 8] a) => (float[4, 8] c)
        <float two = {2}, float small = {0.00001}, float[8] w = {1, 1, 1, 1, 1, 1, 1, 1},
         float[8] z = {0, 0, 0, 0, 0, 0, 0, 0}>
        { m = ReduceMean <axes = [-1]> (a) d = Sub(a, m) s = Pow(d, two) v = ReduceMean <axes = [-1]> (s)
          e = Add(v, small) r = Sqrt(e) q = Div(d, r) p = Mul(q, w) c = Add(p, z) }"""
        a = np.arange(32, dtype=np.float32).reshape(4, 8) ** 2
        plain = Session(text, exact=False)(a)
        for fusions in (False, True):
            optimized = tmp_path / f"{fusions}.onnx"
            session = Session(text, fusions=fusions, optimized=optimized)
            assert np.allclose(session(a), plain, rtol=1e-5)
            assert ("Div" in {node.op_type for node in onnx.load(optimized).graph.node}) is not fusions
