"""Measure what exact divisions cost a whole model: the engine `onnxruntime` against plain ONNX Runtime.

The model is a transformer of twelve layers as exporters write them, every operator decomposed. In each layer are an
attention whose scores Div scales, two LayerNorms and a GELU with a Div each: 48 divisions, each waiting for the one
before. Plain ONNX Runtime fuses LayerNorm and GELU into operators of its own.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import onnxruntime
import typer
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

import vinculum

TARGET = 1.05


class Graph:
    """Nodes and weights, added one by one."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._rng = np.random.default_rng(0)

    def node(self, operator: str, *operands: str | NDArray[Any] | np.float32, **attributes: Any) -> str:
        """Add a node, arrays among its operands as initializers; return its result's name."""
        names = [operand if isinstance(operand, str) else self._weight(operand) for operand in operands]
        result = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, names, [result], result, **attributes))
        return result

    def _weight(self, array: NDArray[Any] | np.float32) -> str:
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def linear(self, x: str, rows: int, columns: int) -> str:
        """Add a matrix product and a bias."""
        weight = self._rng.standard_normal((rows, columns), np.float32) / np.float32(rows**0.5)
        return self.node("Add", self.node("MatMul", x, weight), np.zeros(columns, np.float32))

    def layer_norm(self, x: str, hidden: int) -> str:
        """Add a LayerNorm as PyTorch's older exporter decomposes it."""
        centred = self.node("Sub", x, self.node("ReduceMean", x, axes=[-1]))
        variance = self.node("ReduceMean", self.node("Pow", centred, np.float32(2)), axes=[-1])
        deviation = self.node("Sqrt", self.node("Add", variance, np.float32(1e-5)))
        scaled = self.node("Mul", self.node("Div", centred, deviation), np.ones(hidden, np.float32))
        return self.node("Add", scaled, np.zeros(hidden, np.float32))

    def attention(self, x: str, hidden: int, heads: int) -> str:
        """Add an attention whose scores are divided by the root of a head's size."""
        split = np.array([0, 0, heads, hidden // heads])
        query, key, value = (
            self.node("Transpose", self.node("Reshape", self.linear(x, hidden, hidden), split), perm=order)
            for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        )
        scores = self.node("Div", self.node("MatMul", query, key), np.float32((hidden // heads) ** 0.5))
        heads_out = self.node("MatMul", self.node("Softmax", scores, axis=-1), value)
        joined = self.node("Reshape", self.node("Transpose", heads_out, perm=[0, 2, 1, 3]), np.array([0, 0, hidden]))
        return self.linear(joined, hidden, hidden)

    def gelu(self, x: str) -> str:
        """Add x (1 + erf(x / sqrt 2)) / 2, its last factor written as a product."""
        erf = self.node("Erf", self.node("Div", x, np.float32(2**0.5)))
        return self.node("Mul", self.node("Mul", x, self.node("Add", erf, np.float32(1))), np.float32(0.5))


def transformer(layers: int, hidden: int, heads: int) -> ModelProto:
    """Return the model: input ``"x"`` and one output, both of shape (batch, length, hidden)."""
    graph = Graph()
    x = "x"
    for _ in range(layers):
        x = graph.layer_norm(graph.node("Add", graph.attention(x, hidden, heads), x), hidden)
        inner = graph.gelu(graph.linear(x, hidden, 4 * hidden))
        x = graph.layer_norm(graph.node("Add", graph.linear(inner, 4 * hidden, hidden), x), hidden)
    declared = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", "length", hidden]) for n in ("x", x))
    takes, gives = ([value] for value in declared)
    body = helper.make_graph(graph.nodes, "transformer", takes, gives, graph.weights)
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def timed(call: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    time.sleep(0.01)  # Threads of the call before must have stopped to spin.
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main(
    layers: Annotated[int, typer.Option(help="layers of the model")] = 12,
    hidden: Annotated[int, typer.Option(help="numbers in a token's vector")] = 768,
    heads: Annotated[int, typer.Option(help="heads of each attention")] = 12,
    length: Annotated[int, typer.Option(help="tokens in the input")] = 128,
    repeats: Annotated[int, typer.Option(help="runs of each engine, in turn; the median counts")] = 21,
) -> None:
    """Print the time of a run in ONNX Runtime and in our engine, and the median ratio of neighbouring runs."""
    x = np.random.default_rng(1).standard_normal((1, length, hidden), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "transformer.onnx")
        path.write_bytes(transformer(layers, hidden, heads).SerializeToString())
        model = vinculum.load(path)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def ours() -> NDArray[Any]:
        (output,) = model.run({"x": x}, engine="onnxruntime").values()
        return output

    difference = float(np.abs(ours() - session.run(None, {"x": x})[0]).max())
    pairs = [(timed(ours), timed(lambda: session.run(None, {"x": x}))) for _ in range(repeats)]
    print(f"{layers} layers, hidden {hidden}, {heads} heads, length {length}: {len(model.divisions)} divisions")
    print(f"largest difference of outputs {difference:.1e}")
    for name, times in zip(("engine onnxruntime", "plain ONNX Runtime"), zip(*pairs, strict=True), strict=True):
        print(f"{name}: median {1e3 * statistics.median(times):.1f} ms, fastest {1e3 * min(times):.1f} ms")
    ratio = statistics.median(mine / plain for mine, plain in pairs)
    print(f"median ratio {ratio:.2f} (target: at most {TARGET})")


if __name__ == "__main__":
    typer.run(main)
