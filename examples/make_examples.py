"""Write every example of this folder again, then check it: ``python examples/make_examples.py``.

Needs torch, onnxscript, onnx, onnxruntime and openvino. Inputs and weights are the same at every run; the
models are what the installed exporters make of the code below. README.md names the versions that made the
files beside this one.
"""

from __future__ import annotations

import logging
import shutil
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import openvino
import torch
from google.protobuf.message import Message
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from openvino import opset13
from openvino.utils.node_factory import NodeFactory
from torch import Tensor, nn
from torch.export import Dim

HERE = Path(__file__).resolve().parent
BATCH, LENGTH = Dim("batch"), Dim("length")

Array = np.ndarray[Any, np.dtype[Any]]


def generator(seed: int) -> np.random.Generator:
    """Return the random numbers of one example, the same at every run."""
    return np.random.default_rng(seed)


# --- The PyTorch modules --------------------------------------------------------------------------------


class LayerNorm(nn.Module):
    """Layer normalisation written out: (x - mean) / sqrt(variance + epsilon), then scale and shift."""

    def __init__(self, features: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, features))
        self.bias = nn.Parameter(torch.linspace(-0.25, 0.25, features))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        """Return x normalised over its last dimension."""
        deviation = x - x.mean(-1, keepdim=True)
        variance = (deviation * deviation).mean(-1, keepdim=True)
        return deviation / torch.sqrt(variance + self.epsilon) * self.weight + self.bias


class RMSNorm(nn.Module):
    """Root-mean-square normalisation; ``rsqrt`` leaves the exporter as Sqrt and Reciprocal."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, features))

    def forward(self, x: Tensor) -> Tensor:
        """Return x divided by the root mean square of its last dimension."""
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Attention(nn.Module):
    """Masked multi-head self-attention: scores divided by sqrt(d), softmax as a quotient of sums."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return what each word gathers from the words that the mask does not hide."""
        batch, length, width = x.shape
        depth = width // self.heads

        def split(projected: Tensor) -> Tensor:
            return projected.reshape(batch, length, self.heads, depth).transpose(1, 2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = query @ key.transpose(-1, -2) / torch.sqrt(torch.tensor(depth, dtype=x.dtype))
        scores = scores.masked_fill(mask[:, None, None, :], -1e9)
        exponentials = torch.exp(scores - scores.amax(-1, keepdim=True))
        weights = exponentials / exponentials.sum(-1, keepdim=True)
        return (weights @ value).transpose(1, 2).reshape(batch, length, width)


class Windows(nn.Module):
    """The means of the complete windows of four samples: length // 4 of them."""

    def forward(self, signal: Tensor) -> Tensor:
        """Return one mean for each complete window; samples left over are dropped."""
        batch, length = signal.shape
        count = length // 4
        return signal[:, : count * 4].reshape(batch, count, 4).mean(-1)


class FloorDivide(nn.Module):
    """The three ways PyTorch writes an integer quotient."""

    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return a over b rounded down, toward zero, and down again."""
        return (
            torch.div(a, b, rounding_mode="floor"),
            torch.div(a, b, rounding_mode="trunc"),
            torch.floor_divide(a, b),
        )


class MaskedMean(nn.Module):
    """The mean of the chosen elements, and 0 if none is chosen; the division stands in a branch of an If."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return total over count, or 0."""
        total, count = (x * mask).sum(), mask.sum()

        def quotient(total: Tensor, count: Tensor) -> Tensor:
            return total / count

        def zero(total: Tensor, count: Tensor) -> Tensor:
            return torch.zeros_like(total)

        mean: Tensor = torch.cond(count > 0, quotient, zero, (total, count))
        return mean


# --- Writing --------------------------------------------------------------------------------------------


def fresh_folder(name: str) -> Path:
    """Return an empty folder for one example."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def strip_notes(message: Message) -> None:
    """Remove what exporters note for debugging: stack traces hold the paths of the machine that exported."""
    for field, value in message.ListFields():
        if field.name in ("metadata_props", "doc_string"):
            message.ClearField(field.name)
        elif field.message_type is not None:
            for part in [value] if isinstance(value, Message) else value:
                strip_notes(part)


def export_torch(
    module: nn.Module,
    inputs: Mapping[str, Array],
    outputs: Sequence[str],
    dimensions: Mapping[str, Mapping[int, Any]],
) -> onnx.ModelProto:
    """Return a module as ``torch.onnx.export`` writes it at opset 18, named dimensions symbolic."""
    program = torch.onnx.export(
        module.eval(),
        tuple(torch.from_numpy(x) for x in inputs.values()),
        input_names=list(inputs),
        output_names=list(outputs),
        dynamic_shapes=tuple(dict(dimensions.get(name, {})) for name in inputs),
        opset_version=18,
        dynamo=True,
        verbose=False,
    )
    assert program is not None
    model: onnx.ModelProto = program.model_proto
    strip_notes(model)
    return model


def save_tensor(path: Path, x: Array) -> None:
    """Write one array as a serialised ONNX TensorProto."""
    path.write_bytes(numpy_helper.from_array(x, path.stem).SerializeToString())


def save_ir(divide: openvino.Node, parameters: Sequence[openvino.Node], output: str, path: Path) -> None:
    """Write a graph as OpenVINO IR, every name given: the names that OpenVINO invents are counters."""
    divide.output(0).get_tensor().set_names({output})
    result = opset13.result(divide, name=f"{output}/result")
    model = openvino.Model([result], list(parameters), path.stem)
    openvino.save_model(model, path, compress_to_fp16=False)


# --- The examples ---------------------------------------------------------------------------------------


def layer_norm() -> None:
    """Write a float division by a column, at a symbolic batch."""
    folder = fresh_folder("layer_norm")
    x = generator(1).normal(size=(3, 4, 16)).astype(np.float32)
    onnx.save(export_torch(LayerNorm(16, 1e-5), {"x": x}, ["y"], {"x": {0: BATCH}}), folder / "model.onnx")
    np.save(folder / "x.npy", x)


def layer_norm_float16() -> None:
    """Write a LayerNorm with the epsilon of BERT, 1e-12: 0 in float16, so a constant row divides 0 by 0."""
    folder = fresh_folder("layer_norm_float16")
    x = generator(2).normal(size=(4, 16)).astype(np.float16)
    x[1] = 0.5  # no deviation at all: 0/0
    x[2] = np.linspace(-1e-4, 1e-4, 16)  # the squares underflow to 0: x/0
    x[3] *= np.float16(0.0015)  # the variance is subnormal
    model = export_torch(LayerNorm(16, 1e-12).half(), {"x": x}, ["y"], {"x": {0: BATCH}})
    onnx.save(model, folder / "model.onnx")
    np.save(folder / "x.npy", x)


def rms_norm() -> None:
    """Write a Reciprocal, with the weights in a file of their own."""
    folder = fresh_folder("rms_norm")
    x = generator(3).normal(size=(2, 5, 64)).astype(np.float32)
    model = export_torch(RMSNorm(64), {"x": x}, ["y"], {"x": {0: BATCH, 1: LENGTH}})
    weights = folder / "weights.data"
    onnx.save(model, folder / "model.onnx", save_as_external_data=True, location=weights.name, size_threshold=128)
    weights.chmod(0o644)  # onnx makes it readable by its owner alone
    np.save(folder / "x.npy", x)


def attention() -> None:
    """Write divisions by the square root of 6, which no float holds, and by the sums of a softmax."""
    folder = fresh_folder("attention")
    torch.manual_seed(4)
    inputs = {
        "x": generator(4).normal(size=(2, 5, 12)).astype(np.float32),
        "mask": np.arange(5) >= np.array([[5], [3]]),  # the second sentence is two words shorter
    }
    dimensions = {name: {0: BATCH, 1: LENGTH} for name in inputs}
    onnx.save(export_torch(Attention(12, 2), inputs, ["y"], dimensions), folder / "model.onnx")
    np.savez(folder / "inputs.npz", allow_pickle=False, **inputs)


def windows() -> None:
    """Write shape arithmetic: an int64 quotient that becomes a length."""
    folder = fresh_folder("windows")
    signal = generator(5).normal(size=(2, 22)).astype(np.float32)
    model = export_torch(Windows(), {"signal": signal}, ["means"], {"signal": {0: BATCH, 1: LENGTH}})
    onnx.save(model, folder / "model.onnx")
    np.save(folder / "signal.npy", signal)


def floor_divide() -> None:
    """Write one module by both exporters of PyTorch, which divide differently."""
    folder = fresh_folder("floor_divide")
    inputs = {
        # The last dividend, 3 * 2**24 - 1, is rounded up by float32, through which an exporter sends it.
        "a": np.array([7, -7, 7, -7, -1, 0, 165, 3 * 2**24 - 1], dtype=np.int64),
        "b": np.array([2, 2, -2, -2, 4, -3, 15, 3], dtype=np.int64),
    }
    outputs = ["floor", "trunc", "floor_divide"]
    dimensions = {name: {0: LENGTH} for name in inputs}
    onnx.save(export_torch(FloorDivide(), inputs, outputs, dimensions), folder / "model.onnx")
    torch.onnx.export(
        FloorDivide(),
        tuple(torch.from_numpy(x) for x in inputs.values()),
        folder / "torchscript.onnx",
        input_names=list(inputs),
        output_names=outputs,
        dynamic_axes={name: {0: "length"} for name in (*inputs, *outputs)},
        opset_version=12,
        dynamo=False,
    )
    model = onnx.load(folder / "torchscript.onnx")
    strip_notes(model)
    onnx.save(model, folder / "torchscript.onnx")
    np.savez(folder / "inputs.npz", allow_pickle=False, **inputs)


def masked_mean() -> None:
    """Write a division in a branch of an If, with one mask that takes the branch and one that does not."""
    folder = fresh_folder("masked_mean")
    x = generator(6).normal(size=(3, 6)).astype(np.float32)
    mask = (x > 0).astype(np.float32)
    dimensions = {name: {0: BATCH} for name in ("x", "mask")}
    onnx.save(export_torch(MaskedMean(), {"x": x, "mask": mask}, ["mean"], dimensions), folder / "model.onnx")
    for name, array in (("x", x), ("mask", mask), ("empty_mask", np.zeros_like(mask))):
        np.save(folder / f"{name}.npy", array)


def newton_sqrt() -> None:
    """Write Heron's square root: divisions in a model-local function that the body of a Loop calls."""
    folder = fresh_folder("newton_sqrt")
    model = onnx.parser.parse_model("""
        <ir_version: 8, producer_name: "onnx.parser", opset_import: ["": 17, "heron": 1]>
        newton_sqrt (double[N] x, int64 steps) => (double[N] root) {
            go = Constant <value = bool {1}> ()
            root = Loop (steps, go, x) <
                body = step (int64 i, bool go_in, double[N] y) => (bool go_out, double[N] next) {
                go_out = Identity (go_in)
                next = heron.step (x, y)
            }>
        }
        <domain: "heron", opset_import: ["": 17]>
        step (x, y) => (next) {
            quotient = Div (x, y)
            sum = Add (y, quotient)
            two = Constant <value = double {2.0}> ()
            next = Div (sum, two)
        }
    """)
    onnx.save(model, folder / "model.onnx")
    np.save(folder / "x.npy", np.array([0.25, 1.0, 2.0, 10.0, 12345.678]))
    save_tensor(folder / "steps.pb", np.array(12, dtype=np.int64))


def div_6_axis() -> None:
    """Write the document's own shapes, (2, 3, 4, 5) by (3, 4) from axis 1, at opset 6."""
    folder = fresh_folder("div_6_axis")
    a_shape, b_shape = (2, 3, 4, 5), (3, 4)
    graph = helper.make_graph(
        [helper.make_node("Div", ["A", "B"], ["C"], broadcast=1, axis=1)],
        "div_6_axis",
        [
            helper.make_tensor_value_info("A", TensorProto.FLOAT, a_shape),
            helper.make_tensor_value_info("B", TensorProto.FLOAT, b_shape),
        ],
        [helper.make_tensor_value_info("C", TensorProto.FLOAT, a_shape)],
    )
    operator_set = helper.make_opsetid("", 6)
    model = helper.make_model(graph, ir_version=3, producer_name="onnx.helper", opset_imports=[operator_set])
    onnx.save(model, folder / "model.onnx")
    save_tensor(folder / "A.pb", generator(7).normal(size=a_shape).astype(np.float32))
    save_tensor(folder / "B.pb", generator(8).normal(size=b_shape).astype(np.float32))


def openvino_image() -> None:
    """Write bytes of an image divided by each channel's deviation, a constant held in float16."""
    folder = fresh_folder("openvino_image")
    image = opset13.parameter([-1, 3, 4, 4], np.uint8, name="image")
    deviation = opset13.constant(np.array([58.4, 57.1, 57.4], np.float16).reshape(3, 1, 1), name="deviation")
    divide = opset13.divide(
        opset13.convert(image, "f32", name="image/f32"),
        opset13.convert(deviation, "f32", name="deviation/f32"),
        name="scaled",
    )
    save_ir(divide, [image], "scaled", folder / "model.xml")
    np.save(folder / "image.npy", generator(9).integers(0, 256, (1, 3, 4, 4), dtype=np.uint8))


def openvino_rounding() -> None:
    """Write one integer quotient three times: in ONNX, as OpenVINO converts that, and as it should be."""
    folder = fresh_folder("openvino_rounding")
    model = onnx.parser.parse_model("""
        <ir_version: 8, producer_name: "onnx.parser", opset_import: ["": 14]>
        div (int32[N, 3] a, int32[3] b) => (int32[N, 3] quotient) { quotient = Div (a, b) }
    """)
    onnx.save(model, folder / "div.onnx")
    openvino.save_model(openvino.convert_model(folder / "div.onnx"), folder / "converted.xml", compress_to_fp16=False)
    a = opset13.parameter([-1, 3], np.int32, name="a")
    b = opset13.parameter([3], np.int32, name="b")
    attributes = {"auto_broadcast": "NUMPY", "m_pythondiv": False}
    truncating = NodeFactory("opset1").create("Divide", [a.output(0), b.output(0)], attributes)
    truncating.set_friendly_name("quotient")
    save_ir(truncating, [a, b], "quotient", folder / "truncating.xml")
    np.save(folder / "a.npy", np.array([[7, -7, 7], [-11, 11, -1], [6, -6, 165]], np.int32))
    np.save(folder / "b.npy", np.array([2, 3, -4], np.int32))


# --- Checking -------------------------------------------------------------------------------------------


def read_inputs(folder: Path, names: Sequence[str]) -> dict[str, Array]:
    """Return the arrays of a folder that are named as an input is."""
    found: dict[str, Array] = {}
    for path in folder.iterdir():
        if path.suffix == ".npy":
            found[path.stem] = np.load(path)
        elif path.suffix == ".npz":
            found |= dict(np.load(path))
        elif path.suffix == ".pb":
            found[path.stem] = numpy_helper.to_array(onnx.load_tensor(path))
    return {name: found[name] for name in names}


def check_onnx(path: Path) -> str:
    """Return what ran: the checker, and from opset 7 on the reference evaluator and ONNX Runtime."""
    onnx.checker.check_model(path, full_check=True)
    model = onnx.load(path)
    if min(operator_set.version for operator_set in model.opset_import if not operator_set.domain) < 7:
        return "onnx.checker (neither runtime knows the axis of Div-6)"
    inputs = read_inputs(path.parent, [i.name for i in model.graph.input])
    expected = ReferenceEvaluator(str(path)).run(None, inputs)
    actual = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, inputs)
    if any(x.dtype == np.float16 for x in actual):
        return "onnx.checker; ReferenceEvaluator; ONNX Runtime, not compared: it computes float16 in float32"
    for x, y in zip(expected, actual, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)
    return "onnx.checker; ReferenceEvaluator and ONNX Runtime agree"


def check_ir(path: Path) -> str:
    """Return what ran: OpenVINO on the CPU, whose quotients are not compared: they are not exact."""
    compiled = openvino.compile_model(path, "CPU")
    compiled(read_inputs(path.parent, [i.any_name for i in compiled.inputs]))
    return "OpenVINO"


def check_no_path(path: Path) -> None:
    """Refuse a file that names a folder of this machine."""
    content = path.read_bytes()
    for folder in (HERE.parent, Path(sys.base_prefix), Path(torch.__file__).parents[1]):
        assert str(folder).encode() not in content, f"{path.name} holds the path {folder}"


def main() -> None:
    """Write the examples, then check each."""
    logging.disable(logging.WARNING)  # the exporters report that torchvision is absent
    warnings.simplefilter("ignore")  # they warn of their own insides; the evaluator, of the zero divisors
    for write in (
        layer_norm, layer_norm_float16, rms_norm, attention, windows, floor_divide, masked_mean, newton_sqrt,
        div_6_axis, openvino_image, openvino_rounding,
    ):  # fmt: skip
        write()
    for path in sorted(p for p in HERE.glob("*/*") if p.is_file()):
        check_no_path(path)
        if path.suffix in (".onnx", ".xml"):
            ran = check_onnx(path) if path.suffix == ".onnx" else check_ir(path)
            print(f"{path.relative_to(HERE)}: {ran}")


if __name__ == "__main__":
    main()
