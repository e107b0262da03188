"""IR files, which OpenVINO reads: their description, their results, and refusals."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import openvino
import openvino.opset13 as opset
import pytest

import vinculum
from tests.conformance.asking import same_bits, small
from tests.models.built_models import one_line
from vinculum.conformance.runtimes.models import openvino_ir
from vinculum.errors import DivisionByZeroError, ModelError
from vinculum.models import DivisionRecord, load
from vinculum.models.inner_divisions import what_openvino_divides
from vinculum.spec.element_types import ElementType
from vinculum.spec.openvino_divide import DIVIDE_1

RNG = np.random.default_rng(0)
File = Callable[..., Path]


def _divide(a: Any, b: Any, pythondiv: bool, auto_broadcast: str, axis: int | None = None) -> Any:
    attributes = {"m_pythondiv": pythondiv, "auto_broadcast": auto_broadcast}
    if axis is not None:
        attributes["auto_broadcast.auto_broadcast_axis"] = axis
    node = openvino.utils.node_factory.NodeFactory("opset13").create("Divide", [a, b], attributes)
    node.output(0).set_names({"quotient"})
    return node


class TestOtherLayers:
    """Convert, constants of four bits, dynamic shapes, and names."""

    def test_convert_before_and_after(self, saved: File) -> None:
        a = opset.parameter(openvino.PartialShape([openvino.Dimension(1, 8), -1]), np.float32, name="a")
        node = opset.convert(
            _divide(opset.convert(a, "bf16"), opset.constant(3, openvino.Type.bf16), True, "numpy"), "i8"
        )
        array = (RNG.random((3, 2), np.float32) - np.float32(0.5)) * np.float32(300)
        output = load(saved([node], [a])).run({"a": array})
        quotient = vinculum.divide(array.astype(ml_dtypes.bfloat16), np.array(3).astype(ml_dtypes.bfloat16))
        (result,) = output.values()
        assert result.tolist() == quotient.astype(np.float32).astype(np.int8).tolist()

    def test_one_that_divides_inside(self, saved: File) -> None:
        x = opset.parameter([2, 4], np.float32, name="x")
        soft = opset.softmax(x, 1)
        soft.set_friendly_name("soft")
        model = load(saved([opset.divide(soft, x)], [x]))
        assert [(node.name, node.operator) for node in model.inner_divisions] == [("soft", "Softmax")]
        assert len(model.divisions) == 1
        assert what_openvino_divides("Add") is None


@pytest.mark.parametrize("dynamic", [True, False])
@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize(
    ("mode", "axis", "a", "b"),
    [
        ("none", None, (2, 3, 4), (2, 3, 4)),
        ("numpy", None, (2, 3, 4), (3, 1)),
        ("numpy", None, (3, 1), (2, 1, 4)),
        ("pdpd", -1, (2, 3, 4), (3, 4)),
        ("pdpd", 1, (2, 3, 4), (3, 4)),
        ("pdpd", 2, (2, 3, 4), (4,)),
        ("pdpd", 0, (2, 3, 4), (2, 3)),
        ("pdpd", 0, (2, 3, 4), (2, 1, 1)),
    ],
)
def test_broadcasting_modes_divides_as_our_own(
    saved: File, mode: str, axis: int | None, a: tuple[int, ...], b: tuple[int, ...], dtype: Any, dynamic: bool
) -> None:
    """All three kinds of auto_broadcast, of several types and of open dimensions, as OpenVINO writes them."""
    parameters = [
        opset.parameter([-1] * len(shape) if dynamic else shape, dtype, name=name)
        for name, shape in (("a", a), ("b", b))
    ]
    path = saved([_divide(parameters[0], parameters[1], True, mode, axis)], parameters)
    inputs = {name: RNG.integers(1, 100, shape).astype(dtype) for name, shape in (("a", a), ("b", b))}
    if np.dtype(dtype).kind != "u":
        inputs["a"] = np.negative(inputs["a"])
    expected = vinculum.divide(*inputs.values(), auto_broadcast=mode, axis=-1 if axis is None else axis)
    assert f'auto_broadcast="{mode}"' in path.read_text()
    assert load(path).run(inputs)["quotient"].tobytes() == expected.tobytes()


X = (
    '<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="i32" shape="?"/>'
    '<output><port id="0" precision="I32"><dim>-1</dim></port></output></layer>'
)
W = (
    '<layer id="1" name="w" type="Const" version="opset1"><data element_type="i32" shape="2" offset="0" size="8"/>'
    '<output><port id="0" precision="I32"><dim>2</dim></port></output></layer>'
)
D = (
    '<layer id="2" name="d" type="Divide" version="opset1"><data auto_broadcast="numpy" m_pythondiv="true"/>'
    '<input><port id="0"><dim>-1</dim></port><port id="1"><dim>2</dim></port></input>'
    '<output><port id="2" precision="I32" names="q"><dim>2</dim></port></output></layer>'
)
R = '<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"><dim>2</dim></port></input></layer>'
DATA = np.array([3, -4], np.int32).tobytes()


def _edge(start: str, end: str) -> str:
    (from_layer, from_port), (to_layer, to_port) = start.split("."), end.split(".")
    return f'<edge from-layer="{from_layer}" from-port="{from_port}" to-layer="{to_layer}" to-port="{to_port}"/>'


EDGES = _edge("0.0", "2.0") + _edge("1.0", "2.1") + _edge("2.2", "3.0")
WHOLE = X + W + D + R


@pytest.fixture
def ir_file(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes an IR file of layers and edges, given as XML, and its data."""

    def save(layers: str = WHOLE, edges: str = EDGES, data: bytes | None = DATA, version: str = "11") -> Path:
        path = tmp_path / "model.xml"
        body = f"<layers>{layers}</layers><edges>{edges}</edges>"
        path.write_text(f'<?xml version="1.0"?><net name="m" version="{version}">{body}</net>')
        if data is not None:
            path.with_suffix(".bin").write_bytes(data)
        return path

    return save


@pytest.mark.parametrize("constant", [False, True], ids=["run-time", "constant"])
@pytest.mark.parametrize("element_type", DIVIDE_1.element_types, ids=str)
def test_element_types_quotients(tmp_path: Path, element_type: ElementType, constant: bool) -> None:
    """Operands as Parameters or as Const layers."""
    asked = small(DIVIDE_1, element_type, constant)
    xml, data = openvino_ir(asked)
    path = tmp_path / "division.xml"
    path.write_bytes(xml)
    path.with_suffix(".bin").write_bytes(data)
    (quotient,) = load(path).run(asked.inputs).values()
    assert same_bits(quotient, vinculum.divide(*asked.operands))


class TestRun:
    """Versions 10 and 11, policies, observers, bounds, and the engines."""

    @pytest.mark.parametrize("version", ["10", "11"])
    @pytest.mark.parametrize(("flag", "expected"), [("true", [-4, 2]), ("false", [-3, 2])])
    def test_floor_and_truncating(self, ir_file: File, version: str, flag: str, expected: list[int]) -> None:
        layers = WHOLE.replace('pythondiv="true"', f'pythondiv="{flag}"')
        model = pickle.loads(pickle.dumps(load(ir_file(layers, version=version))))
        (output,) = model.run({"x": np.array([-11, -9], np.int32)}).values()
        assert output.tolist() == expected
        assert (model.inputs[0].name, model.inputs[0].shape, model.outputs[0].shape) == ("x", (None,), (2,))

    def test_policies_and_observer(self, ir_file: File) -> None:
        model = load(ir_file(data=np.array([0, -1], np.int32).tobytes()))
        records: list[DivisionRecord] = []
        array = np.array([5, -(2**31)], np.int32)
        output = model.run({"x": array}, zero_divisor="saturate", overflow="saturate", observer=records.append)["q"]
        assert output.tolist() == [2**31 - 1, 2**31 - 1]
        assert [record.division for record in records] == list(model.divisions)
        with pytest.raises(DivisionByZeroError, match=r"^node 'd' \(Divide-1\): ") as caught:
            model.run({"x": array}, engine="openvino")
        assert (caught.value.count, caught.value.first_index) == (1, (0,))

    def test_sizes_outside_a_range(self, saved: File) -> None:
        x = opset.parameter(openvino.PartialShape([openvino.Dimension(1, 3)]), np.int32, name="x")
        model = load(saved([opset.negative(x)], [x]))
        assert [output.tolist() for output in model.run({"x": np.ones(3, np.int32)}).values()] == [[-1] * 3]
        for size in (0, 4):
            with one_line(ModelError, "cannot be run by OpenVINO", "1..3"):
                model.run({"x": np.ones(size, np.int32)})

    def test_onnxruntime(self, ir_file: File) -> None:
        with one_line(ModelError, "the engine 'onnxruntime' runs ONNX models only", "'reference' or 'openvino'"):
            load(ir_file()).run({"x": np.ones(2, np.int32)}, engine="onnxruntime")


class TestNames:
    """An output has its tensor's name, or that of its Result layer if the tensor has no unique name."""

    @pytest.mark.parametrize(
        ("old", "new", "expected"), [("", "", "q"), (' names="q"', "", "r"), ('"q"', r'"a\,b"', "a,b")]
    )
    def test_one(self, ir_file: File, old: str, new: str, expected: str) -> None:
        assert [tensor.name for tensor in load(ir_file(WHOLE.replace(old, new))).outputs] == [expected]

    def test_one_tensor_of_two_results(self, ir_file: File) -> None:
        second = R.replace('id="3" name="r"', 'id="4" name="s"')
        model = load(ir_file(WHOLE + second, EDGES + _edge("2.2", "4.0")))
        assert [tensor.name for tensor in model.outputs] == ["r", "s"]


class TestRefused:
    """Bad input gives an error of one line, also if OpenVINO's process ends."""

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ('auto_broadcast="numpy"', 'auto_broadcast="sideways"'),
            ('type="Divide"', 'type="Unheard"'),
            ('offset="0"', 'offset="4"'),
            ('offset="0"', f'offset="{2**62}"'),
            ('shape="2"', f'shape="{2**62},{2**62}"'),
            ('from-layer="1"', 'from-layer="7"'),
            ("</net>", ""),
        ],
    )
    def test_a_damaged_file(self, ir_file: File, old: str, new: str) -> None:
        path = ir_file()
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        with one_line(ModelError, str(path)):
            load(path).prepare()

    def test_entities_are_not_read(self, ir_file: File, tmp_path: Path) -> None:
        path = ir_file()
        (tmp_path / "secret.txt").write_text("secret")
        entity = f'<!DOCTYPE net [<!ENTITY named SYSTEM "{(tmp_path / "secret.txt").as_uri()}">]>'
        path.write_text(entity + path.read_text().partition("?>")[2].replace('name="x"', 'name="&named;"'))
        assert [tensor.name for tensor in load(path).inputs] == ["&named;"]

    def test_nothing_in_it(self, ir_file: File) -> None:
        with one_line(ModelError, "the IR has no Result layer, so it has no outputs"):
            load(ir_file("", ""))

    def test_no_data_file(self, ir_file: File) -> None:
        with one_line(ModelError, "model.xml"):
            load(ir_file(data=None))

    def test_two_inputs_of_one_name(self, ir_file: File) -> None:
        layers = X + X.replace('id="0" name', 'id="9" name') + R + R.replace('id="3"', 'id="4"')
        with one_line(ModelError, "two Parameter layers are called 'x'"):
            load(ir_file(layers, _edge("0.0", "3.0") + _edge("9.0", "4.0")))
