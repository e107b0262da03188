"""Models written by hand: each hazard beside its guarded twin."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.analysis.corpus.entry import Entry


def _model(inputs: str, outputs: str, *nodes: str, constants: str = "", opset: int = 18) -> str:
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>'
    return f"{head} g ({inputs}) => ({outputs}) <{constants}> {{ {' '.join(nodes)} }}"


def floats(values: object) -> Any:
    """Return an array of float32."""
    return np.array(values, np.float32)


def _if(then: str, otherwise: str) -> str:
    branches = (
        f"then_branch = t () => (float a) {{ a = {then} }}, else_branch = e () => (float b) {{ b = {otherwise} }}"
    )
    return f"y = If (c) <{branches}>"


def _loop(state: str, *nodes: str) -> str:
    inside = f"(int64 i, bool go, {state} s) => (bool go2, {state} t) {{ go2 = Identity(go) {' '.join(nodes)} }}"
    return f"y = Loop (n, c, x) <body = b {inside}>"


_X = "float[2, 3] x"
_Y = "float[2, 3] y"
_EPS = "float eps = {1e-6}"
_ONE = "float one = {1}"
_ZERO = "float zero = {0}"
_AXIS = "int64[1] axis = {-1}"
_ZEROS = {"x": np.zeros((2, 3), np.float32)}


def _float(name: str, *nodes: str, rules: tuple[str, ...] = (), constants: str = "", **more: object) -> Entry:
    """Return an entry of one input x and one output y, both (2, 3), zeros being the witness of a hazard."""
    witness = _ZEROS if rules else {}
    return Entry(name, _model(_X, _Y, *nodes, constants=constants), rules, **{"witness": witness, **more})  # type: ignore[arg-type]


_FLOATS = (
    _float("division by the input", "y = Div(one, x)", rules=("zero-divisor",), constants=_ONE),
    _float("x over x", "y = Div(x, x)", rules=("zero-over-zero",)),
    _float("x over relu x", "r = Relu(x)", "y = Div(x, r)", rules=("zero-over-zero",)),
    _float("x over relu x and one", "r = Relu(x)", "d = Add(r, one)", "y = Div(x, d)", constants=_ONE),
    _float("square", "s = Mul(x, x)", "y = Div(x, s)", rules=("zero-over-zero",)),
    _float("square and epsilon", "s = Mul(x, x)", "d = Add(s, eps)", "y = Div(x, d)", constants=_EPS),
    _float("magnitude", "s = Abs(x)", "y = Div(x, s)", rules=("zero-over-zero",)),
    _float("magnitude and epsilon", "s = Abs(x)", "d = Add(s, eps)", "y = Div(x, d)", constants=_EPS),
    _float("maximum with epsilon", "d = Max(x, eps)", "y = Div(x, d)", constants=_EPS),
    _float("maximum with zero", "d = Max(x, zero)", "y = Div(x, d)", rules=("zero-over-zero",), constants=_ZERO),
    _float("clipped", "d = Clip(x, eps)", "y = Div(x, d)", constants=_EPS),
    _float("clipped from zero", "d = Clip(x, zero)", "y = Div(x, d)", rules=("zero-over-zero",), constants=_ZERO),
    _float("where zero", "c = Equal(x, zero)", "d = Where(c, one, x)", "y = Div(x, d)", constants=f"{_ZERO}, {_ONE}"),
    _float(
        "where zero, turned",
        *("c = Equal(x, zero)", "n = Not(c)", "d = Where(n, x, one)", "y = Div(x, d)"),
        constants=f"{_ZERO}, {_ONE}",
    ),
    _float(
        "where positive", "c = Greater(x, zero)", "d = Where(c, x, one)", "y = Div(x, d)", constants=f"{_ZERO}, {_ONE}"
    ),
    _float(
        "where negative, the other kept",
        *("c = Less(x, zero)", "d = Where(c, one, x)", "y = Div(one, d)"),
        rules=("zero-divisor",),
        constants=f"{_ZERO}, {_ONE}",
    ),
    _float("root of square", "s = Mul(x, x)", "d = Sqrt(s)", "y = Div(x, d)", rules=("zero-over-zero",)),
    _float(
        "root of square and epsilon", "s = Mul(x, x)", "e = Add(s, eps)", "d = Sqrt(e)", "y = Div(x, d)", constants=_EPS
    ),
    _float("sum", "d = ReduceSum(x, axis)", "y = Div(x, d)", rules=("zero-over-zero",), constants=_AXIS),
    _float("norm", "d = ReduceL2(x, axis)", "y = Div(x, d)", rules=("zero-over-zero",), constants=_AXIS),
    _float(
        "norm with a guard", "n = ReduceL2(x, axis)", "d = Max(n, eps)", "y = Div(x, d)", constants=f"{_AXIS}, {_EPS}"
    ),
    _float(
        "norm and epsilon", "n = ReduceL2(x, axis)", "d = Add(n, eps)", "y = Div(x, d)", constants=f"{_AXIS}, {_EPS}"
    ),
    _float(
        "norm by hand",
        *("s = Mul(x, x)", "t = ReduceSum(s, axis)", "d = Sqrt(t)", "y = Div(x, d)"),
        rules=("zero-over-zero",),
        constants=_AXIS,
    ),
    _float(
        "norm by hand with a guard",
        *("s = Mul(x, x)", "t = ReduceSum(s, axis)", "n = Sqrt(t)", "d = Clip(n, eps)", "y = Div(x, d)"),
        constants=f"{_AXIS}, {_EPS}",
    ),
    _float(
        "softmax by hand",
        *("m = ReduceMax(x, axis)", "c = Sub(x, m)", "e = Exp(c)", "s = ReduceSum(e, axis)", "y = Div(e, s)"),
        constants=_AXIS,
    ),
    _float(
        "softmax without the largest taken out",
        *("e = Exp(x)", "s = ReduceSum(e, axis)", "y = Div(e, s)"),
        rules=("zero-over-zero",),
        constants=_AXIS,
        witness={"x": np.full((2, 3), -200, np.float32)},
    ),
    _float(
        "softmax without the largest taken out, of small numbers",
        *("e = Exp(x)", "s = ReduceSum(e, axis)", "y = Div(e, s)"),
        constants=_AXIS,
        assume=("x=-50:50",),
    ),
    _float(
        "softmax denominator", "p = Softmax <axis = -1> (x)", "s = ReduceSum(p, axis)", "y = Div(p, s)", constants=_AXIS
    ),
    _float(
        "over a softmax",
        "p = Softmax <axis = -1> (x)",
        "y = Div(one, p)",
        rules=("zero-divisor",),
        constants=_ONE,
        witness={"x": floats([[0, 0, -200], [0, 0, 0]])},
    ),
    _float(
        "over a softmax of small numbers",
        "p = Softmax <axis = -1> (x)",
        "y = Div(one, p)",
        constants=_ONE,
        assume=("x=-20:20",),
    ),
    _float(
        "over a sigmoid",
        "s = Sigmoid(x)",
        "y = Div(one, s)",
        rules=("zero-divisor",),
        constants=_ONE,
        witness={"x": np.full((2, 3), -200, np.float32)},
    ),
    _float(
        "over an exponential",
        "s = Exp(x)",
        "y = Div(one, s)",
        rules=("zero-divisor",),
        constants=_ONE,
        witness={"x": np.full((2, 3), -200, np.float32)},
    ),
    _float("over an exponential and one", "s = Exp(x)", "d = Add(s, one)", "y = Div(one, d)", constants=_ONE),
    _float(
        "over a cosine",
        "s = Cos(x)",
        "y = Div(one, s)",
        constants=_ONE,
        wrongly=("zero-divisor",),
        reason="float32 has no number whose cosine rounds to 0, which no bound tells",
    ),
    _float("over one and a square", "s = Mul(x, x)", "d = Add(s, one)", "y = Div(x, d)", constants=_ONE),
    _float("reciprocal", "y = Reciprocal(x)", rules=("zero-divisor",)),
    _float("reciprocal of a declared range", "y = Reciprocal(x)", assume=("x=0.5:2",)),
    _float("reciprocal of a range with zero", "y = Reciprocal(x)", assume=("x=0:2",), rules=("zero-divisor",)),
    _float(
        "straight through",
        "h = Round(x)",
        "d0 = Sub(x, h)",
        "d1 = Sub(x, d0)",
        "r = Abs(h)",
        "d = Add(r, one)",
        "y = Div(d1, d)",
        constants=_ONE,
    ),
    _float(
        "equal values by different names",
        "a = Mul(x, x)",
        "b = Mul(x, x)",
        "s = Sub(a, b)",
        "d = Add(s, one)",
        "y = Div(x, d)",
        constants=_ONE,
        assume=("x=-9:9",),
    ),
    _float(
        "added and taken away", "a = Add(x, one)", "d = Sub(a, x)", "y = Div(x, d)", constants=_ONE, assume=("x=-9:9",)
    ),
    _float("negative power", "y = Pow(x, p)", constants="float p = {-0.5}", rules=("zero-divisor",)),
    _float(
        "negative power of a square and epsilon",
        "s = Mul(x, x)",
        "d = Add(s, eps)",
        "y = Pow(d, p)",
        constants=f"float p = {{-0.5}}, {_EPS}",
    ),
    _float("zero constant", "y = Div(x, zero)", constants=_ZERO, rules=("zero-over-zero",)),
    _float("difference of equals", "d = Sub(x, x)", "y = Div(one, d)", constants=_ONE, rules=("zero-divisor",)),
    _float(
        "Lp normalisation",
        "y = LpNormalization <axis = -1, p = 2> (x)",
        rules=("zero-over-zero",),
        witness={},
        reason="ONNX's formula divides by the norm, which is 0 of zeros; runtimes give 0",
    ),
    _float(
        "Lp normalisation of what is not zero",
        "a = Abs(x)",
        "b = Add(a, one)",
        "y = LpNormalization <axis = -1, p = 1> (b)",
        constants=_ONE,
    ),
    _float(
        "variance and epsilon",
        "m = ReduceMean(x, axis)",
        "c = Sub(x, m)",
        "s = Mul(c, c)",
        "v = ReduceMean(s, axis)",
        "e = Add(v, eps)",
        "d = Sqrt(e)",
        "y = Div(c, d)",
        constants=f"{_AXIS}, {_EPS}",
    ),
    _float(
        "variance alone",
        "m = ReduceMean(x, axis)",
        "c = Sub(x, m)",
        "s = Mul(c, c)",
        "v = ReduceMean(s, axis)",
        "d = Sqrt(v)",
        "y = Div(c, d)",
        constants=_AXIS,
        rules=("zero-over-zero",),
    ),
    _float(
        "deviation and epsilon",
        "m = ReduceMean(x, axis)",
        "c = Sub(x, m)",
        "s = Mul(c, c)",
        "v = ReduceMean(s, axis)",
        "r = Sqrt(v)",
        "d = Add(r, eps)",
        "y = Div(c, d)",
        constants=f"{_AXIS}, {_EPS}",
    ),
    _float(
        "root mean square",
        "s = Mul(x, x)",
        "m = ReduceMean(s, axis)",
        "e = Add(m, eps)",
        "r = Sqrt(e)",
        "i = Reciprocal(r)",
        "y = Mul(x, i)",
        constants=f"{_AXIS}, {_EPS}",
    ),
    _float(
        "weights summed and clipped",
        "w = Relu(x)",
        "s = ReduceSum(w, axis)",
        "d = Clip(s, one)",
        "y = Div(w, d)",
        constants=f"{_AXIS}, {_ONE}",
    ),
    _float(
        "epsilon of subnormal squares",
        "s = Mul(x, x)",
        "y = Div(one, s)",
        constants=_ONE,
        assume=("x=1e-30:1",),
        rules=("zero-divisor",),
        witness={"x": np.full((2, 3), 1e-30, np.float32)},
    ),
    _float("squares of normal numbers", "s = Mul(x, x)", "y = Div(one, s)", constants=_ONE, assume=("x=1e-10:1",)),
    _float(
        "quotient beyond the largest",
        "y = Div(x, d)",
        constants="float d = {1e-38}",
        assume=("x=0:1e10",),
        rules=("quotient-overflow",),
        witness={"x": np.full((2, 3), 1e10, np.float32)},
    ),
    _float("quotient within", "y = Div(x, d)", constants="float d = {1e-30}", assume=("x=0:1",)),
)

_INTS = "int64[3] n, int64[3] m"
_Q = "int64[3] q"
_N = {"n": np.array([1, 2, 3]), "m": np.array([0, 1, 2])}


def _integer(name: str, *nodes: str, rules: tuple[str, ...] = (), constants: str = "", **more: object) -> Entry:
    witness = _N if rules else {}
    return Entry(name, _model(_INTS, _Q, *nodes, constants=constants), rules, **{"witness": witness, **more})  # type: ignore[arg-type]


_UNIT = "int64 unit = {1}"
_DECLARED = ("n=0:1000", "m=0:1000")
_INTEGERS = (
    _integer("integers", "q = Div(n, m)", rules=("integer-zero-divisor",), assume=_DECLARED),
    _integer("integers, anything", "q = Div(n, m)", rules=("integer-zero-divisor", "min-over-minus-one")),
    _integer("integers and one", "d = Add(m, unit)", "q = Div(n, d)", constants=_UNIT, assume=_DECLARED),
    _integer(
        "integers and one, wrapping",
        "d = Add(m, unit)",
        "q = Div(n, d)",
        constants=_UNIT,
        assume=("n=0:9",),
        rules=("integer-zero-divisor",),
        witness={"n": np.array([1, 2, 3]), "m": np.array([-1, 0, 0])},
    ),
    _integer("maximum with one", "d = Max(m, unit)", "q = Div(n, d)", constants=_UNIT),
    _integer("declared positive", "q = Div(n, m)", assume=("m>=1",)),
    _integer(
        "remainder",
        "q = Mod(n, m)",
        rules=("integer-zero-divisor",),
        assume=_DECLARED,
        witness={},
        reason="ONNX leaves the remainder by 0 open; ONNX Runtime dies of it",
    ),
    _integer("remainder of positive", "q = Mod(n, m)", assume=("m=1:7",)),
    _integer(
        "minus one",
        "d = Neg(unit)",
        "q = Div(n, d)",
        constants=_UNIT,
        rules=("min-over-minus-one",),
        witness={},
        reason="the smallest int64 by -1 is 2**63; ONNX Runtime dies of it",
    ),
    _integer("minus one, declared", "d = Neg(unit)", "q = Div(n, d)", constants=_UNIT, assume=("n=-1000:1000",)),
    _integer(
        "square and one",
        "s = Mul(m, m)",
        "d = Add(s, unit)",
        "q = Div(n, d)",
        constants=_UNIT,
        assume=("m=-1000:1000",),
    ),
    _integer(
        "magnitude and one",
        "s = Abs(m)",
        "d = Add(s, unit)",
        "q = Div(n, d)",
        constants=_UNIT,
        assume=("m=-1000:1000",),
    ),
    _integer(
        "integers where zero",
        "c = Equal(m, z)",
        "d = Where(c, unit, m)",
        "q = Div(n, d)",
        constants=f"{_UNIT}, int64 z = {{0}}",
        assume=("n=0:9",),
    ),
    _integer(
        "through float",
        "a = Cast <to = 1> (n)",
        "b = Cast <to = 1> (m)",
        "r = Div(a, b)",
        "f = Floor(r)",
        "q = Cast <to = 7> (f)",
        assume=("n=0:100000000", "m=1:3"),
        rules=("integers-through-float",),
        witness={"n": np.array([16777217, 50331649, 99999999]), "m": np.array([1, 3, 1])},
    ),
    _integer(
        "through float, rounded up",
        *("a = Cast <to = 1> (n)", "b = Cast <to = 1> (m)", "r = Div(a, b)", "c = Ceil(r)", "q = Cast <to = 7> (c)"),
        assume=("n=0:1000", "m=3:7"),
        rules=("rounded-quotient",),
        witness={},
        reason="21 * (1/7) in float32 is 3.0000002",
    ),
    _integer(
        "through float, rounded down",
        *("a = Cast <to = 1> (n)", "b = Cast <to = 1> (m)", "r = Div(a, b)", "c = Floor(r)", "q = Cast <to = 7> (c)"),
        assume=("n=0:1000", "m=3:7"),
    ),
    _integer(
        "through float, rounded down, by more",
        *("a = Cast <to = 1> (n)", "b = Cast <to = 1> (m)", "r = Div(a, b)", "c = Floor(r)", "q = Cast <to = 7> (c)"),
        assume=("n=0:1000", "m=41:41"),
        rules=("rounded-quotient",),
        witness={},
        reason="41 * (1/41) in float32 is 0.99999994",
    ),
    _integer(
        "through float, by a power of two",
        "a = Cast <to = 1> (n)",
        "r = Div(a, two)",
        "q0 = Floor(r)",
        "q = Cast <to = 7> (q0)",
        constants="float two = {2}",
        assume=("n=0:1000",),
    ),
    _integer(
        "through float, not rounded to an index",
        "a = Cast <to = 1> (n)",
        "b = Cast <to = 1> (m)",
        "r = Div(a, b)",
        "s = Tanh(r)",
        "q = Cast <to = 7> (s)",
        assume=("n=0:1000", "m=3:7"),
    ),
    _integer(
        "narrowed",
        "q = Div(n, m)",
        assume=("m=1:7", "n=0:5000000000"),
        profile=("narrowing",),
        rules=("narrowed-integers",),
        witness={},
        reason="OpenVINO computes int64 in int32",
    ),
    _integer("not narrowed", "q = Div(n, m)", assume=("m=1:7", "n=0:5000"), profile=("narrowing",)),
)

_SHAPES = (
    Entry(
        "mean by a size",
        _model(
            "float[N, 3] x",
            "float[1, 3] y",
            "s = ReduceSum(x, a)",
            "h = Shape <start = 0, end = 1> (x)",
            "f = Cast <to = 1> (h)",
            "y = Div(s, f)",
            constants="int64[1] a = {0}",
        ),
        reason="a named dimension is at least 1",
    ),
    Entry(
        "variance by n - 1",
        _model(
            "float[N, 3] x",
            "float[1, 3] y",
            "s = ReduceSum(x, a)",
            "h = Shape <start = 0, end = 1> (x)",
            "k = Sub(h, u)",
            "f = Cast <to = 1> (k)",
            "y = Div(s, f)",
            constants="int64[1] a = {0}, int64[1] u = {1}",
        ),
        ("zero-over-zero",),
        witness={"x": np.zeros((1, 3), np.float32)},
    ),
    Entry(
        "variance by n - 1, two at least",
        _model(
            "float[N, 3] x",
            "float[1, 3] y",
            "s = ReduceSum(x, a)",
            "h = Shape <start = 0, end = 1> (x)",
            "k = Sub(h, u)",
            "f = Cast <to = 1> (k)",
            "y = Div(s, f)",
            constants="int64[1] a = {0}, int64[1] u = {1}",
        ),
        assume=("N>=2",),
    ),
    Entry(
        "n over n - 1 of a fixed size",
        _model(
            "float[5, 3] x",
            "float[5, 3] y",
            "h = Shape <start = 0, end = 1> (x)",
            "k = Sub(h, u)",
            "f = Cast <to = 1> (k)",
            "y = Div(x, f)",
            constants="int64[1] u = {1}",
        ),
    ),
    Entry(
        "size over heads",
        _model(
            "float[N, M, 12] x",
            "int64[1] q",
            "h = Shape <start = 2, end = 3> (x)",
            "q = Div(h, k)",
            constants="int64[1] k = {4}",
        ),
    ),
    Entry(
        "size over a size",
        _model(
            "float[N, M] x",
            "int64[1] q",
            "h = Shape <start = 0, end = 1> (x)",
            "k = Shape <start = 1, end = 2> (x)",
            "q = Div(h, k)",
        ),
    ),
    Entry(
        "size over a difference of sizes",
        _model(
            "float[N, M] x",
            "int64[1] q",
            "h = Shape <start = 0, end = 1> (x)",
            "k = Shape <start = 1, end = 2> (x)",
            "d = Sub(h, k)",
            "q = Div(h, d)",
        ),
        ("integer-zero-divisor",),
        witness={"x": np.zeros((2, 2), np.float32)},
    ),
    Entry(
        "mean of what is not zero",
        _model("float[3] x", "float y", "i = NonZero(x)", "g = Gather(x, i)", "y = ReduceMean <keepdims = 0> (g)"),
        reason="the division inside ReduceMean is not looked at",
    ),
    Entry(
        "count of what is not zero",
        _model(
            "float[3] x",
            "int64[1] q",
            "i = NonZero(x)",
            "h = Shape <start = 1, end = 2> (i)",
            "q = Div(u, h)",
            constants="int64[1] u = {7}",
        ),
        ("integer-zero-divisor",),
        witness={"x": np.zeros(3, np.float32)},
    ),
)

_MASKED = "float[2, 3] x, int64[2, 3] mask"
_MASK_ZERO = {"x": np.ones((2, 3), np.float32), "mask": np.zeros((2, 3), np.int64)}
_MASKS = (
    Entry(
        "masked mean",
        _model(
            _MASKED,
            "float[2, 1] y",
            "f = Cast <to = 1> (mask)",
            "p = Mul(x, f)",
            "s = ReduceSum(p, axis)",
            "d = ReduceSum(f, axis)",
            "y = Div(s, d)",
            constants=_AXIS,
        ),
        ("zero-over-zero",),
        assume=("mask=0|1",),
        witness=_MASK_ZERO,
    ),
    Entry(
        "masked mean with a guard",
        _model(
            _MASKED,
            "float[2, 1] y",
            "f = Cast <to = 1> (mask)",
            "p = Mul(x, f)",
            "s = ReduceSum(p, axis)",
            "t = ReduceSum(f, axis)",
            "d = Clip(t, eps)",
            "y = Div(s, d)",
            constants=f"{_AXIS}, {_EPS}",
        ),
        assume=("mask=0|1",),
    ),
    Entry(
        "masked mean of a full mask",
        _model(
            _MASKED,
            "float[2, 1] y",
            "f = Cast <to = 1> (mask)",
            "p = Mul(x, f)",
            "s = ReduceSum(p, axis)",
            "d = ReduceSum(f, axis)",
            "y = Div(s, d)",
            constants=_AXIS,
        ),
        assume=("mask=1:1",),
    ),
    Entry(
        "mask in an If",
        _model(
            "float x",
            "float y",
            "c = Equal(x, zero)",
            _if("Identity(one)", "Div(one, x)"),
            constants=f"{_ONE}, {_ZERO}",
        ),
    ),
    Entry(
        "the wrong branch of an If",
        _model(
            "float x",
            "float y",
            "c = Equal(x, zero)",
            _if("Div(one, x)", "Identity(one)"),
            constants=f"{_ONE}, {_ZERO}",
        ),
        ("zero-divisor",),
        witness={"x": np.float32(0)},
    ),
    Entry(
        "top of a softmax",
        _model(
            "float[2, 8] x",
            "float[2, 2] y",
            "p = Softmax <axis = -1> (x)",
            "v, i = TopK <axis = -1> (p, k)",
            "s = ReduceSum(v, axis)",
            "y = Div(v, s)",
            constants=f"{_AXIS}, int64[1] k = {{2}}",
        ),
    ),
    Entry(
        "bottom of a softmax",
        _model(
            "float[2, 8] x",
            "float[2, 2] y",
            "p = Softmax <axis = -1> (x)",
            "v, i = TopK <axis = -1, largest = 0> (p, k)",
            "s = ReduceSum(v, axis)",
            "y = Div(v, s)",
            constants=f"{_AXIS}, int64[1] k = {{2}}",
        ),
        ("zero-over-zero",),
        witness={"x": floats([[0] * 6 + [-200] * 2] * 2)},
    ),
)

_BOXES = (
    Entry(
        "intervals side by side",
        _model(
            "float[2, 1] x, float[2, 1] y",
            "float[2, 1] q",
            *("b = Concat <axis = 1> (x, y)", "d = Gather <axis = 1> (b, k)", "q = Div(x, d)"),
            constants="int64[1] k = {1}",
        ),
        assume=("x=-1:1", "y=2:3"),
    ),
    Entry(
        "intervals side by side, in another shape",
        _model(
            "float[2, 1] x, float[2, 1] y",
            "float[2, 2] q",
            *("b = Concat <axis = 1> (x, y)", "r = Reshape(b, s)", "d = Gather <axis = 1> (r, k)", "q = Div(x, d)"),
            constants="int64[2] s = {1, 4}, int64[2] k = {1, 3}",
        ),
        assume=("x=-1:1", "y=2:3"),
    ),
)

_SCORES = "float[2, 3] x, bool[2, 3] mask"
_INF = "float low = {-inf}"
_NO_MASK = {"x": np.zeros((2, 3), np.float32), "mask": np.zeros((2, 3), bool)}


def _masked(name: str, *nodes: str, rules: tuple[str, ...] = (), constants: str = _INF) -> Entry:
    text = _model(_SCORES, _Y, *nodes, constants=constants)
    return Entry(name, text, rules, assume=("x=-9:9",), witness=_NO_MASK if rules else {})


_ROWS = (
    _masked("masked softmax", "s = Where(mask, x, low)", "y = Softmax(s)", rules=("masked-row",)),
    _masked(
        "masked softmax, added",
        *("m = Where(mask, zero, low)", "s = Add(x, m)", "y = Softmax(s)"),
        rules=("masked-row",),
        constants=f"{_INF}, {_ZERO}",
    ),
    _masked(
        "masked softmax, mended",
        *("s = Where(mask, x, low)", "p = Softmax(s)", "n = IsNaN(p)", "y = Where(n, zero, p)"),
        constants=f"{_INF}, {_ZERO}",
    ),
    _masked(
        "masked softmax, by a finite number",
        *("s = Where(mask, x, low)", "y = Softmax(s)"),
        constants="float low = {-3.0e38}",
    ),
    _masked(
        "causal softmax",
        *("s = Where(causal, x, low)", "y = Softmax(s)"),
        constants=f"{_INF}, bool[2, 3] causal = {{1, 0, 0, 1, 1, 0}}",
    ),
)

_LEFT = "p = Softmax(x)", "c = Cast <to = 9> (p)"
"""A mask that is true somewhere in every row, since some probability is a third at least."""

_SOME_LEFT = tuple(
    _float(name, *_LEFT, *nodes, "y = Softmax(s)", rules=rules, constants=constants, assume=("x=-9:9",))
    for name, nodes, rules, constants in (
        ("mask that leaves something", ("s = Where(c, x, low)",), (), _INF),
        ("mask that leaves the others", ("s = Where(c, low, x)",), ("masked-row",), _INF),
        ("mask turned", ("n = Not(c)", "s = Where(n, low, x)"), (), _INF),
        ("mask turned, leaving the others", ("n = Not(c)", "s = Where(n, x, low)"), ("masked-row",), _INF),
        (
            "mask of integers",
            ("k = Cast <to = 7> (c)", "e = Equal(k, one)", "s = Where(e, x, low)"),
            (),
            f"{_INF}, int64 one = {{1}}",
        ),
        (
            "mask of integers, leaving the others",
            ("k = Cast <to = 7> (c)", "e = Equal(k, zero)", "s = Where(e, x, low)"),
            ("masked-row",),
            f"{_INF}, int64 zero = {{0}}",
        ),
    )
)

_NARROW = (
    _float(
        "epsilon in float16",
        "s = Mul(x, x)",
        "d = Add(s, e)",
        "y = Div(x, d)",
        constants="float e = {1e-12}",
        as_type="float16",
        rules=("epsilon-lost", "zero-over-zero"),
        witness={},
        reason="1e-12 is 0 in float16",
    ),
    _float("epsilon in float32", "s = Mul(x, x)", "d = Add(s, e)", "y = Div(x, d)", constants="float e = {1e-12}"),
    _float(
        "epsilon that float16 holds",
        "s = Mul(x, x)",
        "d = Add(s, e)",
        "y = Div(x, d)",
        constants="float e = {1e-6}",
        as_type="float16",
    ),
    _float(
        "epsilon in bfloat16",
        "s = Mul(x, x)",
        "d = Add(s, e)",
        "y = Div(x, d)",
        constants="float e = {1e-12}",
        as_type="bfloat16",
    ),
    _float(
        "guard in float16",
        "n = ReduceL2(x, axis)",
        "d = Max(n, e)",
        "y = Div(x, d)",
        constants=f"float e = {{1e-12}}, {_AXIS}",
        as_type="float16",
        rules=("epsilon-lost", "zero-over-zero"),
        witness={},
        reason="1e-12 is 0 in float16",
    ),
    _float("small constant that guards nothing", "y = Add(x, e)", constants="float e = {1e-12}", as_type="float16"),
    _float(
        "subnormal guard",
        "s = Abs(x)",
        "d = Add(s, e)",
        "y = Div(x, d)",
        constants="float e = {1e-40}",
        profile=("flushing",),
        rules=("subnormal-divisor",),
        witness={},
        reason="a target that flushes takes 1e-40 for 0",
    ),
    _float(
        "normal guard",
        "s = Abs(x)",
        "d = Add(s, e)",
        "y = Div(x, d)",
        constants="float e = {1e-30}",
        profile=("flushing",),
    ),
)

_LEGALITY = (
    Entry(
        "legacy broadcast",
        _model("float[2, 3] x, float[2] d", _Y, "y = Div <broadcast = 1, axis = 0> (x, d)", opset=6),
        ("legacy-broadcast",),
        assume=("d=1:2",),
        reason="the attributes say so",
    ),
    Entry("broadcast of today", _model("float[2, 3] x, float[3] d", _Y, "y = Div(x, d)"), assume=("d=1:2",)),
    Entry(
        "int8 before 14",
        _model("int8[3] n", "int8[3] q", "q = Div(n, k)", constants="int8 k = {3}", opset=13),
        ("illegal-element-type",),
        reason="Div-13 has no int8",
    ),
    Entry("int8 from 14 on", _model("int8[3] n", "int8[3] q", "q = Div(n, k)", constants="int8 k = {3}", opset=14)),
    Entry(
        "axis where there is none",
        _model("float[2, 3] x", _Y, "y = Div <axis = 1> (x, k)", constants="float k = {2}"),
        ("illegal-attribute",),
        reason="Div-14 has no attributes",
    ),
    Entry(
        "SONNX shapes",
        _model("float[2, 3] x", _Y, "y = Div(x, k)", constants="float k = {2}"),
        ("sonnx-c1",),
        profile=("sonnx",),
        reason="the shapes differ",
    ),
    Entry(
        "SONNX shapes, equal",
        _model("float[2, 3] x, float[2, 3] d", _Y, "y = Div(x, d)"),
        profile=("sonnx",),
        assume=("d=1:2",),
    ),
    Entry(
        "SONNX zero divisor",
        _model(_INTS, _Q, "q = Div(n, m)"),
        ("sonnx-c3", "integer-zero-divisor"),
        profile=("sonnx",),
        assume=("n=0:9", "m=0:9"),
        witness=_N,
    ),
)

_BODIES = (
    Entry("layer normalisation", _model("float[2, 8] x, float[8] w", "float[2, 8] y", "y = LayerNormalization(x, w)")),
    Entry(
        "layer normalisation without epsilon",
        _model("float[2, 8] x, float[8] w", "float[2, 8] y", "y = LayerNormalization <epsilon = 0.0> (x, w)"),
        ("zero-over-zero",),
        witness={"x": np.ones((2, 8), np.float32), "w": np.ones(8, np.float32)},
    ),
    Entry(
        "RMS normalisation",
        _model("float[2, 8] x, float[8] w", "float[2, 8] y", "y = RMSNormalization(x, w)", opset=23),
    ),
    Entry(
        "group normalisation",
        _model(
            "float[2, 4, 8] x, float[4] w, float[4] b",
            "float[2, 4, 8] y",
            "y = GroupNormalization <num_groups = 2> (x, w, b)",
            opset=21,
        ),
    ),
    Entry(
        "dynamic quantisation",
        _model("float[2, 3] x", "uint8[2, 3] y, float s, uint8 z", "y, s, z = DynamicQuantizeLinear(x)"),
        ("zero-over-zero",),
        reason="ONNX's body divides 0 by the scale 0 of zeros (onnx issue 8437)",
    ),
    Entry("softmax", _model(_X, _Y, "y = Softmax(x)")),
    Entry(
        "batch normalisation",
        _model(
            "float[2, 2, 3] x",
            "float[2, 2, 3] y",
            "y = BatchNormalization(x, w, w, w, v)",
            constants="float[2] w = {1, 1}, float[2] v = {0, 1}",
        ),
    ),
    Entry(
        "batch normalisation without epsilon",
        _model(
            "float[2, 2, 3] x",
            "float[2, 2, 3] y",
            "y = BatchNormalization <epsilon = 0.0> (x, w, w, w, v)",
            constants="float[2] w = {1, 1}, float[2] v = {0, 1}",
        ),
        ("zero-divisor",),
        witness={"x": np.ones((2, 2, 3), np.float32)},
    ),
    Entry(
        "division in a loop",
        _model(
            "float[3] x",
            "float[3] y",
            _loop("float[3]", "r = Reciprocal(s) a = Abs(r) t = Add(a, one)"),
            constants=f"{_ONE}, int64 n = {{1}}, bool c = {{1}}",
        ),
        ("zero-divisor",),
        witness={"x": np.zeros(3, np.float32)},
    ),
    Entry(
        "guarded division in a loop",
        _model(
            "float[3] x",
            "float[3] y",
            _loop("float[3]", "a = Abs(s) d = Add(a, one) t = Reciprocal(d)"),
            constants=f"{_ONE}, int64 n = {{3}}, bool c = {{1}}",
        ),
    ),
    Entry(
        "iteration number",
        _model(
            "int64[1] x",
            "int64[1] y",
            _loop("int64[1]", "t = Div(s, i)"),
            constants="int64 n = {3}, bool c = {1}",
        ),
        ("integer-zero-divisor",),
        assume=("x=0:9",),
        reason="the first iteration is number 0",
    ),
    Entry(
        "iteration number and one",
        _model(
            "int64[1] x",
            "int64[1] y",
            _loop("int64[1]", "k = Add(i, unit) t = Div(s, k)"),
            constants=f"int64 n = {{3}}, bool c = {{1}}, {_UNIT}",
        ),
        assume=("x=0:9",),
    ),
)

ENTRIES = (*_FLOATS, *_INTEGERS, *_SHAPES, *_MASKS, *_BOXES, *_ROWS, *_SOME_LEFT, *_NARROW, *_LEGALITY, *_BODIES)
