"""Small models whose divisors can be zero, each for another reason."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, numpy_helper, parser


def parsed(
    nodes: str,
    inputs: str = "float[3] x",
    outputs: str = "float y",
    constants: str = "",
    opset: int = 17,
    *,
    domain: str = "own",
) -> ModelProto:
    """Return a model from the text of its nodes; the shapes of its outputs are not declared."""
    imported = f'"" : {opset}, "{domain}" : 1'
    head = f"<ir_version: 8, opset_import: [{imported}]>"
    made = parser.parse_model(f"{head} graph ({inputs}) => ({outputs}) <{constants}> {{ {nodes} }}")
    for value in made.graph.output:
        value.type.tensor_type.ClearField("shape")
    return made


_COUNTED = """
    [keep] kept = Mul(x, mask) [total] total = ReduceSum <keepdims = 1> (kept, axes)
    [count] count = ReduceSum <keepdims = 1> (mask, axes)
"""
_MASKED = ("float[batch, 4] x, float[batch, 4] mask", "float mean")


def masked_mean() -> ModelProto:
    """Return a mean over a mask that may be empty."""
    return parsed(f"{_COUNTED} [mean] mean = Div(total, count)", *_MASKED, "int64[1] axes = {1}")


def guarded_mean() -> ModelProto:
    """Return the same with a guard: a control."""
    nodes = f"{_COUNTED} [guard] guarded = Max(count, one) [mean] mean = Div(total, guarded)"
    return parsed(nodes, *_MASKED, "int64[1] axes = {1}, float one = {1}")


def shifted(shift: float) -> ModelProto:
    """Return 1 / (x - shift), elementwise."""
    nodes = "[subtract] difference = Sub(x, shift) [ratio] y = Div(one, difference)"
    return parsed(nodes, constants=f"float[1] shift = {{{shift!r}}}, float one = {{1}}")


def norm_of_embeddings() -> ModelProto:
    """Return x / norm(x) of pooled embeddings, as in CLIP: no token makes the norm zero, but an inner zero would."""
    nodes = """
        [embed] embedded = Gather(table, ids) [pool] pooled = ReduceSum <keepdims = 0> (embedded, axes)
        [project] projected = MatMul(pooled, weights) [norm] norm = ReduceL2 <axes = [-1], keepdims = 1> (projected)
        [normalise] unit = Div(projected, norm)
    """
    made = parsed(nodes, "int64[2, 5] ids", "float unit", "int64[1] axes = {1}")
    drawn = np.random.default_rng(0)
    for name, shape in (("table", (30, 8)), ("weights", (8, 8))):
        made.graph.initializer.append(numpy_helper.from_array(drawn.normal(size=shape).astype(np.float32), name))
    return made


def sizes() -> ModelProto:
    """Return 6 // (n - 3) of a dimension n."""
    nodes = """
        [shape] shape = Shape(x) [first] n = Gather(shape, zero) [less] less = Sub(n, three) [ratio] q = Div(six, less)
    """
    return parsed(nodes, "float[n, 4] x", "int64 q", "int64 zero = {0}, int64 three = {3}, int64 six = {6}")


def branches() -> ModelProto:
    """Return a / b in the branch of an If."""
    nodes = """
        [choose] y = If (wanted) <
            then_branch = then () => (float[3] quotient) { [inside] quotient = Div(a, b) },
            else_branch = other () => (float[3] same) { [same] same = Identity(a) }>
    """
    return parsed(nodes, "bool wanted, float[3] a, float[3] b")


def layer_norm(epsilon: float) -> ModelProto:
    """Return a LayerNormalization, which divides in the body that ONNX defines it by."""
    nodes = f"[norm] y = LayerNormalization <epsilon = {epsilon!r}> (x, scale)"
    return parsed(nodes, "float[2, 8] x", constants="float[8] scale = {1, 1, 1, 1, 1, 1, 1, 1}")
