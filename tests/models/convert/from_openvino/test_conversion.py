"""IR said as ONNX: both ends give the same bits, for every element type and every kind of broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto
from onnx.defs import onnx_opset_version

from tests.cases import case
from tests.models.built_models import read_whole
from tests.models.convert.ir_models import (
    DIVIDING,
    assert_same,
    divide_ir,
    onnx_model_of,
    openvino_model_of,
    pairs,
    write_ir,
)
from vinculum.errors import AttributeValueError, BroadcastError, DivisionByZeroError, IntegerOverflowError, ModelError
from vinculum.models import load
from vinculum.models.convert.change import OnnxConversion
from vinculum.models.convert.from_openvino.conversion import to_onnx
from vinculum.models.convert.to_openvino.conversion import to_openvino
from vinculum.models.convert.to_openvino.writer import OpenvinoWriter, Value
from vinculum.models.openvino_ir.types import TensorType
from vinculum.models.sampling.edge_values import edge_values
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT8E4M3FN,
    FLOAT8E5M2,
    FLOAT16,
    INT4,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT4,
    UINT8,
    UINT64,
    ElementType,
)
from vinculum.tensors.storage import dtype_of

OneLine = Callable[..., AbstractContextManager[None]]
NEWEST = onnx_opset_version()
FIRST = {BFLOAT16: 13, FLOAT8E4M3FN: 19, FLOAT8E5M2: 19, INT4: 21, UINT4: 21}
"""The operator sets in which Cast takes a type that not even the newest Div takes, or Div does."""


def _convert(path: Path, opset: int = NEWEST) -> OnnxConversion:
    return to_onnx(path.read_bytes(), path, opset)


def _ops(model: ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def _opsets(element_type: ElementType) -> list[int]:
    return [n for n in (6, 7, 12, 13, 14, 19, 21, NEWEST) if n >= FIRST.get(element_type, 6)]


class TestEveryElementType:
    """Divide keeps its quotients in every operator set that can say them, carried by another type if need be."""

    @pytest.mark.parametrize("element_type", DIVIDING)
    def test_every_pair(self, tmp_path: Path, element_type: ElementType) -> None:
        a, b = pairs(element_type)
        for opset, pythondiv in product(_opsets(element_type), ("true", "false")):
            with case(opset, f"{pythondiv=}"):
                shapes, how = ((a.shape, b.shape), "none") if opset < 7 else (((None,), (None,)), "numpy")
                path = divide_ir(tmp_path, element_type, *shapes, auto_broadcast=how, m_pythondiv=pythondiv)
                converted = onnx_model_of(_convert(path, opset).model, tmp_path)
                output = assert_same(load(path), converted, {"a": a, "b": b})["q"]
                assert output.size == a.size

    @pytest.mark.parametrize("element_type", DIVIDING)
    def test_policies_and_errors(self, tmp_path: Path, element_type: ElementType) -> None:
        path = divide_ir(tmp_path, element_type, (2,), (2,))
        converted = onnx_model_of(_convert(path).model, tmp_path)
        inputs = {
            name: np.array(values).astype(dtype_of(element_type)) for name, values in (("a", [1, 1]), ("b", [1, 0]))
        }
        if not element_type.is_integer:
            assert_same(load(path), converted, inputs, zero_divisor="raise")
            return
        with pytest.raises(DivisionByZeroError, match=r"Div-14"):
            converted.run(inputs)
        if element_type.bits > 4:
            assert_same(load(path), converted, inputs, zero_divisor="saturate")
        if element_type.minimum and element_type.bits > 4:
            inputs = {
                "a": np.array([element_type.minimum] * 2, element_type.numpy),
                "b": np.array([-1, 1], element_type.numpy),
            }
            assert_same(load(path), converted, inputs, overflow="saturate")
            with pytest.raises(IntegerOverflowError, match=r"Div-14"):
                converted.run(inputs, overflow="raise")

    def test_what_is_told(self, tmp_path: Path) -> None:
        conversion = _convert(divide_ir(tmp_path, INT8, (2,), (2,), m_pythondiv="true"), 13)
        assert [(change.node, change.what.split(",")[0], change.why) for change in conversion.changes] == [
            ("node 'ratio' (Divide-1)", "operands cast to int32", "Div-13 lacks int8, and the quotient is the same"),
            ("node 'ratio' (Divide-1)", "Div", "ONNX Div truncates"),
        ]

    @pytest.mark.parametrize("element_type", [UINT8, UINT64, FLOAT, FLOAT16, DOUBLE])
    def test_what_needs_no_correction(self, tmp_path: Path, element_type: ElementType) -> None:
        conversion = _convert(divide_ir(tmp_path, element_type, (2,), (2,), m_pythondiv="true"))
        assert (_ops(conversion.model), conversion.changes) == (["Div"], ())

    def test_truncation_needs_none_either(self, tmp_path: Path) -> None:
        conversion = _convert(divide_ir(tmp_path, INT16, (2,), (2,), m_pythondiv="false"))
        assert (_ops(conversion.model), conversion.changes) == (["Div"], ())


class TestBroadcasting:
    """none, numpy and pdpd: each lays the divisor where the layer does."""

    @pytest.mark.parametrize(
        ("b", "axis"),
        [
            ((3, 4), 1),
            ((3, 1), 1),
            ((4, 5), -1),
            ((4, 5), 2),
            ((5,), -1),
            ((5,), 3),
            ((1, 3), 0),
            ((2,), 0),
            ((2, 1, 1), 0),
            ((), -1),
            ((1, 1), 2),
            ((1, 1, 1, 1, 1), -1),
            ((5, 1, 1), 3),
            ((2, 3, 4, 5), -1),
        ],
    )
    def test_pdpd(self, tmp_path: Path, b: tuple[int, ...], axis: int) -> None:
        for opset, constant in product((6, 7, 13, NEWEST), (True, False)):
            with case(opset, f"{constant=}"):
                divisor = np.resize(edge_values(INT32), b)
                path = divide_ir(
                    tmp_path, INT32, (2, 3, 4, 5), divisor if constant else b, auto_broadcast="pdpd", axis=str(axis)
                )
                converted = onnx_model_of(_convert(path, opset).model, tmp_path)
                a = np.resize(edge_values(INT32)[::-1], (2, 3, 4, 5))
                inputs = {"a": a} if constant else {"a": a, "b": divisor}
                assert assert_same(load(path), converted, inputs)["q"].shape == (2, 3, 4, 5)

    @pytest.mark.parametrize("opset", [7, NEWEST])
    def test_pdpd_of_sizes_that_the_run_knows(self, tmp_path: Path, opset: int) -> None:
        path = divide_ir(tmp_path, INT32, (None,) * 3, (None, None), auto_broadcast="pdpd", axis="1")
        original, converted = load(path), onnx_model_of(_convert(path, opset).model, tmp_path)
        a = np.resize(edge_values(INT32), (2, 3, 4))
        for shape in ((3, 4), (3, 1), (1, 1)):
            assert_same(original, converted, {"a": a, "b": np.resize(edge_values(INT32), shape)})

    @pytest.mark.parametrize(("a", "b"), [((None, 3), (3,)), ((1, 3), (4, 1)), ((3,), (2, 1, 1)), ((), (2,))])
    @pytest.mark.parametrize("opset", [6, 7, NEWEST])
    def test_numpy(self, tmp_path: Path, a: tuple[int | None, ...], b: tuple[int, ...], opset: int) -> None:
        path = divide_ir(tmp_path, INT32, a, b, auto_broadcast="numpy")
        converted = onnx_model_of(_convert(path, opset).model, tmp_path)
        values = edge_values(INT32)
        inputs = {"a": np.resize(values, [size or 5 for size in a]), "b": np.resize(values[::-1], b)}
        assert_same(load(path), converted, inputs)


class TestOtherLayers:
    """Convert, Unsqueeze, Squeeze and Reshape."""

    @pytest.mark.parametrize("source", DIVIDING)
    def test_convert(self, tmp_path: Path, source: ElementType) -> None:
        for target in DIVIDING:
            with case("to", target):
                array = np.concatenate([edge_values(source), np.arange(20).astype(dtype_of(source))])
                path = _convert_ir(tmp_path, source, target)
                assert_same(load(path), onnx_model_of(_convert(path).model, tmp_path), {"x": array})

    @pytest.mark.parametrize("element_type", [FLOAT, INT8, UINT64])
    def test_convert_to_and_from_boolean(self, tmp_path: Path, element_type: ElementType) -> None:
        path = _convert_ir(tmp_path, element_type, "bool")
        assert_same(load(path), onnx_model_of(_convert(path).model, tmp_path), {"x": edge_values(element_type)})
        path = _convert_ir(tmp_path, "bool", element_type)
        assert_same(load(path), onnx_model_of(_convert(path, 7).model, tmp_path), {"x": np.array([True, False])})

    def test_floats_to_integers_are_told_of(self, tmp_path: Path) -> None:
        (change,) = _convert(_convert_ir(tmp_path, FLOAT, INT8)).changes
        assert (change.node, change.what) == ("layer 'convert' (Convert)", "Cast to int8")
        assert "neither format defines" in change.why
        assert _convert(_convert_ir(tmp_path, INT16, INT8)).changes == ()

    @pytest.mark.parametrize("opset", [7, 11, 13, NEWEST])
    @pytest.mark.parametrize(
        ("kind", "numbers", "shape", "result"),
        [
            ("Unsqueeze", [0, -1], (2, 3), (1, 2, 3, 1)),
            ("Unsqueeze", [1, 1], (2, 3), (2, 1, 3)),
            ("Unsqueeze", [-1, -1], (2, 3), (2, 3, 1)),
            ("Squeeze", [0, -1], (1, 6, 1), (6,)),
            ("Squeeze", [0, 1], (1, 6, 1), (6, 1)),
            ("Squeeze", [1], (1, 6, 1), (1, 6, 1)),
            ("Squeeze", [], (1, 6, 1), (6,)),
            ("Squeeze", None, (1, 6, 1), (6,)),
            ("Squeeze", [0], (None, 6, 1), (6, 1)),
            ("Reshape", [0, -1], (2, 3, 1), (2, 3)),
            ("Reshape", [3, 2], (None, 3), (3, 2)),
        ],
    )
    def test_shapes(
        self,
        tmp_path: Path,
        kind: str,
        numbers: list[int] | None,
        shape: tuple[int | None, ...] | None,
        result: tuple[int, ...],
        opset: int,
    ) -> None:
        path = _shape_ir(tmp_path, kind, numbers, shape)
        array = np.arange(6, dtype=np.int8).reshape(
            [size or (1 if kind == "Squeeze" else 2) for size in shape or (2, 3)]
        )
        output = assert_same(load(path), onnx_model_of(_convert(path, opset).model, tmp_path), {"x": array})["y"]
        assert output.shape == result

    def test_zeros_of_a_pattern(self, tmp_path: Path, one_line: OneLine) -> None:
        path = _shape_ir(tmp_path, "Reshape", [0, 5], (None, 3), special_zero="false")
        converted = onnx_model_of(_convert(path).model, tmp_path)
        assert assert_same(load(path), converted, {"x": np.zeros((0, 3), np.int8)})["y"].shape == (0, 5)
        with one_line(ModelError, "layer 'shaped' (Reshape) has special_zero=false", "operator set 14"):
            _convert(path, 13)

    @pytest.mark.parametrize("element_type", [INT64, INT32])
    @pytest.mark.parametrize(
        ("special_zero", "shape", "pattern", "result"),
        [("true", (2, 3), [-1, 0], (2, 3)), ("false", (0, 3), [3, 0], (3, 0))],
    )
    def test_a_computed_pattern(
        self,
        tmp_path: Path,
        element_type: ElementType,
        special_zero: str,
        shape: tuple[int, ...],
        pattern: list[int],
        result: tuple[int, ...],
    ) -> None:
        writer = OpenvinoWriter()
        writer.reserve(["x", "s"])
        x = writer.parameter("x", TensorType(FLOAT, (None, 3)))
        s = writer.parameter("s", TensorType(element_type, (2,)))
        data = {"special_zero": special_zero}
        value = writer.layer("Reshape", "shaped", data, (x, s), Value(TensorType(FLOAT, None), "y"))
        writer.result(value, "y")
        path = write_ir(tmp_path, writer)
        converted = onnx_model_of(_convert(path).model, tmp_path)
        inputs = {"x": np.ones(shape, np.float32), "s": np.array(pattern, element_type.numpy)}
        assert assert_same(load(path), converted, inputs)["y"].shape == result


class TestFace:
    """Inputs and outputs keep names, order, types and what is known of their shapes."""

    def test_names_shared_and_handed_through(self, tmp_path: Path) -> None:
        writer = OpenvinoWriter()
        writer.reserve(["x", "never used"])
        x = writer.parameter("x", TensorType(INT32, (None, 2)))
        writer.parameter("never used", TensorType(FLOAT, (1,)))
        constant = Value(TensorType(INT32, (2,)), "w", np.array([3, -4], np.int32))
        quotient = writer.layer("Divide", "x", {}, (x, constant), Value(TensorType(INT32, None), "q"))
        for value, name in ((quotient, "q"), (constant, "w"), (x, "x"), (quotient, "again")):
            writer.result(value, name)
        path = write_ir(tmp_path, writer)
        original, model = load(path), _convert(path).model
        converted = onnx_model_of(model, tmp_path)
        assert [t.name for t in converted.inputs] == ["x", "never used"]
        assert [t.name for t in converted.outputs] == ["q", "w", "x", "again"]
        assert [t.shape for t in converted.inputs] == [(None, 2), (1,)]
        inputs = {"x": np.array([[-7, 7]], np.int32), "never used": np.zeros(1, np.float32)}
        assert assert_same(original, converted, inputs)["again"].tolist() == [[-3, -2]]

    def test_ranges_of_sizes(self, ir_file: Callable[..., Path]) -> None:
        parameter = (
            '<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="1..8,2,?,3.."/>'
            '<output><port id="0"/></output></layer>'
            '<layer id="1" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer>'
        )
        edge = '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
        conversion = _convert(ir_file(parameter, edge))
        assert [(c.node, c.what) for c in conversion.changes] == [
            ("input 'x'", "1..8, 3.. written as dimensions of any size")
        ]

    def test_unused_constants_are_left_out(self, tmp_path: Path) -> None:
        path = divide_ir(tmp_path, INT32, (2, 3), np.array([5, 7], np.int32), auto_broadcast="pdpd", axis="0")
        model = _convert(path).model
        assert sorted(list(t.dims) for t in model.graph.initializer) == [[], [2, 1]]


class TestRoundTrip:
    """From IR to ONNX and back, and the other way round: the same bits all along."""

    @pytest.mark.parametrize("opset", [7, 13, NEWEST])
    def test_from_ir(self, tmp_path: Path, opset: int) -> None:
        writer = OpenvinoWriter()
        writer.reserve(["x", "d"])
        x, d = (
            writer.parameter("x", TensorType(FLOAT, (2, None, 4))),
            writer.parameter("d", TensorType(FLOAT, (None, 1))),
        )
        data = {"auto_broadcast": "pdpd", "axis": "1", "m_pythondiv": "true"}
        ratio = writer.layer("Divide", "ratio", data, (x, d), Value(TensorType(FLOAT, None)))
        half = writer.layer("Convert", "half", {"destination_type": "f16"}, (ratio,), Value(TensorType(FLOAT16, None)))
        pattern = Value(TensorType(INT64, (3,)), "", np.array([0, 2, -1]))
        flat = writer.layer(
            "Reshape", "flat", {"special_zero": "true"}, (half, pattern), Value(TensorType(FLOAT16, None))
        )
        writer.result(flat, "y")
        path = write_ir(tmp_path, writer)
        original, there = load(path), _convert(path, opset).model
        converted = onnx_model_of(there, tmp_path)
        back = openvino_model_of(to_openvino(read_whole(tmp_path / "converted.onnx")), tmp_path)
        values = edge_values(FLOAT)
        inputs = {"x": np.resize(values, (2, 3, 4)), "d": np.resize(values[::-1], (3, 1))}
        assert_same(original, converted, inputs)
        assert_same(original, back, inputs)

    @pytest.mark.parametrize(("element_type", "opset"), [(INT32, 6), (INT8, 14), (UINT64, 7), (BFLOAT16, 13)])
    def test_from_onnx(
        self, tmp_path: Path, division: Callable[..., ModelProto], element_type: ElementType, opset: int
    ) -> None:
        original = onnx_model_of(division(opset, element_type, ["N"], ["N"]), tmp_path)
        files = to_openvino(read_whole(tmp_path / "converted.onnx"))
        there = openvino_model_of(files, tmp_path)
        conversion = to_onnx(files.xml, tmp_path / "converted.xml", max(opset, 7))
        assert _ops(conversion.model) == ["Div"]
        back = onnx_model_of(conversion.model, tmp_path)
        a, b = pairs(element_type)
        for model in (there, back):
            assert_same(original, model, {"A": a, "B": b})


class TestRefused:
    """What an operator set cannot say is refused by layer and reason."""

    @pytest.mark.parametrize("opset", [0, -1, 10**6])
    def test_operator_sets_that_are_not(self, tmp_path: Path, one_line: OneLine, opset: int) -> None:
        path = divide_ir(tmp_path, INT32, (2,), (2,))
        with one_line(AttributeValueError, f"operator set {opset} is not known; allowed: 1 to "):
            _convert(path, opset)

    @pytest.mark.parametrize(
        ("element_type", "opset", "parts"),
        [
            (BFLOAT16, 12, ("Div-7 lacks bfloat16", "no Cast")),
            (FLOAT8E5M2, 18, ("Div-14 lacks float8e5m2", "no Cast")),
            (INT4, 20, ("Div-14 lacks int4", "no Cast")),
            (INT32, 5, ("Div-1 divides no integers",)),
        ],
    )
    def test_element_types(
        self, tmp_path: Path, one_line: OneLine, element_type: ElementType, opset: int, parts: tuple[str, ...]
    ) -> None:
        path = divide_ir(tmp_path, element_type, (2,), (2,), m_pythondiv="false")
        with one_line(ModelError, "node 'ratio' (Div", f"operator set {opset}", *parts):
            _convert(path, opset)

    def test_casts(self, tmp_path: Path, one_line: OneLine) -> None:
        with one_line(
            ModelError, "layer 'convert' (Convert) needs Cast of bfloat16, which operator set 12", "--opset 13 or later"
        ):
            _convert(_convert_ir(tmp_path, FLOAT, BFLOAT16), 12)

    def test_pdpd_of_unknown_ranks(self, tmp_path: Path, one_line: OneLine) -> None:
        writer = OpenvinoWriter()
        writer.reserve(["a", "b"])
        a, b = (writer.parameter(name, TensorType(INT32, (None, None))) for name in "ab")
        squeezed = writer.layer("Squeeze", "squeezed", {}, (a,), Value(TensorType(INT32, None)))
        data = {"auto_broadcast": "pdpd"}
        writer.result(writer.layer("Divide", "ratio", data, (squeezed, b), Value(TensorType(INT32, None), "q")), "q")
        with one_line(ModelError, "node 'ratio' (Divide-1)", "pdpd needs the ranks of a and b"):
            _convert(write_ir(tmp_path, writer))

    def test_any_rank(self, tmp_path: Path, one_line: OneLine) -> None:
        path = divide_ir(tmp_path, INT32, None, (2,))
        with one_line(ModelError, "input 'a' has no fixed rank, which ONNX requires"):
            _convert(path)
        # What a Squeeze without axes leaves of open dimensions has any rank too.
        with one_line(ModelError, "output 'y' has no fixed rank, which ONNX requires"):
            _convert(_shape_ir(tmp_path, "Squeeze", None, (None,)))

    @pytest.mark.parametrize(
        ("kind", "axis", "part"), [("Unsqueeze", -1, "counts axes from the end"), ("Squeeze", 0, "needs the rank")]
    )
    def test_axes_of_an_unknown_rank(self, tmp_path: Path, one_line: OneLine, kind: str, axis: int, part: str) -> None:
        writer = OpenvinoWriter()
        writer.reserve(["x"])
        x = writer.parameter("x", TensorType(INT8, (None, None)))
        squeezed = writer.layer("Squeeze", "squeezed", {}, (x,), Value(TensorType(INT8, None)))
        axes = Value(TensorType(INT64, (1,)), "", np.array([axis]))
        writer.result(writer.layer(kind, "shaped", {}, (squeezed, axes), Value(TensorType(INT8, None), "y")), "y")
        with one_line(ModelError, f"layer 'shaped' ({kind})", part):
            _convert(write_ir(tmp_path, writer))

    def test_computed_axes(self, tmp_path: Path, one_line: OneLine) -> None:
        writer = OpenvinoWriter()
        writer.reserve(["x", "axes"])
        operands = [writer.parameter("x", TensorType(INT8, (2,))), writer.parameter("axes", TensorType(INT64, (1,)))]
        writer.result(writer.layer("Unsqueeze", "shaped", {}, operands, Value(TensorType(INT8, None), "y")), "y")
        with one_line(ModelError, "layer 'shaped' (Unsqueeze) computes its axes"):
            _convert(write_ir(tmp_path, writer))

    def test_one_name_for_two_values(self, ir_file: Callable[..., Path], one_line: OneLine) -> None:
        layers = (
            '<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="2"/>'
            '<output><port id="0"/></output></layer>'
            '<layer id="1" name="c" type="Convert" version="opset1"><data destination_type="i8"/>'
            '<input><port id="0"/></input><output><port id="1"/></output></layer>'
            '<layer id="2" name="x" type="Result" version="opset1"><input><port id="0"/></input></layer>'
        )
        edges = "".join(f'<edge from-layer="{n}" from-port="{n}" to-layer="{n + 1}" to-port="0"/>' for n in (0, 1))
        with one_line(ModelError, "output 'x' has the name of an input with another value"):
            _convert(ir_file(layers, edges))

    def test_a_broken_file(self, tmp_path: Path, one_line: OneLine) -> None:
        with one_line(ModelError, "not well-formed XML"):
            to_onnx(b"<net", tmp_path / "model.xml", NEWEST)
        path = divide_ir(tmp_path, INT32, (2,), (3,))
        with one_line(BroadcastError, "node 'ratio' (Divide-1)"):
            _convert(path)


def _convert_ir(folder: Path, source: ElementType | str, target: ElementType | str) -> Path:
    writer = OpenvinoWriter()
    writer.reserve(["x"])
    x = writer.parameter("x", TensorType(source, (None,)))
    name = "boolean" if isinstance(target, str) else str(target.openvino)
    value = writer.layer(
        "Convert", "convert", {"destination_type": name}, (x,), Value(TensorType(target, (None,)), "y")
    )
    writer.result(value, "y")
    return write_ir(folder, writer)


def _shape_ir(folder: Path, kind: str, numbers: list[int] | None, shape: Any, special_zero: str = "true") -> Path:
    writer = OpenvinoWriter()
    writer.reserve(["x"])
    operands = [writer.parameter("x", TensorType(INT8, shape))]
    if numbers is not None:
        operands.append(Value(TensorType(INT64, (len(numbers),)), "", np.array(numbers, np.int64)))
    data = {"special_zero": special_zero} if kind == "Reshape" else {}
    writer.result(writer.layer(kind, "shaped", data, operands, Value(TensorType(INT8, None), "y")), "y")
    return write_ir(folder, writer)
