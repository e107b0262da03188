"""Small models whose divisors can be zero, each by another way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

FLOAT, INT64, FLOAT16, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.FLOAT16, TensorProto.BOOL
Shape = Sequence[int | str]
node = helper.make_node


def model(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, tuple[int, Shape]],
    outputs: Mapping[str, int],
    constants: Mapping[str, Any] | None = None,
    opset: int = 17,
) -> ModelProto:
    """Return a model."""
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [helper.make_tensor_value_info(name, *declared) for name, declared in inputs.items()],
        [helper.make_tensor_value_info(name, code, None) for name, code in outputs.items()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def masked_mean() -> ModelProto:
    """Return a mean over a mask that may be empty."""
    nodes = [
        node("Mul", ["x", "mask"], ["kept"], "keep"),
        node("ReduceSum", ["kept", "axes"], ["total"], "total", keepdims=1),
        node("ReduceSum", ["mask", "axes"], ["count"], "count", keepdims=1),
        node("Div", ["total", "count"], ["mean"], "mean"),
    ]
    inputs = {"x": (FLOAT, ("batch", 4)), "mask": (FLOAT, ("batch", 4))}
    return model(nodes, inputs, {"mean": FLOAT}, {"axes": np.array([1])})


def guarded_mean() -> ModelProto:
    """Return the same with a guard: a control."""
    made = masked_mean()
    del made.graph.node[3]
    made.graph.node.append(node("Max", ["count", "one"], ["guarded"], "guard"))
    made.graph.node.append(node("Div", ["total", "guarded"], ["mean"], "mean"))
    made.graph.initializer.append(numpy_helper.from_array(np.array(1, np.float32), "one"))
    return made


def shifted(shift: float, low: str = "x") -> ModelProto:
    """Return 1 / (x - shift), elementwise."""
    nodes = [
        node("Sub", [low, "shift"], ["difference"], "subtract"),
        node("Div", ["one", "difference"], ["y"], "ratio"),
    ]
    constants = {"shift": np.array([shift], np.float32), "one": np.array(1, np.float32)}
    return model(nodes, {"x": (FLOAT, (3,))}, {"y": FLOAT}, constants)


def norm_of_embeddings() -> ModelProto:
    """Return x / norm(x) of pooled embeddings, as CLIP has it: no token makes it zero, a zero inside would."""
    drawn = np.random.default_rng(0)
    table, weights = drawn.normal(size=(30, 8)), drawn.normal(size=(8, 8))
    nodes = [
        node("Gather", ["table", "ids"], ["embedded"], "embed"),
        node("ReduceSum", ["embedded", "axes"], ["pooled"], "pool", keepdims=0),
        node("MatMul", ["pooled", "weights"], ["projected"], "project"),
        node("ReduceL2", ["projected"], ["norm"], "norm", axes=[-1], keepdims=1),
        node("Div", ["projected", "norm"], ["unit"], "normalise"),
    ]
    constants = {"table": table.astype(np.float32), "weights": weights.astype(np.float32), "axes": np.array([1])}
    return model(nodes, {"ids": (INT64, (2, 5))}, {"unit": FLOAT}, constants)


def sizes() -> ModelProto:
    """Return 6 // (n - 3) of a dimension n."""
    nodes = [
        node("Shape", ["x"], ["shape"], "shape"),
        node("Gather", ["shape", "zero"], ["n"], "first"),
        node("Sub", ["n", "three"], ["less"], "less"),
        node("Div", ["six", "less"], ["q"], "ratio"),
    ]
    constants: dict[str, NDArray[Any]] = {"zero": np.array(0), "three": np.array(3), "six": np.array(6)}
    return model(nodes, {"x": (FLOAT, ("n", 4))}, {"q": INT64}, constants)


def branches() -> ModelProto:
    """Return a / b in the branch of an If."""
    division = node("Div", ["a", "b"], ["quotient"], "inside")
    then = helper.make_graph([division], "then", [], [helper.make_tensor_value_info("quotient", FLOAT, None)])
    same = node("Identity", ["a"], ["same"], "same")
    other = helper.make_graph([same], "else", [], [helper.make_tensor_value_info("same", FLOAT, None)])
    choice = node("If", ["wanted"], ["y"], "choose", then_branch=then, else_branch=other)
    inputs = {"wanted": (BOOL, ()), "a": (FLOAT, (3,)), "b": (FLOAT, (3,))}
    return model([choice], inputs, {"y": FLOAT})


def layer_norm(epsilon: float) -> ModelProto:
    """Return a LayerNormalization, which divides in the body that ONNX defines it by."""
    nodes = [node("LayerNormalization", ["x", "scale"], ["y"], "norm", epsilon=epsilon)]
    return model(nodes, {"x": (FLOAT, (2, 8))}, {"y": FLOAT}, {"scale": np.ones(8, np.float32)})
