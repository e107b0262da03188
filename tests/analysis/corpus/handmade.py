"""Models written by hand: each hazard beside its guarded twin."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.analysis.corpus.entry import Entry, written


def floats(values: object) -> Any:
    """Return an array of float32."""
    return np.array(values, np.float32)


def _if(then: str, otherwise: str) -> str:
    branches = (
        f"then_branch = t () => (float a) {{ a = {then} }}, else_branch = e () => (float b) {{ b = {otherwise} }}"
    )
    return f"y = If (c) <{branches}>"


def _loop(state: str, nodes: str) -> str:
    inside = f"(int64 i, bool go, {state} s) => (bool go2, {state} t) {{ go2 = Identity(go) {nodes} }}"
    return f"y = Loop (n, c, x) <body = b {inside}>"


_X = "float[2, 3] x"
_Y = "float[2, 3] y"
_ZEROS = {"x": np.zeros((2, 3), np.float32)}


def _float(name: str, nodes: str, rules: str = "", **more: Any) -> Entry:
    """Return an entry of one input x and one output y, both (2, 3), zeros being the witness of a hazard."""
    return written(name, _X, _Y, nodes, rules, **{"witness": _ZEROS if rules else {}, **more})


_FLOATS = (
    _float("division by the input", "y = Div(one, x)", "zero-divisor"),
    _float("x over x", "y = Div(x, x)", "zero-over-zero"),
    _float("x over relu x", "r = Relu(x) y = Div(x, r)", "zero-over-zero"),
    _float("square and epsilon", "s = Mul(x, x) d = Add(s, eps) y = Div(x, d)"),
    _float("maximum with epsilon", "d = Max(x, eps) y = Div(x, d)"),
    _float("maximum with zero", "d = Max(x, zero) y = Div(x, d)", "zero-over-zero"),
    _float("clipped", "d = Clip(x, eps) y = Div(x, d)"),
    _float("clipped from zero", "d = Clip(x, zero) y = Div(x, d)", "zero-over-zero"),
    _float("where zero", "c = Equal(x, zero) d = Where(c, one, x) y = Div(x, d)"),
    _float("where zero, turned", "c = Equal(x, zero) n = Not(c) d = Where(n, x, one) y = Div(x, d)"),
    _float("where negative, the other kept", "c = Less(x, zero) d = Where(c, one, x) y = Div(one, d)", "zero-divisor"),
    _float("root of square and epsilon", "s = Mul(x, x) e = Add(s, eps) d = Sqrt(e) y = Div(x, d)"),
    _float("norm", "d = ReduceL2(x, axis) y = Div(x, d)", "zero-over-zero"),
    _float("norm with a guard", "n = ReduceL2(x, axis) d = Max(n, eps) y = Div(x, d)"),
    _float("norm by hand with a guard",
           "s = Mul(x, x) t = ReduceSum(s, axis) n = Sqrt(t) d = Clip(n, eps) y = Div(x, d)"),
    _float("softmax by hand", "m = ReduceMax(x, axis) c = Sub(x, m) e = Exp(c) s = ReduceSum(e, axis) y = Div(e, s)"),
    _float("softmax without the largest taken out", "e = Exp(x) s = ReduceSum(e, axis) y = Div(e, s)", "zero-over-zero",
           witness={"x": np.full((2, 3), -200, np.float32)}),
    _float("softmax without the largest taken out, of small numbers", "e = Exp(x) s = ReduceSum(e, axis) y = Div(e, s)",
           assume="x=-50:50"),
    _float("softmax denominator", "p = Softmax <axis = -1> (x) s = ReduceSum(p, axis) y = Div(p, s)"),
    _float("over a softmax", "p = Softmax <axis = -1> (x) y = Div(one, p)", "zero-divisor",
           witness={"x": floats([[0, 0, -200], [0, 0, 0]])}),
    _float("over a softmax of small numbers", "p = Softmax <axis = -1> (x) y = Div(one, p)", assume="x=-20:20"),
    _float("over an exponential", "s = Exp(x) y = Div(one, s)", "zero-divisor",
           witness={"x": np.full((2, 3), -200, np.float32)}),
    _float("over a cosine", "s = Cos(x) y = Div(one, s)", wrongly="zero-divisor",
           reason="float32 has no number whose cosine rounds to 0, which no bound tells"),
    _float("reciprocal", "y = Reciprocal(x)", "zero-divisor"),
    _float("reciprocal of a declared range", "y = Reciprocal(x)", assume="x=0.5:2"),
    _float("straight through", "h = Round(x) d0 = Sub(x, h) d1 = Sub(x, d0) r = Abs(h) d = Add(r, one) y = Div(d1, d)"),
    _float("equal values by different names", "a = Mul(x, x) b = Mul(x, x) s = Sub(a, b) d = Add(s, one) y = Div(x, d)",
           assume="x=-9:9"),
    _float("added and taken away", "a = Add(x, one) d = Sub(a, x) y = Div(x, d)", assume="x=-9:9"),
    _float("negative power", "y = Pow(x, p)", "zero-divisor", constants="float p = {-0.5}"),
    _float("negative power of a square and epsilon", "s = Mul(x, x) d = Add(s, eps) y = Pow(d, p)",
           constants="float p = {-0.5}"),
    _float("the largest taken out, and what is left limited by an attribute",
           "m = ReduceMax <axes = [-1]> (x) c = Sub(x, m) l = Clip <max = -1.0> (c) t = ReduceMax <axes = [-1]> (l)"
           " d = Add(t, one) y = Div(x, d)", "zero-over-zero", opset=10, assume="x=-9:9"),
    _float("zero constant", "y = Div(x, zero)", "zero-over-zero"),
    _float("difference of equals", "d = Sub(x, x) y = Div(one, d)", "zero-divisor"),
    _float("Lp normalisation", "y = LpNormalization <axis = -1, p = 2> (x)", "zero-over-zero", witness={},
           reason="ONNX's formula divides by the norm, which is 0 of zeros; runtimes give 0"),
    _float("Lp normalisation of what is not zero",
           "a = Abs(x) b = Add(a, one) y = LpNormalization <axis = -1, p = 1> (b)"),
    _float("Lp normalised, and two",
           "a = Abs(x) b = Add(a, one) c = LpNormalization <axis = -1, p = 2> (b) d = Add(c, p) y = Div(x, d)",
           constants="float p = {2}", assume="x=-9:9"),
    _float("over a logarithm of a softmax, and four", "l = LogSoftmax(x) d = Add(l, p) y = Div(x, d)",
           constants="float p = {4}", assume="x=-1:1"),
    _float(
        "variance and epsilon",
        "m = ReduceMean(x, axis) c = Sub(x, m) s = Mul(c, c) "
        "v = ReduceMean(s, axis) e = Add(v, eps) d = Sqrt(e) y = Div(c, d)",
    ),
    _float("variance alone",
           "m = ReduceMean(x, axis) c = Sub(x, m) s = Mul(c, c) v = ReduceMean(s, axis) d = Sqrt(v) y = Div(c, d)",
           "zero-over-zero"),
    _float("weights summed and clipped", "w = Relu(x) s = ReduceSum(w, axis) d = Clip(s, one) y = Div(w, d)"),
    _float("epsilon of subnormal squares", "s = Mul(x, x) y = Div(one, s)", "zero-divisor", assume="x=1e-30:1",
           witness={"x": np.full((2, 3), 1e-30, np.float32)}),
    _float("squares of normal numbers", "s = Mul(x, x) y = Div(one, s)", assume="x=1e-10:1"),
    _float("quotient beyond the largest", "y = Div(x, d)", "quotient-overflow", constants="float d = {2e-38}",
           assume="x=0:1e10", witness={"x": np.full((2, 3), 1e10, np.float32)}),
    _float("quotient within", "y = Div(x, d)", constants="float d = {1e-30}", assume="x=0:1"),
)  # fmt: skip

_INTS = "int64[3] n, int64[3] m"
_Q = "int64[3] q"
_N = {"n": np.array([1, 2, 3]), "m": np.array([0, 1, 2])}


def _integer(name: str, nodes: str, rules: str = "", **more: Any) -> Entry:
    return written(name, _INTS, _Q, nodes, rules, **{"witness": _N if rules else {}, **more})


_DECLARED = "n=0:1000 m=0:1000"
_INTEGERS = (
    _integer("integers", "q = Div(n, m)", "integer-zero-divisor", assume=_DECLARED),
    _integer("integers, anything", "q = Div(n, m)", "integer-zero-divisor min-over-minus-one"),
    _integer("integers and one", "d = Add(m, unit) q = Div(n, d)", assume=_DECLARED),
    _integer("integers and one, wrapping", "d = Add(m, unit) q = Div(n, d)", "integer-zero-divisor", assume="n=0:9",
             witness={"n": np.array([1, 2, 3]), "m": np.array([-1, 0, 0])}),
    _integer("maximum with one", "d = Max(m, unit) q = Div(n, d)"),
    _integer("declared positive", "q = Div(n, m)", assume="m>=1"),
    _integer("remainder", "q = Mod(n, m)", "integer-zero-divisor", assume=_DECLARED, witness={},
             reason="ONNX leaves the remainder by 0 open; ONNX Runtime dies of it"),
    _integer("remainder of positive", "q = Mod(n, m)", assume="m=1:7"),
    _integer("minus one", "d = Neg(unit) q = Div(n, d)", "min-over-minus-one", witness={},
             reason="the smallest int64 by -1 is 2**63; ONNX Runtime dies of it"),
    _integer("minus one, declared", "d = Neg(unit) q = Div(n, d)", assume="n=-1000:1000"),
    _integer("square and one", "s = Mul(m, m) d = Add(s, unit) q = Div(n, d)", assume="m=-1000:1000"),
    _integer("magnitude and one", "s = Abs(m) d = Add(s, unit) q = Div(n, d)", assume="m=-1000:1000"),
    _integer("integers where zero", "c = Equal(m, z) d = Where(c, unit, m) q = Div(n, d)", constants="int64 z = {0}",
             assume="n=0:9"),
    *(
        _integer(
            name,
            f"a = Equal({compared}) b = Equal(m, minus) o = {operator}(a, b) s = Equal(m, z) u = Or(o, s)"
            f" d = Where(u, {instead}, m) q = Div(n, d)",
            "" if name.endswith("is replaced") else "min-over-minus-one",
            constants="int64 z = {0}, int64 minus = {-1}"
            f", int64 least = {{{-(2**63)}}}, int64 next = {{{1 - 2**63}}}",
            witness={},
            reason="the smallest int64 by -1 is 2**63",
        )
        for name, compared, operator, instead in (
            ("the divisor of the smallest by minus one is replaced", "n, least", "And", "unit"),
            ("minus one and the divisor of the smallest is replaced", "n, least", "Or", "unit"),
            ("the divisor of the next to smallest by minus one", "n, next", "And", "unit"),
            ("the divisor of the smallest by another", "m, least", "And", "unit"),
            ("the divisor of the smallest by minus one, by minus one", "n, least", "And", "minus"),
        )
    ),
    *(
        _integer(
            name,
            f"e = Equal(m, z) s = Where(e, {instead}, m) p = {condition} k = Where(p, z, s) t = Where(p, s, z)"
            " l = Sub(k, t) q = Div(n, l)",
            rules,
            constants="int64 z = {0}",
            assume="n=0:9",
            witness={},
            reason="ONNX leaves the quotient by 0 open",
        )
        for name, condition, instead, rules in (
            ("minus a magnitude", "Less(z, s)", "unit", ""),
            ("minus a magnitude that is zero", "Less(z, s)", "z", "integer-zero-divisor"),
            ("minus a magnitude by another condition", "Less(n, s)", "unit", ""),
        )
    ),
    _integer("through float",
             "a = Cast <to = 1> (n) b = Cast <to = 1> (m) r = Div(a, b) f = Floor(r) q = Cast <to = 7> (f)",
             "integers-through-float", assume="n=0:100000000 m=1:3",
             witness={"n": np.array([16777217, 50331649, 99999999]), "m": np.array([1, 3, 1])}),
    _integer("through float, rounded up",
             "a = Cast <to = 1> (n) b = Cast <to = 1> (m) r = Div(a, b) c = Ceil(r) q = Cast <to = 7> (c)",
             "rounded-quotient", assume="n=0:1000 m=3:7", witness={}, reason="21 * (1/7) in float32 is 3.0000002"),
    _integer("through float, rounded down",
             "a = Cast <to = 1> (n) b = Cast <to = 1> (m) r = Div(a, b) c = Floor(r) q = Cast <to = 7> (c)",
             assume="n=0:1000 m=3:7"),
    _integer("through float, rounded down, by more",
             "a = Cast <to = 1> (n) b = Cast <to = 1> (m) r = Div(a, b) c = Floor(r) q = Cast <to = 7> (c)",
             "rounded-quotient", assume="n=0:1000 m=41:41", witness={}, reason="41 * (1/41) in float32 is 0.99999994"),
    _integer("through float, by a power of two",
             "a = Cast <to = 1> (n) r = Div(a, two) q0 = Floor(r) q = Cast <to = 7> (q0)", constants="float two = {2}",
             assume="n=0:1000"),
    _integer("through float, not rounded to an index",
             "a = Cast <to = 1> (n) b = Cast <to = 1> (m) r = Div(a, b) s = Tanh(r) q = Cast <to = 7> (s)",
             assume="n=0:1000 m=3:7"),
    _integer("narrowed", "q = Div(n, m)", "narrowed-integers", assume="m=1:7 n=0:5000000000", profile="narrowing",
             witness={}, reason="OpenVINO computes int64 in int32"),
    _integer("not narrowed", "q = Div(n, m)", assume="m=1:7 n=0:5000", profile="narrowing"),
)  # fmt: skip

_SHAPES = (
    written("mean by a size", "float[N, 3] x", "float[1, 3] y",
        "s = ReduceSum(x, a) h = Shape <start = 0, end = 1> (x) f = Cast <to = 1> (h) y = Div(s, f)",
        constants="int64[1] a = {0}", reason="a named dimension is at least 1"),
    written("variance by n - 1", "float[N, 3] x", "float[1, 3] y",
        "s = ReduceSum(x, a) h = Shape <start = 0, end = 1> (x) k = Sub(h, u) f = Cast <to = 1> (k) y = Div(s, f)",
        "zero-over-zero", constants="int64[1] a = {0}, int64[1] u = {1}", witness={"x": np.zeros((1, 3), np.float32)}),
    written("variance by n - 1, two at least", "float[N, 3] x", "float[1, 3] y",
        "s = ReduceSum(x, a) h = Shape <start = 0, end = 1> (x) k = Sub(h, u) f = Cast <to = 1> (k) y = Div(s, f)",
        constants="int64[1] a = {0}, int64[1] u = {1}", assume="N>=2"),
    written("n over n - 1 of a fixed size", "float[5, 3] x", "float[5, 3] y",
        "h = Shape <start = 0, end = 1> (x) k = Sub(h, u) f = Cast <to = 1> (k) y = Div(x, f)",
        constants="int64[1] u = {1}"),
    written("size over heads", "float[N, M, 12] x", "int64[1] q", "h = Shape <start = 2, end = 3> (x) q = Div(h, k)",
        constants="int64[1] k = {4}"),
    written("size of what a size slices", "float[N] x", "int64 q",
        "h = Shape(x) k = Sub(h, u) s = Slice(x, k, h) l = Size(s) q = Div(u7, l)",
        constants="int64[1] u = {1}, int64 u7 = {7}"),
    written("size over a size", "float[N, M] x", "int64[1] q",
        "h = Shape <start = 0, end = 1> (x) k = Shape <start = 1, end = 2> (x) q = Div(h, k)"),
    written("size over a difference of sizes", "float[N, M] x", "int64[1] q",
        "h = Shape <start = 0, end = 1> (x) k = Shape <start = 1, end = 2> (x) d = Sub(h, k) q = Div(h, d)",
        "integer-zero-divisor", witness={"x": np.zeros((2, 2), np.float32)}),
    written("mean of what is not zero", "float[3] x", "float y",
        "i = NonZero(x) g = Gather(x, i) y = ReduceMean <keepdims = 0> (g)", "zero-over-zero",
        reason="the mean of nothing is NaN in ONNX's reference, and 0 in ONNX Runtime"),
    written("count of what is not zero", "float[3] x", "int64[1] q",
        "i = NonZero(x) h = Shape <start = 1, end = 2> (i) q = Div(u, h)", "integer-zero-divisor",
        constants="int64[1] u = {7}", witness={"x": np.zeros(3, np.float32)}),
)  # fmt: skip

_MASKED = "float[2, 3] x, int64[2, 3] mask"
_MASK_ZERO = {"x": np.ones((2, 3), np.float32), "mask": np.zeros((2, 3), np.int64)}
_MASKS = (
    written("masked mean", _MASKED, "float[2, 1] y",
        "f = Cast <to = 1> (mask) p = Mul(x, f) s = ReduceSum(p, axis) d = ReduceSum(f, axis) y = Div(s, d)",
        "zero-over-zero", assume="mask=0|1", witness=_MASK_ZERO),
    written(
        "masked mean with a guard",
        _MASKED,
        "float[2, 1] y",
        "f = Cast <to = 1> (mask) p = Mul(x, f) s = ReduceSum(p, axis) "
        "t = ReduceSum(f, axis) d = Clip(t, eps) y = Div(s, d)",
        assume="mask=0|1",
    ),
    written("masked mean of a full mask", _MASKED, "float[2, 1] y",
        "f = Cast <to = 1> (mask) p = Mul(x, f) s = ReduceSum(p, axis) d = ReduceSum(f, axis) y = Div(s, d)",
        assume="mask=1:1"),
    written("mask in an If", "float x", "float y", "c = Equal(x, zero) " + _if("Identity(one)", "Div(one, x)")),
    written("the wrong branch of an If", "float x", "float y", "c = Equal(x, zero) " + _if("Div(one, x)",
           "Identity(one)"),
        "zero-divisor", witness={"x": np.float32(0)}),
    written("top of a softmax", "float[2, 8] x", "float[2, 2] y",
        "p = Softmax <axis = -1> (x) v, i = TopK <axis = -1> (p, k) s = ReduceSum(v, axis) y = Div(v, s)",
        constants="int64[1] k = {2}"),
    written("bottom of a softmax", "float[2, 8] x", "float[2, 2] y",
        "p = Softmax <axis = -1> (x) v, i = TopK <axis = -1, largest = 0> (p, k) s = ReduceSum(v, axis) y = Div(v, s)",
        "zero-over-zero", constants="int64[1] k = {2}", witness={"x": floats([[0] * 6 + [-200] * 2] * 2)}),
)  # fmt: skip

_BOXES = (
    written("intervals side by side", "float[2, 1] x, float[2, 1] y", "float[2, 1] q",
        "b = Concat <axis = 1> (x, y) d = Gather <axis = 1> (b, k) q = Div(x, d)", constants="int64[1] k = {1}",
        assume="x=-1:1 y=2:3"),
    written("intervals side by side, in another shape", "float[2, 1] x, float[2, 1] y", "float[2, 2] q",
        "b = Concat <axis = 1> (x, y) r = Reshape(b, s) d = Gather <axis = 1> (r, k) q = Div(x, d)",
        constants="int64[2] s = {1, 4}, int64[2] k = {1, 3}", assume="x=-1:1 y=2:3"),
)  # fmt: skip

_SCORES = "float[2, 3] x, bool[2, 3] mask"
_NO_MASK = {"x": np.zeros((2, 3), np.float32), "mask": np.zeros((2, 3), bool)}


def _masked(name: str, nodes: str, rules: str = "", constants: str = "") -> Entry:
    witness = _NO_MASK if rules else {}
    return written(name, _SCORES, _Y, nodes, rules, constants, assume="x=-9:9", witness=witness)


_ROWS = (
    _masked("masked softmax", "s = Where(mask, x, low) y = Softmax(s)", "masked-row"),
    _masked("masked softmax, added", "m = Where(mask, zero, low) s = Add(x, m) y = Softmax(s)", "masked-row"),
    _masked("masked softmax, mended", "s = Where(mask, x, low) p = Softmax(s) n = IsNaN(p) y = Where(n, zero, p)"),
    _masked("masked softmax, by a finite number", "s = Where(mask, x, low) y = Softmax(s)",
            constants="float low = {-3.0e38}"),
    _masked("causal softmax", "s = Where(causal, x, low) y = Softmax(s)",
            constants="bool[2, 3] causal = {1, 0, 0, 1, 1, 0}"),
)  # fmt: skip

_LEFT = "p = Softmax(x) c = Cast <to = 9> (p)"
"""A mask that is true somewhere in every row, since some probability is a third at least."""

_SOME_LEFT = tuple(
    _float(name, f"{_LEFT} {nodes} y = Softmax(s)", rules, constants=constants, assume="x=-9:9")
    for name, nodes, rules, constants in (
        ("mask that leaves something", "s = Where(c, x, low)", "", ""),
        ("mask that leaves the others", "s = Where(c, low, x)", "masked-row", ""),
        ("mask turned", "n = Not(c) s = Where(n, low, x)", "", ""),
        ("mask turned, leaving the others", "n = Not(c) s = Where(n, x, low)", "masked-row", ""),
        ("mask of integers", "k = Cast <to = 7> (c) e = Equal(k, one) s = Where(e, x, low)", "", "int64 one = {1}"),
        (
            "mask of integers, leaving the others",
            "k = Cast <to = 7> (c) e = Equal(k, zero) s = Where(e, x, low)",
            "masked-row",
            "int64 zero = {0}",
        ),
    )
)

_NARROW = (
    _float("epsilon in float16", "s = Mul(x, x) d = Add(s, e) y = Div(x, d)", "epsilon-lost zero-over-zero",
           constants="float e = {1e-12}", as_type="float16", witness={}, reason="1e-12 is 0 in float16"),
    _float("epsilon in float32", "s = Mul(x, x) d = Add(s, e) y = Div(x, d)", constants="float e = {1e-12}"),
    _float("epsilon that float16 holds", "s = Mul(x, x) d = Add(s, e) y = Div(x, d)", constants="float e = {1e-6}",
           as_type="float16"),
    _float("epsilon in bfloat16", "s = Mul(x, x) d = Add(s, e) y = Div(x, d)", constants="float e = {1e-12}",
           as_type="bfloat16"),
    _float("guard in float16", "n = ReduceL2(x, axis) d = Max(n, e) y = Div(x, d)", "epsilon-lost zero-over-zero",
           constants="float e = {1e-12}", as_type="float16", witness={}, reason="1e-12 is 0 in float16"),
    _float("small constant that guards nothing", "y = Add(x, e)", constants="float e = {1e-12}", as_type="float16"),
    _float("subnormal guard", "s = Abs(x) d = Add(s, e) y = Div(x, d)", "subnormal-divisor",
           constants="float e = {1e-40}", profile="flushing", witness={},
           reason="a target that flushes takes 1e-40 for 0"),
    _float("normal guard", "s = Abs(x) d = Add(s, e) y = Div(x, d)", constants="float e = {1e-30}", profile="flushing"),
)  # fmt: skip

_ROUNDED = (
    _float("whole numbers through float", "f = Floor(x) q = Div(f, three) y = Floor(q)", "integers-through-float",
           constants="float three = {3}", assume="x=0:1e8", witness={}, reason="float32 has not every integer"),
    _float("whole numbers that stay quotients", "f = Floor(x) y = Div(f, three)", constants="float three = {3}",
           assume="x=0:1e8"),
    _float("quotients of fractions, rounded", "q = Div(x, three) y = Floor(q)", constants="float three = {3}",
           assume="x=0:1e8"),
)  # fmt: skip

_LARGE = {"x": np.full((2, 3), 90, np.float32)}
_DOMAINS = (
    _float("logarithm", "y = Log(x)", "outside-domain", profile="domains", assume="x=0:9"),
    _float("logarithm with epsilon", "s = Abs(x) d = Add(s, eps) y = Log(d)", profile="domains", assume="x=-9:9"),
    _float("root", "y = Sqrt(x)", "outside-domain", profile="domains", assume="x=-1:1",
           witness={"x": np.full((2, 3), -1, np.float32)}),
    _float("root of a square", "s = Mul(x, x) y = Sqrt(s)", profile="domains", assume="x=-9:9"),
    _float("root of what is clipped", "d = Clip(x, zero) y = Sqrt(d)", profile="domains", assume="x=-9:9"),
    _float("arc cosine of twice", "d = Add(x, x) y = Acos(d)", "outside-domain", profile="domains", assume="x=-1:1",
           witness={"x": np.ones((2, 3), np.float32)}),
    _float("arc cosine of a sine", "d = Sin(x) c = Clip(d, minus, one) y = Acos(c)", profile="domains", assume="x=-1:1",
           constants="float minus = {-1}"),
    _float("exponential", "y = Exp(x)", "exponential-overflow", profile="domains", assume="x=-9:90", witness=_LARGE),
    _float("exponential of what is declared", "y = Exp(x)", profile="domains", assume="x=-9:80"),
    _float("root of what may round below zero", "y = Sqrt(x)", "outside-domain", profile="domains", assume="x=-1e-9:9",
           witness={"x": np.full((2, 3), -1e-9, np.float32)}),
    _float("hyperbolic arc tangent of a hard sigmoid", "s = HardSigmoid(x) y = Atanh(s)", profile="domains",
           assume="x=-1:1"),
    _float("exponential, the largest taken out", "m = ReduceMax(x, a) d = Sub(x, m) y = Exp(d)", profile="domains",
           assume="x=-90:90", constants="int64[1] a = {1}"),
)  # fmt: skip

_LEGALITY = (
    written("legacy broadcast", "float[2, 3] x, float[2] d", _Y, "y = Div <broadcast = 1, axis = 0> (x, d)",
        "legacy-broadcast", opset=6, assume="d=1:2", reason="the attributes say so"),
    written("broadcast of today", "float[2, 3] x, float[3] d", _Y, "y = Div(x, d)", assume="d=1:2"),
    written("int8 before 14", "int8[3] n", "int8[3] q", "q = Div(n, k)", "illegal-element-type",
           constants="int8 k = {3}",
        opset=13, reason="Div-13 has no int8"),
    written("int8 from 14 on", "int8[3] n", "int8[3] q", "q = Div(n, k)", constants="int8 k = {3}", opset=14),
    written("axis where there is none", "float[2, 3] x", _Y, "y = Div <axis = 1> (x, k)", "illegal-attribute",
        constants="float k = {2}", reason="Div-14 has no attributes"),
    written("SONNX shapes", "float[2, 3] x", _Y, "y = Div(x, k)", "sonnx-c1", constants="float k = {2}",
           profile="sonnx",
        reason="the shapes differ"),
    written("SONNX shapes, equal", "float[2, 3] x, float[2, 3] d", _Y, "y = Div(x, d)", profile="sonnx",
           assume="d=1:2"),
    written("SONNX zero divisor", _INTS, _Q, "q = Div(n, m)", "sonnx-c3 integer-zero-divisor", profile="sonnx",
        assume="n=0:9 m=0:9", witness=_N),
)  # fmt: skip

_BODIES = (
    written("layer normalisation", "float[2, 8] x, float[8] w", "float[2, 8] y", "y = LayerNormalization(x, w)"),
    written("layer normalisation without epsilon", "float[2, 8] x, float[8] w", "float[2, 8] y",
        "y = LayerNormalization <epsilon = 0.0> (x, w)", "zero-over-zero",
        witness={"x": np.ones((2, 8), np.float32), "w": np.ones(8, np.float32)}),
    written("RMS normalisation", "float[2, 8] x, float[8] w", "float[2, 8] y", "y = RMSNormalization(x, w)", opset=23),
    written("group normalisation", "float[2, 4, 8] x, float[4] w, float[4] b", "float[2, 4, 8] y",
        "y = GroupNormalization <num_groups = 2> (x, w, b)", opset=21),
    written("dynamic quantisation", "float[2, 3] x", "uint8[2, 3] y, float s, uint8 z",
        "y, s, z = DynamicQuantizeLinear(x)", "zero-over-zero",
        reason="ONNX's body divides 0 by the scale 0 of zeros (onnx issue 8437)"),
    written("softmax", _X, _Y, "y = Softmax(x)"),
    written("batch normalisation", "float[2, 2, 3] x", "float[2, 2, 3] y", "y = BatchNormalization(x, w, w, w, v)",
        constants="float[2] w = {1, 1}, float[2] v = {0, 1}"),
    written("batch normalisation without epsilon", "float[2, 2, 3] x", "float[2, 2, 3] y",
        "y = BatchNormalization <epsilon = 0.0> (x, w, w, w, v)", "zero-divisor",
        constants="float[2] w = {1, 1}, float[2] v = {0, 1}", witness={"x": np.ones((2, 2, 3), np.float32)}),
    written("division in a loop", "float[3] x", "float[3] y",
        _loop("float[3]", "r = Reciprocal(s) a = Abs(r) t = Add(a, one)"), "zero-divisor",
        constants="int64 n = {1}, bool c = {1}", witness={"x": np.zeros(3, np.float32)}),
    written("guarded division in a loop", "float[3] x", "float[3] y",
        _loop("float[3]", "a = Abs(s) d = Add(a, one) t = Reciprocal(d)"), constants="int64 n = {3}, bool c = {1}"),
    written("iteration number", "int64[1] x", "int64[1] y", _loop("int64[1]", "t = Div(s, i)"), "integer-zero-divisor",
        constants="int64 n = {3}, bool c = {1}", assume="x=0:9", reason="the first iteration is number 0"),
    written("iteration number and one", "int64[1] x", "int64[1] y", _loop("int64[1]", "k = Add(i, unit) t = Div(s, k)"),
        constants="int64 n = {3}, bool c = {1}", assume="x=0:9"),
)  # fmt: skip

ENTRIES = (
    *_FLOATS,
    *_INTEGERS,
    *_SHAPES,
    *_MASKS,
    *_BOXES,
    *_ROWS,
    *_SOME_LEFT,
    *_NARROW,
    *_ROUNDED,
    *_DOMAINS,
    *_LEGALITY,
    *_BODIES,
)
