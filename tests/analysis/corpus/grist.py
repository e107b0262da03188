"""Programs with numerical defects that GRIST collected and RANUM was measured on, rebuilt from GRIST's sources.

An entry stands for all programs that compute the same, and is named by the numbers of their defects. Layers and losses
are theirs, weights are inputs in the ranges that RANUM begins with, logits twice as large. The gradient of a square
root, which is the defect of some, is a part of the model. Left out are 1, 14, 15 and 44. Each kind of defect has a twin
with a guard such as developers wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from tests.analysis.corpus.entry import Entry, written

Shape = tuple[int, ...]
_CONSTANTS = (
    "float half = {0.5}, float tiny = {1e-10}, float micro = {1e-6}, float some = {0.01}, float most = {87},"
    " float least = {-87}, float less = {-100}, float low1 = {-1}, int64[1] first = {0}, int64[1] channel = {1},"
    " float[2] none = {0, 0}, int64[6] row = {0, 0, 0, 1, 1, 1}"
)
_DOMAIN, _OVERFLOW = "outside-domain", "exponential-overflow"


@dataclass(frozen=True)
class _Network:
    """Nodes that compute `o`, the shapes of their inputs, and the largest magnitudes of those that are not 50."""

    nodes: str
    shapes: Mapping[str, Shape]
    largest: Mapping[str, float] = field(default_factory=dict)


def _dense(*sizes: int, weight: float, bias: float = 50, by: str = "Relu", drops: bool = False) -> _Network:
    """Return dense layers, and labels; what a dropout keeps is divided by the share that is kept."""
    shapes: dict[str, Shape] = {"x": (2, sizes[0]), "y": (2, sizes[-1])} | ({"keep": ()} if drops else {})
    nodes, x = "", "x"
    for place, pair in enumerate(pairwise(sizes), 1):
        shapes |= {f"W{place}": pair, f"b{place}": pair[1:]}
        if place == len(sizes) - 1:
            nodes += f"o = Gemm({x}, W{place}, b{place}) "
        else:
            nodes += f"g{place} = Gemm({x}, W{place}, b{place}) h{place} = {by}(g{place}) "
            nodes += f"d{place} = Div(h{place}, keep) " if drops else ""
            x = f"{'d' if drops else 'h'}{place}"
    return _Network(nodes, shapes, {name: weight if name[0] == "W" else bias for name in shapes if name[0] in "Wb"})


def _images() -> _Network:
    """Return two convolutions with pooling, and two dense layers with a dropout between."""
    pool, conv = "MaxPool <kernel_shape = [2, 2], strides = [2, 2]>", "Conv <pads = [2, 2, 2, 2]>"
    nodes = (
        f"c1 = {conv} (x, W1, b1) r1 = Relu(c1) p1 = {pool} (r1) c2 = {conv} (p1, W2, b2) r2 = Relu(c2)"
        f" p2 = {pool} (r2) f = Flatten(p2) g3 = Gemm(f, W3, b3) h3 = Relu(g3) d3 = Div(h3, keep) o = Gemm(d3, W4, b4) "
    )
    weights = {"W1": (32, 1, 5, 5), "W2": (64, 32, 5, 5), "W3": (3136, 1024), "W4": (1024, 10)}
    others = {"b1": (32,), "b2": (64,), "b3": (1024,), "b4": (10,), "x": (2, 1, 28, 28), "y": (2, 10), "keep": ()}
    return _Network(nodes, weights | others, dict.fromkeys(weights, 0.6))


def _entry(name: str, network: _Network, nodes: str, rules: str = "", signs: str = "+-", **more: Any) -> Entry:
    """Return what is computed of a network, whose largest values show the first defect.

    - `signs`: of the last layer's weights, first those of the first column; 0 for zeros everywhere.
    """
    ends = {one: network.largest.get(one, 50.0) for one in network.shapes}
    last = max((one for one in ends if one[0] == "W"), default="x")
    arrays = {}
    for one, shape in network.shapes.items():
        columns = np.full(shape[-1:], 0.9 if one == "keep" else ends[one], np.float32)
        if one in (last, "y") or signs == "00":
            columns[:1] *= {"+": 1, "-": -1, "0": 0}[signs[0]]
            columns[1:] *= {"+": 1, "-": -1, "0": 0}[signs[1]]
        arrays[one] = np.broadcast_to(columns, shape)
    return written(
        name,
        ", ".join(f"float{list(shape) if shape else ''} {one}" for one, shape in network.shapes.items()),
        "float loss",
        network.nodes + nodes,
        rules,
        _CONSTANTS,
        source="GRIST",
        assume=" ".join("keep=0.1:0.9" if one == "keep" else f"{one}={-end}:{end}" for one, end in ends.items()),
        profile="domains",
        witness=arrays if rules and not more else {},
        **more,
    )


_MEAN = "c = ReduceMean <keepdims = 0> (s) loss = Neg(c)"
_ENTROPY = f"t = Mul(y, l) s = ReduceSum(t, axis) {_MEAN}"
_BINARY = f"t = Mul(y, l) v = Sub(one, y) u = Mul(v, k) s = Add(t, u) {_MEAN}"
_SOFTMAX, _SIGMOID = "p = Softmax <axis = -1> (o) ", "p = Sigmoid(o) q = Sub(one, p) "
_CLIPPED = "r = Clip(p, micro, one) l = Log(r) "
_LOGARITHMS = "l = Log(p) k = Log(q) "
_GRADIENT = f"t = Mul(y, r) g = Div(half, r) s = Mul(t, g) {_MEAN}"
_ENERGY = "n = MatMul(v, b) w = MatMul(x, b) r = Sub(w, n) d = Sub(r, j) loss = ReduceMean <keepdims = 0> (d)"

_MNIST, _LOGISTIC = _dense(784, 10, weight=13, bias=13), _dense(2, 1, weight=10, bias=10)
_SCORES = _Network("o = Identity(x) ", {"x": (3, 5), "y": (3, 5)}, {"x": 100})
_IMAGES = _images()
_DISCRIMINATOR = _dense(784, 1024, 512, 256, 1, weight=0.12, bias=0, drops=True)
_TENSORFUZZ = _dense(784, 200, 100, 10, weight=0.75, bias=0.1)
_RBM = _Network(
    "g = Gemm(x, W, h) ",
    {"x": (2, 784), "v": (2, 784), "W": (784, 128), "h": (128,), "b": (784, 1)},
    {"W": 0.14, "b": 10, "h": 10},
)
_STOCHASTIC = _Network(
    "a = Abs(W1) b = ReduceSum(a, first) c = MatMul(x, W1) ",
    {"x": (2, 784), "W1": (784, 128), "gain": (128,), "b1": (128,)},
    {"W1": 13.7, "gain": 31.9, "b1": 8},
)
_CLIPPED_SUM = (
    "k = Clip(u, low1, one) j = Div(b1, s) o = Add(k, j) n = Clip(o, low1, one) loss = ReduceMean <keepdims = 0> (n)"
)


def _autoencoder(least: str) -> _Network:
    layers = (784, 500), (500, 500), (500, 20), (500, 20), (20, 500), (500, 500), (500, 784)
    weights = {f"W{place}": shape for place, shape in enumerate(layers, 1)}
    nodes = (
        "g1 = Gemm(x, W1, b) e1 = Softplus(g1) g2 = Gemm(e1, W2, b) e2 = Softplus(g2)"
        f" mean = MatMul(e2, W3) logs = MatMul(e2, W4) c1 = Clip(logs, {least}, most) variance = Exp(c1)"
        " root = Sqrt(variance) noise = Mul(root, drawn) z = Add(mean, noise) g5 = MatMul(z, W5) e5 = Softplus(g5)"
        " g6 = Gemm(e5, W6, b) e6 = Softplus(g6) o = MatMul(e6, W7) "
    )
    shapes = {"x": (2, 784), "y": (2, 784), "drawn": (2, 20), "b": (500,), **weights}
    return _Network(nodes, shapes, {"b": 0.0, **dict.fromkeys(weights, 0.33)})


_U_NET = _Network(
    "c1 = Conv (x, W1, b) r1 = Relu(c1) p1 = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r1)"
    " c2 = Conv <pads = [1, 1, 1, 1]> (p1, W2, b) r2 = Relu(c2) t2 = ConvTranspose <strides = [2, 2]> (r2, W3)"
    " j = Concat <axis = 1> (r1, t2) c4 = Conv (j, W4) o = Relu(c4) ",
    {"x": (1, 1, 34, 34), "y": (1, 2, 32, 32), "b": (16,), "W1": (16, 1, 3, 3), "W2": (16, 16, 3, 3)}
    | {"W3": (16, 16, 2, 2), "W4": (2, 32, 1, 1)},
    {"b": 0.12, **{f"W{place}": 0.67 for place in range(1, 5)}},
)
_OF_CLIPPED = f"i = Clip(p, micro, one) j = Clip(q, micro, one) l = Log(i) k = Log(j) {_BINARY}"
_DEFECTS = (
    *(
        _entry(numbers, network, f"{_SOFTMAX}l = Log(p) {_ENTROPY}", _DOMAIN)
        for numbers, network in {
            "3, 10, 18-21, 25, 30, 45a, 48b, 50, 52, 59, 60": _MNIST,
            "40-42": _dense(2, 3, weight=10, bias=10),
            "32, 34, 47, 54": _dense(4, 3, weight=10, bias=10),
            "23, 27, 46, 57": _SCORES,
            "12": _dense(20, 10, 2, weight=0.31, bias=0.2),
            "48a, 61": _dense(784, 300, 10, weight=10, drops=True),
            "6-8, 24, 29, 45b, 55, 58": _IMAGES,
        }.items()
    ),
    _entry("2a, 2b", _MNIST, f"{_SOFTMAX}q = Sub(one, p) {_LOGARITHMS}{_BINARY}", _DOMAIN),
    *(
        _entry(numbers, network, f"{_SIGMOID}{_LOGARITHMS}{_BINARY}", _DOMAIN, "++")
        for numbers, network in {
            "26, 33, 37, 38, 53, 56": _LOGISTIC,
            "9a, 9b": _dense(784, 512, 10, weight=13.8, bias=0, by="Sigmoid"),
            "31": _DISCRIMINATOR,
        }.items()
    ),
    _entry(
        "11a, 11b, 16a, 16c",
        _TENSORFUZZ,
        f"m = Clip(o, least, most) e = Exp(m) f = Exp(o) a = ReduceSum(f, axis) p = Div(e, a) {_CLIPPED}{_ENTROPY}",
        f"zero-divisor {_OVERFLOW}",
        "--",
    ),
    _entry(
        "11c, 16b",
        _TENSORFUZZ,
        f"e = Exp(o) a = ReduceSum(e, axis) p = Div(e, a) l = Log(p) {_ENTROPY}",
        f"{_OVERFLOW} zero-over-zero {_DOMAIN}",
    ),
    _entry(
        "17",
        _U_NET,
        f"e = Exp(o) a = ReduceSum(e, channel) p = Div(e, a) r = Clip(p, tiny, one) l = Log(r) s = Mul(y, l) {_MEAN}",
        _OVERFLOW,
        "++",
    ),
    _entry(
        "22, 51, 62, 63",
        _RBM,
        f"e = Exp(g) f = Add(e, one) i = Log(f) j = ReduceSum(i, axis) {_ENERGY}",
        _OVERFLOW,
        "++",
    ),
    _entry(
        "4", _SCORES, f"l = Log(x) q = Mul(x, x) f = Sub(x, q) d = Sub(f, l) s = ReduceSum(d, axis) {_MEAN}", _DOMAIN
    ),
    _entry("5", _SCORES, f"{_SOFTMAX}r = Sqrt(p) {_GRADIENT}", "zero-divisor"),
    _entry(
        "13",
        _Network("", {"x": (6,)}),
        'l = Log(x) a = ScatterElements <axis = 0, reduction = "add"> (none, row, l) d = Gather(a, row) p = Div(l, d)'
        " loss = ReduceMean <keepdims = 0> (p)",
        f"{_DOMAIN} zero-over-zero",
        "--",
    ),
    _entry(
        "28a-28d",
        _STOCHASTIC,
        f"z = Div(c, b) u = Mul(z, gain) s = Div(b, gain) {_CLIPPED_SUM}",
        "zero-over-zero",
        "00",
    ),
    _entry(
        "35a, 36a, 39a, 43a, 49a",
        _autoencoder("least"),
        f"p = Sigmoid(o) i = Add(p, tiny) f = Add(tiny, one) q = Sub(f, p) l = Log(i) k = Log(q) {_BINARY}",
        _DOMAIN,
        "++",
    ),
    _entry(
        "35b, 36b, 39b, 43b, 49b",
        _autoencoder("less"),
        f"{_SIGMOID}g = Div(half, root) h = ReduceMean(g) {_OF_CLIPPED}",
        "zero-divisor",
        reason="the smallest variance is subnormal, which their runtime takes for 0",
    ),
)
_GUARDED = (
    _entry("softmax kept from zero", _MNIST, f"{_SOFTMAX}{_CLIPPED}{_ENTROPY}"),
    _entry("log_softmax of images", _IMAGES, f"l = LogSoftmax <axis = -1> (o) {_ENTROPY}"),
    _entry("both logarithms of what is kept from zero", _LOGISTIC, f"{_SIGMOID}{_OF_CLIPPED}"),
    _entry(
        "an epsilon of a hundredth in both logarithms",
        _DISCRIMINATOR,
        f"{_SIGMOID}i = Add(p, some) j = Add(q, some) l = Log(i) k = Log(j) {_BINARY}",
    ),
    _entry(
        "binary cross entropy of logits",
        _LOGISTIC,
        "r = Relu(o) t = Mul(o, y) m = Abs(o) n = Neg(m) e = Exp(n) f = Add(e, one) l = Log(f) a = Sub(r, t)"
        f" s = Add(a, l) {_MEAN}",
    ),
    _entry(
        "the largest logit taken out",
        _TENSORFUZZ,
        f"m = ReduceMax(o, axis) d = Sub(o, m) e = Exp(d) a = ReduceSum(e, axis) p = Div(e, a) {_CLIPPED}{_ENTROPY}",
    ),
    _entry("a softplus of hidden units", _RBM, f"i = Softplus(g) j = ReduceSum(i, axis) {_ENERGY}"),
    _entry("an epsilon under the root", _SCORES, f"{_SOFTMAX}i = Add(p, micro) r = Sqrt(i) {_GRADIENT}"),
    _entry(
        "an epsilon beside each sum and gain",
        _STOCHASTIC,
        "f = Add(b, micro) z = Div(c, f) i = Abs(gain) d = Add(i, some) u = Mul(z, d) s = Div(f, d) " + _CLIPPED_SUM,
    ),
    _entry("a variance clipped higher", _autoencoder("least"), f"{_SIGMOID}g = Div(half, root) {_OF_CLIPPED}"),
)
ENTRIES: tuple[Entry, ...] = (*_DEFECTS, *_GUARDED)
