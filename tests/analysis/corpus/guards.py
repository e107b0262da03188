"""Guards that people write against a zero divisor, each beside what is left without it, or with it done wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.analysis.corpus.entry import Entry, written

_X, _Y, _FOUR = "float[2, 3] x", "float[2, 3] y", "float[1, 1, 4, 4]"
_ZEROS = {"x": np.zeros((2, 3), np.float32)}
_SPREAD = "a = ReduceMax <keepdims = 1> (x, rows) b = ReduceMin <keepdims = 1> (x, rows) d = Sub(a, b)"
_SOFTMAX = "m = ReduceMax <keepdims = 1> (x, rows) c = Sub(x, m) e = Exp(c)"
_LIKELIEST = "p = Softmax(x) l = ReduceMax <keepdims = 1> (p, rows)"
_SECOND = "v, i = TopK(x, k) t = Gather <axis = 1> (v, last)"
_KEPT = "s = Where(c, low, x) y = Softmax(s)"
_MOMENTS = (
    "q = Mul(x, x) a = ReduceMean <keepdims = 1> (q, rows) m = ReduceMean <keepdims = 1> (x, rows) n = Mul(m, m)"
    " v = Sub(a, n)"
)
_MAGNITUDE = "m = Abs(x) d = ReduceMean <keepdims = 1> (m, rows)"
_SCALE = "m = Abs(x) l = ReduceMax <keepdims = 1> (m, rows) d = Div(l, most)"
_DEVIATION = (
    "m = ReduceMean <keepdims = 1> (x, rows) c = Sub(x, m) q = Mul(c, c) v = ReduceMean <keepdims = 1> (q, rows)"
    " d = Sqrt(v)"
)
_FEATURES = "m = ReduceMax <keepdims = 0> (x) c = Sub(x, m) e = Exp(c)"
_REPLACED = "z = Equal(d, zero) g = Where(z, one, d)"
_SCATTERED = 'e = Exp(x) s = ScatterElements <axis = 0, reduction = "add"> (none, n, e)'
_GROUPED = (
    'm = ScatterElements <axis = 0, reduction = "max"> ({start}, n, x) g = Gather(m, n) c = Sub(x, g) e = Exp(c)'
    ' s = ScatterElements <axis = 0, reduction = "add"> (none, n, e) d = Gather(s, n) y = Div(e, d)'
)
_TINY = {"x": np.array([[0, 0, 1e-42], [0, 0, 0]], np.float32)}
_MASKED = "v = Conv <pads = [1, 1, 1, 1]> (k, w)"


def _pair(
    name: str, guarded: str, hazard: str, rules: str, inputs: str = _X, outputs: str = _Y, **more: Any
) -> tuple[Entry, Entry]:
    """Return a control, and a hazard that differs in one place."""
    shared: dict[str, Any] = {key: more.pop(key, "") for key in ("constants", "assume")}
    control = written(name, inputs, outputs, guarded, source="guards", **shared)
    more = {"witness": _ZEROS, **more}
    return control, written(f"{name}, done wrong", inputs, outputs, hazard, rules, source="guards", **shared, **more)


PAIRS = (
    _pair("largest less smallest, and epsilon", f"{_SPREAD} g = Add(d, eps) y = Div(x, g)", f"{_SPREAD} y = Div(x, d)",
          "zero-over-zero"),
    _pair("small magnitudes replaced", "a = Abs(x) c = Less(a, eps) d = Where(c, eps, x) y = Div(one, d)",
          "a = Abs(x) c = Less(eps, a) d = Where(c, eps, x) y = Div(one, d)", "zero-divisor"),
    _pair("one added to zeros", "c = Equal(x, zero) f = Cast <to = 1> (c) d = Add(x, f) y = Div(one, d)",
          "c = Less(x, zero) f = Cast <to = 1> (c) d = Add(x, f) y = Div(one, d)", "zero-divisor"),
    _pair("an epsilon added to zeros",
          "c = Equal(x, zero) f = Cast <to = 1> (c) e = Mul(f, eps) d = Add(x, e) y = Div(one, d)",
          "c = Equal(x, one) f = Cast <to = 1> (c) e = Mul(f, eps) d = Add(x, e) y = Div(one, d)", "zero-divisor"),
    _pair("one added to integers that are zero",
          "c = Equal(n, nil) f = Cast <to = 7> (c) d = Add(n, f) q = Div(unit, d)",
          "c = Equal(n, unit) f = Cast <to = 7> (c) d = Add(n, f) q = Div(unit, d)", "integer-zero-divisor",
          inputs="int64[3] n", outputs="int64[3] q", witness={"n": np.zeros(3, np.int64)}),
    _pair("a masked convolution and epsilon", f"k = Cast <to = 1> (m) {_MASKED} d = Add(v, eps) y = Div(one, d)",
          f"k = Cast <to = 1> (m) {_MASKED} y = Div(one, v)", "zero-divisor", inputs="bool[1, 1, 4, 4] m",
          outputs=f"{_FOUR} y", constants="float[1, 1, 3, 3] w = {1, 1, 1, 1, 1, 1, 1, 1, 1}",
          witness={"m": np.zeros((1, 1, 4, 4), bool)}),
    _pair("half of a size, rounded up", "s = Size(x) p = Add(s, unit) h = Div(p, two) q = Div(two, h)",
          "s = Size(x) h = Div(s, two) q = Div(two, h)", "integer-zero-divisor", inputs="float[n] x", outputs="int64 q",
          witness={"x": np.zeros(1, np.float32)}),
    _pair("softmax by the sum of magnitudes", f"{_SOFTMAX} s = ReduceL1 <keepdims = 1> (e, rows) y = Div(e, s)",
          "s = ReduceL1 <keepdims = 1> (x, rows) y = Div(x, s)", "zero-over-zero"),
    _pair("degrees of a graph with loops",
          "i = EyeLike(a) l = Add(a, i) d = ReduceSum <keepdims = 1> (l, rows) y = Div(a, d)",
          "d = ReduceSum <keepdims = 1> (a, rows) y = Div(a, d)", "zero-over-zero", inputs="float[n, n] a",
          outputs="float[n, n] y", assume="a=0|1", witness={"a": np.zeros((2, 2), np.float32)}),
    _pair("row sums of one-hot vectors",
          "h = OneHot(n, depth, onoff) d = ReduceSum <keepdims = 1> (h, rows) y = Div(h, d)",
          "h = OneHot(n, depth, onoff) t = Transpose(h) d = ReduceSum <keepdims = 1> (t, rows) y = Div(t, d)",
          "zero-over-zero", inputs="int64[3] n", outputs="float[3, 3] y", assume="n=0:2",
          witness={"n": np.zeros(3, np.int64)}),
    _pair("rows of a table but the first", "d = Gather(table, n) y = Div(one, d)",
          "p = Sub(n, unit) d = Gather(table, p) y = Div(one, d)", "zero-divisor", inputs="int64[2] n",
          outputs="float[2] y", constants="float[3] table = {0, 1, 2}", assume="n=1:2",
          witness={"n": np.ones(2, np.int64)}),
    _pair("what is positive by itself", "c = Greater(x, zero) d = Where(c, x, one) y = Div(x, d)",
          "c = Greater(x, zero) d = Where(c, x, one) y = Div(one, d)", "quotient-overflow", assume="x=-2:2",
          witness={"x": np.full((2, 3), 1e-45, np.float32)}),
    _pair("an epsilon with the sign",
          "c = Less(x, zero) n = Sub(x, eps) p = Add(x, eps) d = Where(c, n, p) y = Div(one, d)",
          "c = Less(x, zero) n = Sub(x, eps) p = Add(x, eps) d = Where(c, p, n) y = Div(one, d)", "zero-divisor",
          witness={"x": np.full((2, 3), -1e-6, np.float32)}),
    _pair("the largest of a softmax", "p = Softmax(x) m = ReduceMax(p, axis) y = Div(p, m)",
          "p = Softmax(x) m = ReduceMin(p, axis) y = Div(p, m)", "zero-over-zero",
          witness={"x": np.array([[0, 0, -200], [0, 0, 0]], np.float32)}),
    _pair("what is likelier than a share of the likeliest", f"{_LIKELIEST} t = Mul(l, share) c = Less(p, t) {_KEPT}",
          f"{_LIKELIEST} t = Div(l, share) c = Less(p, t) {_KEPT}", "masked-row", constants="float share = {0.5}"),
    _pair("the second largest and what is larger", f"{_SECOND} c = Less(x, t) {_KEPT}",
          f"{_SECOND} c = LessOrEqual(x, t) {_KEPT}", "masked-row", constants="int64[1] last = {-1}, int64[1] k = {2}"),
    _pair("what is likely, or the largest",
          f"p = Softmax(x) {_SECOND} a = Less(p, half) b = Less(x, t) c = And(a, b) {_KEPT}",
          f"p = Softmax(x) {_SECOND} a = Less(p, half) b = Less(x, t) c = Or(a, b) {_KEPT}", "masked-row",
          constants="float half = {0.5}, int64[1] last = {-1}, int64[1] k = {2}"),
    _pair("the likeliest of those that are kept",
          f"{_LIKELIEST} t = Mul(l, share) c = Less(p, t) k = Where(c, zero, p) d = ReduceSum(k, rows) y = Div(k, d)",
          f"{_LIKELIEST} c = LessOrEqual(p, l) k = Where(c, zero, p) d = ReduceSum(k, rows) y = Div(k, d)",
          "zero-over-zero", constants="float share = {0.5}", assume="x=-9:9"),
    _pair("what is likelier than a share that somebody has", f"p = Softmax(x) c = Less(p, share) {_KEPT}",
          f"p = Softmax(x) c = Less(share, p) {_KEPT}", "masked-row", constants="float share = {0.3}", assume="x=-9:9"),
    _pair("the mean of squares less the square of the mean, and epsilon",
          f"{_MOMENTS} e = Add(v, small) d = Sqrt(e) y = Div(one, d)", f"{_MOMENTS} d = Sqrt(v) y = Div(one, d)",
          "zero-divisor", constants="float small = {1e-5}", outputs="float[2, n] y",
          assume="x=-1:1"),
    _pair("a range of zero replaced", f"{_SPREAD} {_REPLACED} s = Sub(x, b) y = Div(s, g)",
          f"{_SPREAD} {_REPLACED} y = Div(one, g)", "quotient-overflow", outputs="float[2, n] y",
          assume="x=-50:50", witness=_TINY),
    _pair("a scale of zero replaced", f"{_SCALE} {_REPLACED} y = Div(x, g)", f"{_SCALE} {_REPLACED} y = Div(one, g)",
          "quotient-overflow", constants="float most = {127}", outputs="float[2, n] y",
          assume="x=-50:50", witness=_TINY),
    _pair("a mean magnitude of zero replaced", f"{_MAGNITUDE} {_REPLACED} y = Div(x, g)",
          f"{_MAGNITUDE} {_REPLACED} y = Div(one, g)", "quotient-overflow", outputs="float[2, n] y",
          assume="x=-50:50", witness=_TINY),
    _pair("a deviation of zero replaced", f"{_DEVIATION} {_REPLACED} y = Div(c, g)", f"{_DEVIATION} y = Div(c, d)",
          "zero-over-zero", assume="x=-50:50"),
    _pair("Elu and one, summed, and epsilon",
          "e = Elu(x) p = Add(e, one) s = ReduceSum(p, rows) d = Add(s, eps) y = Div(p, d)",
          "e = Elu(x) p = Add(e, one) d = ReduceSum(p, rows) y = Div(p, d)", "zero-over-zero", assume="x=-500:50",
          witness={"x": np.full((2, 3), -500, np.float32)}),
    _pair("products of positive features",
          f"{_FEATURES} f = Add(e, small) t = Transpose(f) d = MatMul(f, t) y = Div(one, d)",
          f"{_FEATURES} t = Transpose(e) d = MatMul(e, t) y = Div(one, d)", "zero-divisor", outputs="float[2, 2] y",
          constants="float small = {1e-3}", assume="x=-50:50",
          witness={"x": np.array([[-50] * 3, [50] * 3], np.float32)}),
    _pair("scattered exponentials and epsilon", f"{_SCATTERED} d = Add(s, eps) y = Div(one, d)",
          f"{_SCATTERED} y = Div(one, s)", "zero-divisor", inputs="float[6] x, int64[6] n", outputs="float[4] y",
          constants="float[4] none = {0, 0, 0, 0}", assume="x=-5:5 n=0:3",
          witness={"x": np.zeros(6, np.float32), "n": np.zeros(6, np.int64)}),
    _pair("scattered exponentials by their own indices", f"{_SCATTERED} d = Gather(s, n) y = Div(e, d)",
          f"{_SCATTERED} d = Gather(s, k) y = Div(e, d)", "zero-divisor", inputs="float[6] x, int64[6] n, int64[6] k",
          outputs="float[6] y", constants="float[4] none = {0, 0, 0, 0}", assume="x=-50:50 n=0:3 k=0:3",
          witness={"x": np.zeros(6, np.float32), "n": np.zeros(6, np.int64), "k": np.ones(6, np.int64)}),
    _pair("softmax of groups", _GROUPED.format(start="lows"), _GROUPED.format(start="none"), "zero-over-zero",
          inputs="float[6] x, int64[6] n", outputs="float[6] y", assume="x=-200:200 n=0:3",
          constants="float[4] none = {0, 0, 0, 0}, float[4] lows = {-inf, -inf, -inf, -inf}",
          witness={"x": np.full(6, -200, np.float32), "n": np.zeros(6, np.int64)}),
    _pair("what is likelier than a share of the likeliest, and not as likely",
          f"{_LIKELIEST} t = Mul(share, l) c = LessOrEqual(p, t) {_KEPT}",
          f"{_LIKELIEST} t = Mul(one, l) c = LessOrEqual(p, t) {_KEPT}", "masked-row",
          constants="float share = {0.1}", assume="x=-9:9"),
    _pair("what is near the largest",
          f"m = ReduceMax <keepdims = 1> (x, rows) t = Sub(m, one) c = LessOrEqual(x, t) {_KEPT}",
          f"m = ReduceMax <keepdims = 1> (x, rows) t = Sub(one, m) c = LessOrEqual(x, t) {_KEPT}", "masked-row",
          assume="x=-9:9"),
    _pair("what is near the largest, less a negative number",
          f"m = ReduceMax <keepdims = 1> (x, rows) t = Add(m, minus) c = LessOrEqual(x, t) {_KEPT}",
          f"m = ReduceMax <keepdims = 1> (x, rows) t = Add(m, zero) c = LessOrEqual(x, t) {_KEPT}", "masked-row",
          constants="float minus = {-2.3}", assume="x=-9:9"),
    _pair("what is as near to the largest as a share", f"m = ReduceMax <keepdims = 1> (x, rows) t = Add(minus, m)"
          f" c = Less(x, t) {_KEPT}", f"m = ReduceMax <keepdims = 1> (x, rows) t = Add(one, m) c = Less(x, t) {_KEPT}",
          "masked-row", constants="float minus = {-2.3}", assume="x=-9:9"),
    _pair("products of positive features, by letters",
          f"{_FEATURES} f = Add(e, small) d = Einsum <equation = \"bn,bn->b\"> (f, f) y = Div(one, d)",
          f"{_FEATURES} d = Einsum <equation = \"bn,bn->b\"> (e, e) y = Div(one, d)", "zero-divisor",
          outputs="float[2] y", constants="float small = {1e-3}", assume="x=-50:50",
          witness={"x": np.array([[-50] * 3, [50] * 3], np.float32)}),
    _pair("one less the square of a hyperbolic tangent, and epsilon",
          "t = Tanh(x) q = Mul(t, t) s = Sub(one, q) d = Add(s, eps) y = Div(one, d)",
          "t = Tanh(x) q = Mul(t, t) d = Sub(one, q) y = Div(one, d)", "zero-divisor",
          witness={"x": np.full((2, 3), 200, np.float32)}),
    _pair("some bits, and one", "m = BitwiseAnd(n, seven) d = BitwiseOr(m, unit) q = Div(unit, d)",
          "d = BitwiseAnd(n, seven) q = Div(unit, d)", "integer-zero-divisor", inputs="int64[3] n",
          outputs="int64[3] q", constants="int64 seven = {7}", witness={"n": np.full(3, 8)}),
    _pair("a power of two, shifted", 'd = BitShift <direction = "LEFT"> (single, n) q = Div(single, d)',
          'd = BitShift <direction = "RIGHT"> (single, n) q = Div(single, d)', "integer-zero-divisor",
          inputs="uint32[3] n", outputs="uint32[3] q", constants="uint32 single = {1}", assume="n=0:31",
          witness={"n": np.ones(3, np.uint32)}),
    _pair("one added to what is not negative", "m = Max(n, nil) d = Add(m, unit) q = Div(unit, d)",
          "d = Add(n, unit) q = Div(unit, d)", "integer-zero-divisor", inputs="int64[3] n", outputs="int64[3] q",
          witness={"n": np.full(3, -1, np.int64)}),
)  # fmt: skip

ENTRIES = tuple(entry for pair in PAIRS for entry in pair)
