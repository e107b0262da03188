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
from vinculum.errors import AttributeValueError, DivisionByZeroError, IntegerOverflowError, ModelError
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
    return [n for n in (6, 12, 13, 14, NEWEST) if n >= FIRST.get(element_type, 6)]


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
        for opset, constant in product((6, 7, NEWEST), (True, False)):
            with case(opset, f"{constant=}"):
                divisor = np.resize(edge_values(INT32), b)
                path = divide_ir(
                    tmp_path, INT32, (2, 3, 4, 5), divisor if constant else b, auto_broadcast="pdpd", axis=str(axis)
                )
                converted = onnx_model_of(_convert(path, opset).model, tmp_path)
                a = np.resize(edge_values(INT32)[::-1], (2, 3, 4, 5))
                inputs = {"a": a} if constant else {"a": a, "b": divisor}
                assert assert_same(load(path), converted, inputs)["q"].shape == (2, 3, 4, 5)


class TestOtherLayers:
    """Convert, Unsqueeze, Squeeze and Reshape."""

    @pytest.mark.parametrize("source", DIVIDING)
    def test_convert(self, tmp_path: Path, source: ElementType) -> None:
        for target in DIVIDING:
            with case("to", target):
                array = np.concatenate([edge_values(source), np.arange(20).astype(dtype_of(source))])
                path = _convert_ir(tmp_path, source, target)
                assert_same(load(path), onnx_model_of(_convert(path).model, tmp_path), {"x": array})

    @pytest.mark.parametrize("opset", [7, NEWEST])
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
