"""ONNX as IR: both ends give the same bits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper, parser

from tests.models.built_models import read_whole
from tests.models.convert.ir_models import DIVIDING, assert_same, onnx_model_of, openvino_model_of, pairs
from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError, ModelError
from vinculum.models import Model
from vinculum.models.convert.to_openvino.conversion import OpenvinoFiles, to_openvino
from vinculum.models.sampling.edge_values import edge_values
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT32,
    INT64,
    UINT8,
    ElementType,
)
from vinculum.spec.registry import find

OneLine = Callable[..., AbstractContextManager[None]]
F = TensorProto.FLOAT


@pytest.fixture
def both(tmp_path: Path) -> Callable[[ModelProto], tuple[Model, Model, OpenvinoFiles]]:
    """Return a function that returns a model, its conversion, and the files of that."""

    def convert(proto: ModelProto) -> tuple[Model, Model, OpenvinoFiles]:
        original = onnx_model_of(proto, tmp_path)
        files = to_openvino(read_whole(tmp_path / "converted.onnx"))
        converted = openvino_model_of(files, tmp_path)
        return original, converted, files

    return convert


def _divisions() -> list[tuple[int, ElementType]]:
    return [(opset, t) for opset in (6, 14) for t in find("Div", opset=opset).element_types]


class TestDiv:
    """Every version of Div becomes Divide, truncating where it holds integers."""

    @pytest.mark.parametrize(("opset", "element_type"), _divisions())
    def test_every_pair(
        self, both: Callable[..., Any], division: Callable[..., ModelProto], opset: int, element_type: ElementType
    ) -> None:
        original, converted, files = both(division(opset, element_type, ["N"], ["N"]))
        a, b = pairs(element_type)
        assert assert_same(original, converted, {"A": a, "B": b})["C"].size == a.size
        for policies in ({"zero_divisor": "saturate"}, {"overflow": "saturate"}):
            assert_same(original, converted, {"A": a, "B": b}, **policies)
        flag = b'm_pythondiv="false"' if element_type.is_integer else b'm_pythondiv="true"'
        assert flag in files.xml
        assert (b'auto_broadcast="none"' if opset < 7 else b'auto_broadcast="numpy"') in files.xml

    @pytest.mark.parametrize("constant", [True, False])
    @pytest.mark.parametrize(
        ("b", "axis"),
        [((), None), ((1, 1), None), ((5,), None), ((4, 5), None), ((3, 4), 1), ((2,), 0), ((3,), 1), ((1, 1), 3)],
    )
    @pytest.mark.parametrize("opset", [6])
    def test_legacy_broadcasting(
        self,
        both: Callable[..., Any],
        division: Callable[..., ModelProto],
        opset: int,
        b: tuple[int, ...],
        axis: int | None,
        constant: bool,
    ) -> None:
        attributes = {"broadcast": 1} if axis is None else {"broadcast": 1, "axis": axis}
        divisor = np.resize(edge_values(FLOAT), b)
        proto = division(opset, FLOAT, ["N", 3, 4, 5], divisor if constant else b, **attributes)
        original, converted, files = both(proto)
        a = np.resize(edge_values(FLOAT)[::-1], (2, 3, 4, 5))
        output = assert_same(original, converted, {"A": a} if constant else {"A": a, "B": divisor})["C"]
        assert output.shape == (2, 3, 4, 5)
        # Only a divisor of more than one element that does not lie at the end has to be moved.
        moved = b in ((3, 4), (2,), (3,))
        assert [c.what.split(" written")[0] for c in files.changes[1:]] == ([f"axis={axis}"] if moved else [])
        assert (b'type="Unsqueeze"' in files.xml) == (moved and not constant)

    @pytest.mark.parametrize(("a", "b"), [([None, 3], [3]), ([1, 3], [4, 1]), ([3], [2, 1, 1]), ([], [2])])
    def test_multidirectional_broadcasting(
        self, both: Callable[..., Any], division: Callable[..., ModelProto], a: list[int | None], b: list[int]
    ) -> None:
        original, converted, _ = both(division(14, INT32, a, b))
        values = edge_values(INT32)
        inputs = {"A": np.resize(values, [size or 5 for size in a]), "B": np.resize(values[::-1], b)}
        assert_same(original, converted, inputs)

    @pytest.mark.parametrize(
        ("opset", "element_type"), [(1, FLOAT), (6, DOUBLE), (13, FLOAT16), (13, BFLOAT16), (13, FLOAT)]
    )
    def test_reciprocal(
        self, both: Callable[..., Any], onnx_model: Callable[..., ModelProto], opset: int, element_type: ElementType
    ) -> None:
        tensor = element_type.onnx_code, [None]
        proto = onnx_model(
            [helper.make_node("Reciprocal", ["x"], ["y"], "r")], {"x": tensor}, {"y": tensor}, opset=opset
        )
        original, converted, files = both(proto)
        assert_same(original, converted, {"x": edge_values(element_type)})
        assert [(c.node, c.what) for c in files.changes] == [
            (f"node 'r' (Reciprocal-{find('Reciprocal', opset=opset).since_version})", "Divide of a constant 1")
        ]


class TestOtherOperators:
    """Cast, Constant, Identity, Unsqueeze, Squeeze and Reshape, and functions of them."""

    @pytest.mark.parametrize("source", [t for t in DIVIDING if t.bits > 4])
    def test_cast(self, both: Callable[..., Any], onnx_model: Callable[..., ModelProto], source: ElementType) -> None:
        """To many types, each an output that is named after it."""
        codes = {t.name: t.onnx_code for t in (FLOAT, FLOAT16, BFLOAT16, INT8, INT32, UINT8, INT64)}
        nodes = [helper.make_node("Cast", ["x"], [name], to=code) for name, code in codes.items()]
        outputs = {name: (code, [None]) for name, code in codes.items()}
        original, converted, _ = both(onnx_model(nodes, {"x": (source.onnx_code, [None])}, outputs, opset=21))
        assert_same(original, converted, {"x": edge_values(source)})

    @pytest.mark.parametrize(
        ("text", "shape"),
        [
            ("y = Unsqueeze <axes = [0, 3]> (x)", (1, 2, 1, 1, 3)),
            ("y = Squeeze (x)", (2, 3)),
            ("y = Squeeze <axes = [1]> (x)", (2, 3)),
            ("s = Constant <value = int64[2] {-1, 2}> () y = Reshape (x, s)", (3, 2)),
            ("s = Constant <value = int64[2] {0, -1}> () y = Reshape (x, s)", (2, 3)),
            ("z = Identity (x) y = Squeeze <axes = [1]> (z)", (2, 3)),
        ],
    )
    def test_shapes(self, both: Callable[..., Any], text: str, shape: tuple[int, ...]) -> None:
        dims = ",".join(map(str, shape))
        original, converted, _ = both(
            parser.parse_model(
                f'<ir_version: 8, opset_import: ["": 11]> g (float[2,1,3] x) => (float[{dims}] y) {{ {text} }}'
            )
        )
        assert (
            assert_same(original, converted, {"x": np.arange(6, dtype=np.float32).reshape(2, 1, 3)})["y"].shape == shape
        )

    def test_shapes_of_the_newest_operator_sets(self, both: Callable[..., Any]) -> None:
        nodes = [
            helper.make_node("Squeeze", ["x", "one"], ["s"]),
            helper.make_node("Unsqueeze", ["s", "ends"], ["z"]),
            helper.make_node("Reshape", ["x", "p"], ["y"]),
            helper.make_node("Reshape", ["e", "zeros"], ["f"], allowzero=1),
            helper.make_node("Reshape", ["x", "first"], ["g"], allowzero=0),
        ]
        initializers = [
            numpy_helper.from_array(np.array(values, np.int64), name)
            for name, values in (("one", [1]), ("ends", [0, -2]), ("zeros", [0, 5]), ("first", [0, -1]))
        ]
        graph = helper.make_graph(
            nodes,
            "g",
            [
                helper.make_tensor_value_info("x", F, [2, "N", 3]),
                helper.make_tensor_value_info("p", TensorProto.INT64, [2]),
                helper.make_tensor_value_info("e", F, ["E", 3]),
            ],
            [
                helper.make_tensor_value_info("y", F, [None, None]),
                helper.make_tensor_value_info("z", F, [1, 2, 1, 3]),
                helper.make_tensor_value_info("f", F, [0, 5]),
                helper.make_tensor_value_info("g", F, [2, 3]),
            ],
            initializers,
        )
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        original, converted, _ = both(proto)
        inputs = {
            "x": np.arange(6, dtype=np.float32).reshape(2, 1, 3),
            "p": np.array([3, -1]),
            "e": np.zeros((0, 3), np.float32),
        }
        assert {name: value.shape for name, value in assert_same(original, converted, inputs).items()} == {
            "y": (3, 2),
            "z": (1, 2, 1, 3),
            "f": (0, 5),
            "g": (2, 3),
        }


class TestFace:
    """Inputs and outputs keep their names, whatever these hold, and what an IR cannot say of them is told."""

    @pytest.mark.parametrize("name", ["a,b", "a\\,b", "<&\">'", " spaced ", "é\U0001f600", "new\nline", "tab\t", "0"])
    def test_awkward_names(self, both: Callable[..., Any], onnx_model: Callable[..., ModelProto], name: str) -> None:
        node = helper.make_node("Div", [name, name], [f"{name}/q"], name)
        proto = onnx_model([node], {name: (F, [2])}, {f"{name}/q": (F, [2])})
        original, converted, _ = both(proto)
        assert_same(original, converted, {name: np.array([2, 0], np.float32)})

    def test_what_is_told_of_inputs(self, both: Callable[..., Any], onnx_model: Callable[..., ModelProto]) -> None:
        weights = numpy_helper.from_array(np.array([2, 4], np.float32), "w")
        proto = onnx_model(
            [helper.make_node("Div", ["x", "w"], ["q"])],
            {"x": (F, ["batch", "rows", None, 2]), "w": (F, [2])},
            {"q": (F, ["batch", "rows", None, 2])},
            initializers=[weights],
        )
        original, converted, files = both(proto)
        assert_same(original, converted, {"x": np.ones((1, 2, 3, 2), np.float32)})
        assert [(c.node, c.what) for c in files.changes] == [
            ("input 'w'", "no longer an input: always its initializer"),
            ("input 'x'", "dimensions 'batch', 'rows' written '?'"),
        ]


class TestRefused:
    """What an IR of operation set 1 cannot say is refused by node and reason."""

    @pytest.mark.parametrize(
        ("text", "kind", "parts"),
        [
            (
                "y = Floor (x)",
                ModelError,
                ["node 'y' (Floor) is not representable in an IR", "allowed: Cast, Constant, Div"],
            ),
            ("y = local.unknown (x)", ModelError, ["node 'y' (local.unknown) is not representable"]),
            ("y = Cast <to = 8> (x)", ModelError, ["the result of node 'y' (Cast) has element type string"]),
            ("y = Cast (x)", ModelError, ["node 'y' (Cast) has no attribute 'to' with an element type"]),
            ("y = Cast <to = 99> (x)", ModelError, ["node 'y' (Cast) has no attribute 'to' with an element type"]),
            ('y = Cast <to = "FLOAT33"> (x)', ModelError, ["(Cast) has no attribute 'to' with an element type"]),
            ("y = Reshape (x)", ModelError, ["node 'y' (Reshape) has no input 1"]),
            ("y = Unsqueeze (x)", ModelError, ["node 'y' (Unsqueeze) has no axes"]),
            ("c = Constant <value_ints: ints = []> () y = Squeeze (x, c)", ModelError, ["has empty axes"]),
            ("y = Cast <to = 22> (x)", ModelError, ["node 'y' (Cast) casts floats to int4"]),
            ('c = Constant <value_string = "a"> () y = Identity (x)', ModelError, ["node 'c' (Constant) has no value"]),
            ("y = Unsqueeze (x, n)", ModelError, ["node 'y' (Unsqueeze) computes its axes"]),
            ("y = Squeeze (x, n)", ModelError, ["node 'y' (Squeeze) computes its axes"]),
            ("c = Constant <value_ints = [5]> () y = Unsqueeze (x, c)", BroadcastError, ["'y' (Unsqueeze): axis 5"]),
            ("c = Constant <value_ints = [0, 0]> () y = Unsqueeze (x, c)", BroadcastError, ["names an axis twice"]),
            (
                "c = Constant <value_ints = [0]> () y = Squeeze (x, c)",
                BroadcastError,
                ["drops dimension 0 of size 2"],
            ),
            ("c = Constant <value_ints = [7]> () y = Reshape (x, c)", BroadcastError, ["node 'y' (Reshape)", "(7,)"]),
            ("y = Div (x, n)", ElementTypeError, ["node 'y' (Div-14)", "float", "int64"]),
            ("y = Div <axis = 1> (x, x)", AttributeValueError, ["node 'y' (Div-14)", "no attribute 'axis'"]),
            (
                "b = Cast <to = 9> (x) y = Div (b, b)",
                ElementTypeError,
                ["node 'y' (Div-14)", "A has element type bool"],
            ),
            ("y = Div (x, z)", BroadcastError, ["node 'y' (Div-14)"]),
            ("y = Div (x)", ModelError, ["node 'y' (Div)", "input"]),
        ],
    )
    def test_nodes(self, one_line: OneLine, text: str, kind: type[Exception], parts: list[str]) -> None:
        proto = parser.parse_model(
            f'<ir_version: 8, opset_import: ["": 21, "local": 1]> '
            f"g (float[2,3] x, int64[1] n, float[2] z) => (float y) {{ {text} }}"
        )
        with one_line(kind, *parts):
            to_openvino(proto)

    @pytest.mark.parametrize("code", [TensorProto.STRING, TensorProto.COMPLEX64, TensorProto.FLOAT8E4M3FNUZ])
    def test_element_types(self, one_line: OneLine, onnx_model: Callable[..., ModelProto], code: int) -> None:
        tensor = (code, [2])
        proto = onnx_model([helper.make_node("Identity", ["x"], ["y"])], {"x": tensor}, {"y": tensor}, opset=19)
        name = TensorProto.DataType.Name(code).lower()
        with one_line(ModelError, f"input 'x' has element type {name}", "allowed: bfloat16, float16, float"):
            to_openvino(proto)
