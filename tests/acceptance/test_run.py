"""``vinculum run`` on every example of examples/README.md, compared with other computations, in each engine."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from tests.acceptance.conftest import Vinculum
from tests.fake_runtime import DiesOfIntegers, installed

Array = NDArray[Any]
Arrays = Mapping[str, Array]

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = re.findall(r"`vinculum (run examples/\S+\.onnx[^`]*)`", (EXAMPLES / "README.md").read_text(encoding="utf-8"))


def by_the_reference_evaluator(model: Path, inputs: Arrays) -> dict[str, Array]:
    """Return the outputs of ONNX's evaluator, whose float division is NumPy's."""
    evaluator = ReferenceEvaluator(str(model))
    with np.errstate(all="ignore"):
        return dict(zip(evaluator.output_names, evaluator.run(None, dict(inputs)), strict=True))


def rounded(a: Array, b: Array, rounding: Callable[[Fraction], int]) -> Array:
    pairs = np.broadcast_arrays(a, b)
    quotients = [rounding(Fraction(int(x), int(y))) for x, y in zip(*(p.flat for p in pairs), strict=True)]
    return np.array(quotients, a.dtype).reshape(pairs[0].shape)


# The newer exporter rounds float32 quotients, but for one of integers; of the older one `floor_divide` truncates.
# ONNX's evaluator computes the others.
EXPECTED: dict[str, Callable[[Arrays], dict[str, Array]]] = {
    "floor_divide/model.onnx": lambda x: {
        "floor": np.floor(x["a"].astype(np.float32) / x["b"].astype(np.float32)).astype(np.int64),
        "trunc": np.trunc(x["a"].astype(np.float32) / x["b"].astype(np.float32)).astype(np.int64),
        "floor_divide": rounded(x["a"], x["b"], math.floor),
    },
    "floor_divide/torchscript.onnx": lambda x: {
        "floor": rounded(x["a"], x["b"], math.floor),
        **dict.fromkeys(("trunc", "floor_divide"), rounded(x["a"], x["b"], math.trunc)),
    },
    "div_6_axis/model.onnx": lambda x: {"C": x["A"] / x["B"][None, :, :, None]},
    "openvino_rounding/div.onnx": lambda x: {"quotient": rounded(x["a"], x["b"], math.trunc)},
}

# Of each division node: the operator, its executions, quotients, zero divisors, infinite and NaN results.
DIVISIONS: dict[str, list[tuple[object, ...]]] = {
    "layer_norm/model.onnx": [("Div-14", 1, 192, 0, 0, 0)],
    "layer_norm_float16/model.onnx": [("Div-14", 1, 64, 32, 16, 16)],
    "div_6_axis/model.onnx": [("Div-6", 1, 120, 0, 0, 0)],
    "floor_divide/torchscript.onnx": [("Div-7", 1, 8, 0, 0, 0)] * 3,
    "newton_sqrt/model.onnx": [("Div-14", 12, 60, 0, 0, 0)] * 2,
}


def inputs_of(command: str) -> dict[str, Array]:
    """Return the inputs that a command of the README names, without our reader."""
    arrays: dict[str, Array] = {}
    for option in re.findall(r"--input (\S+)", command):
        name, _, place = option.partition("=")
        path, _, member = place.partition(":")
        file = EXAMPLES.parent / path
        if file.suffix == ".pb":
            arrays[name] = numpy_helper.to_array(onnx.TensorProto.FromString(file.read_bytes()))
        else:
            arrays[name] = np.load(file)[member] if member else np.load(file)
    return arrays


# The facts of a division that do not depend on the engine of the other operators.
MET = ("name", "path", "operator", "element_type", "shapes", "executions", "elements")


class TestEveryExample:
    """The commands of examples/README.md do what they promise, in our engine and with ONNX Runtime around it."""

    @pytest.mark.parametrize("command", COMMANDS)
    def test_outputs_equal_those_of_others(self, vinculum: Vinculum, tmp_path: Path, command: str) -> None:
        arguments = shlex.split(command)
        model = arguments[1].removeprefix("examples/")
        report = self.told(vinculum, *arguments, "--output", tmp_path / "out")
        inputs = inputs_of(command)
        expected = (
            EXPECTED[model](inputs) if model in EXPECTED else by_the_reference_evaluator(EXAMPLES / model, inputs)
        )
        assert [output["name"] for output in report["outputs"]] == list(expected)
        for output in report["outputs"]:
            written, wanted = np.load(output["file"]), expected[output["name"]]
            np.testing.assert_array_equal(written, wanted, strict=True)
            np.testing.assert_array_equal(np.signbit(written[wanted == 0]), np.signbit(wanted[wanted == 0]))
            assert output["shape"] == list(wanted.shape)
        names = ("operator", "executions", "elements", "zero_divisors", "infinite", "nan")
        met = [tuple(d[k] for k in names) for d in report["divisions"]]
        assert met == DIVISIONS.get(model, met)
        theirs = self.told(vinculum, *arguments, "--engine", "onnxruntime", "--output", tmp_path / "2")
        assert (report["engine"], theirs["engine"]) == ("reference", "onnxruntime")
        assert [[d[k] for k in MET] for d in theirs["divisions"]] == [[d[k] for k in MET] for d in report["divisions"]]
        for one, other in zip(theirs["outputs"], report["outputs"], strict=True):
            assert one["name"] == other["name"]
            np.testing.assert_array_equal(np.load(one["file"]), np.load(other["file"]), strict=True)

    def told(self, vinculum: Vinculum, *arguments: object) -> dict[str, Any]:
        """Return the JSON of a run; the fake runtime dies if it has to divide integers."""
        with installed(onnxruntime=DiesOfIntegers):
            done = vinculum(*arguments, "--json", folder=EXAMPLES.parent, code=0)
        read: dict[str, Any] = json.loads(done.stdout, parse_constant=pytest.fail)
        assert read["seconds"] > sum(division["seconds"] for division in read["divisions"]) >= 0
        return read

    def test_each_is_run(self) -> None:
        run = {command.split()[1].removeprefix("examples/") for command in COMMANDS}
        assert run == {file.relative_to(EXAMPLES).as_posix() for file in EXAMPLES.rglob("*.onnx")}


def test_twice_the_same_and_sizes_are_said(vinculum: Vinculum, examples: Path) -> None:
    command = ("run", examples / "attention" / "model.onnx", "--seed", 7, "--dim", "batch=2")
    first, second = vinculum(*command, "--json"), vinculum(*command)
    report = json.loads(first.stdout)
    x, mask = report["inputs"]
    assert (x["shape"], mask["shape"]) == ([2, 1, 12], [2, 1])
    assert (x["source"], x["file"], report["seed"]) == ("seed", None, 7)
    assert x["assumed"] == mask["assumed"] == {"length": 1}
    assert "assumed length = 1" in second.stdout
    shown = [str(np.float32(value)) for value in report["outputs"][0]["values"]]
    assert [value for value in shown if value not in second.stdout.split()] == []


@pytest.mark.parametrize("command", ["run", "trace"])
@pytest.mark.parametrize(
    ("dimension", "advice"),
    [("N", "; assumed N = 1: give others with --dim"), ("?", "; assumed ? = 1: give others with --input"), ("1", "")],
)
def test_assumed_sizes_on_which_a_model_does_not_run(
    vinculum: Vinculum, tmp_path: Path, command: str, dimension: str, advice: str
) -> None:
    graph = f"g (float[{dimension}] x) => (float[2, 2] y) <int64[2] s = {{2, 2}}> {{ [n] y = Reshape(x, s) }}"
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 18]> {graph}'), file)
    result = vinculum(command, file, "--seed", 0)
    assert result.returncode == 2
    assert "node 'n' (Reshape) cannot be run: " in result.stderr
    assert result.stderr.endswith(f"{advice}\n") if advice else "assumed" not in result.stderr


def test_the_policies(vinculum: Vinculum, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([[-(2**31), 7, 7]], np.int32))
    np.save(tmp_path / "b.npy", np.array([-1, 0, 2], np.int32))
    given = ("run", EXAMPLES / "openvino_rounding" / "div.onnx", "--input", "a=a.npy", "--input", "b=b.npy")
    policies = ("--zero-divisor", "saturate", "--overflow", "saturate")
    report = json.loads(vinculum(*given, *policies, "--json", folder=tmp_path, code=0).stdout)
    assert report["outputs"][0]["values"] == [2**31 - 1, 2**31 - 1, 3]
    assert report["divisions"][0]["zero_divisors"] == 1
    assert (report["zero_divisor"], report["overflow"]) == ("saturate", "saturate")
