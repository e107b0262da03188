"""How much processor time a check takes: linear in the nodes, and what one large initializer costs.

``python benchmarks/check.py`` prints a line for each size; ``--largest N`` stops before N nodes.
"""

from __future__ import annotations

import argparse
from time import process_time
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import vinculum

_SIZES = (1_000, 5_000, 20_000, 50_000, 100_000)
_WIDTH = 16


def transformer(nodes: int) -> ModelProto:
    """Return a model of about so many nodes: attention, normalisation and a gated product, again and again."""
    rng = np.random.default_rng(0)
    weights = numpy_helper.from_array(rng.normal(size=(_WIDTH, _WIDTH)).astype(np.float32), "w")
    constants = [
        weights,
        numpy_helper.from_array(np.ones(_WIDTH, np.float32), "ones"),
        numpy_helper.from_array(np.array(1e-5, np.float32), "eps"),
        numpy_helper.from_array(np.array([-1]), "axis"),
    ]
    made: list[NodeProto] = []
    last = "x"
    while len(made) < nodes:
        last = _layer(made, last)
    shape: list[str | int | None] = ["batch", "length", _WIDTH]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info(last, TensorProto.FLOAT, shape)]
    graph = helper.make_graph(made, "layers", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _layer(made: list[NodeProto], x: str) -> str:
    def add(operator: str, *operands: str, **attributes: Any) -> str:
        name = f"v{len(made)}"
        made.append(helper.make_node(operator, operands, [name], name, **attributes))
        return name

    query, key, value = (add("MatMul", x, "w") for _ in range(3))
    scores = add("MatMul", query, add("Transpose", key, perm=[0, 2, 1]))
    attended = add("MatMul", add("Softmax", scores, axis=-1), value)
    summed = add("LayerNormalization", add("Add", x, attended), "ones", axis=-1)
    square = add("ReduceMean", add("Mul", summed, summed), "axis", keepdims=1)
    inverse = add("Reciprocal", add("Sqrt", add("Add", square, "eps")))
    gated = add("Mul", add("Mul", summed, inverse), add("Sigmoid", add("MatMul", summed, "w")))
    return add("Add", gated, add("Div", summed, add("Add", add("Abs", summed), "eps")))


def one_large_initializer(gibibytes: float) -> ModelProto:
    """Return a product with one matrix of so many bytes."""
    columns = 4096
    rows = int(gibibytes * 2**30 / 4 / columns)
    matrix = np.random.default_rng(0).standard_normal((rows, columns), np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "large",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", rows])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", columns])],
        [numpy_helper.from_array(matrix, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def main() -> None:
    """Print how long each size takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=_SIZES[-1], metavar="N")
    parser.add_argument("--initializer", type=float, default=0.5, metavar="GIB")
    options = parser.parse_args()
    for size in _SIZES:
        if size <= options.largest:
            model = transformer(size)
            _timed(f"{len(model.graph.node):,} nodes", model, len(model.graph.node))
    _timed(f"one initializer of {options.initializer} GiB", one_large_initializer(options.initializer), 1)


def _timed(title: str, model: ModelProto, nodes: int) -> None:
    start = process_time()
    report = vinculum.check(model, assume=("x=-10:10",), runs=0)
    seconds = process_time() - start
    print(f"{title}: {seconds:.2f} s, {nodes / seconds:,.0f} nodes/s, {len(report.findings)} findings", flush=True)


if __name__ == "__main__":
    main()
