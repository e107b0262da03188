"""ONNX as IR: both ends give the same bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, FunctionProto, ModelProto, TensorProto, helper, numpy_helper, parser

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
    FLOAT8E4M3FN,
    FLOAT8E5M2,
    FLOAT16,
    INT8,
    INT32,
    INT64,
    UINT8,
    ElementType,
)
from vinculum.spec.registry import find

OneLine = Callable[..., AbstractContextManager[None]]
EXAMPLES = Path(__file__).parents[4] / "examples"
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
    return [(opset, t) for opset in (1, 6, 7, 13, 14) for t in find("Div", opset=opset).element_types]


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
    @pytest.mark.parametrize("opset", [1, 6])
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

    @pytest.mark.parametrize("name", ["openvino_rounding/div.onnx", "div_6_axis/model.onnx"])
    def test_the_examples(self, both: Callable[..., Any], name: str) -> None:
        original, converted, _ = both(read_whole(EXAMPLES / name))
        types = {t.name: t.element_type for t in original.inputs}
        inputs = {
            t.name: np.resize(edge_values(types[t.name]), [size if isinstance(size, int) else 4 for size in t.shape])
            for t in original.inputs
        }
        assert_same(original, converted, inputs)


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

    @pytest.mark.parametrize("target", [FLOAT8E4M3FN, FLOAT8E5M2])
    @pytest.mark.parametrize("source", [FLOAT, FLOAT16, INT8, UINT8, INT64])
    def test_cast_to_8_bits(
        self, both: Callable[..., Any], onnx_model: Callable[..., ModelProto], source: ElementType, target: ElementType
    ) -> None:
        def cast(**attributes: int) -> ModelProto:
            node = helper.make_node("Cast", ["x"], ["y"], to=target.onnx_code)
            node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
            return onnx_model([node], {"x": (source.onnx_code, [None])}, {"y": (target.onnx_code, [None])}, opset=21)

        original, converted, _ = both(cast(saturate=0))
        assert_same(original, converted, {"x": edge_values(source)})
        if source.bits == 8:
            original, converted, _ = both(cast())
            assert_same(original, converted, {"x": edge_values(source)})
            return
        with pytest.raises(ModelError, match=r"node 'y' \(Cast\) saturates, and the layer Convert to f8"):
            to_openvino(cast())

    def test_casts_named_and_of_booleans(self, both: Callable[..., Any], onnx_model: Callable[..., ModelProto]) -> None:
        nodes = [
            helper.make_node("Cast", ["x"], ["m"], to="BOOL"),
            helper.make_node("Cast", ["m"], ["y"], to="FLOAT16"),
        ]
        tensor = {"x": (F, [None])}, {"y": (TensorProto.FLOAT16, [None])}
        original, converted, _ = both(onnx_model(nodes, *tensor, opset=1))
        assert_same(original, converted, {"x": np.array([0, -0.0, np.nan, 3], np.float32)})

    def test_constants(self, both: Callable[..., Any], onnx_model: Callable[..., ModelProto]) -> None:
        tensor = numpy_helper.from_array(np.array([2, 4], np.float32))
        nodes = [
            helper.make_node("Constant", [], ["a"], value=tensor),
            helper.make_node("Constant", [], ["b"], value_float=0.5),
            helper.make_node("Constant", [], ["c"], value_floats=[3.0, -3.0]),
            helper.make_node("Constant", [], ["i"], value_ints=[0, 1]),
            helper.make_node("Constant", [], ["s"], value_int=2),
            helper.make_node("Constant", [], ["unused"], value_int=7),
            helper.make_node("Unsqueeze", ["a", "i"], ["d"]),
            helper.make_node("Div", ["b", "a"], ["q"]),
            helper.make_node("Div", ["q", "c"], ["r"]),
        ]
        outputs = {"r": (F, [2]), "d": (F, [1, 1, 2]), "s": (TensorProto.INT64, []), "a": (F, [2])}
        original, converted, files = both(onnx_model(nodes, {}, outputs, opset=13))
        assert assert_same(original, converted, {})["d"].shape == (1, 1, 2)
        # [2, 4] is there once for its two shapes, and what nothing uses is not there.
        assert len(files.data) == 3 * 64 + 8

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
        ]
        initializers = [
            numpy_helper.from_array(np.array(values, np.int64), name)
            for name, values in (("one", [1]), ("ends", [0, -2]), ("zeros", [0, 5]))
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
        }

    def test_functions(self, tmp_path: Path, onnx_model: Callable[..., ModelProto]) -> None:
        proto = onnx_model(
            [
                helper.make_node("halves", ["x"], ["m"], "first", domain="local"),
                helper.make_node("halves", ["m"], ["y"], "second", domain="local", by=4.0),
            ],
            {"x": (F, [3, 2])},
            {"y": (F, [3, 2])},
            opset=17,
            domains=["local"],
            functions=_functions(),
        )
        # The checker refuses functions of another operator set than the model's; the standard does not.
        original, files = onnx_model_of(proto, tmp_path, check=False), to_openvino(proto)
        converted = openvino_model_of(files, tmp_path)
        values = np.resize(edge_values(FLOAT), (3, 2))
        assert_same(original, converted, {"x": values})
        assert b'name="halves/row/ratio"' in files.xml
        assert [c.node for c in files.changes] == ["node 'ratio' (Div-6 in halves/row)"] * 2


def _functions() -> list[FunctionProto]:
    """Return one function that calls another, of an older operator set and with an attribute handed through."""
    row = helper.make_function(
        "local",
        "row",
        ["a", "b"],
        ["q"],
        [helper.make_node("Div", ["a", "b"], ["q"], "ratio", broadcast=1, axis=0)],
        [helper.make_opsetid("", 6)],
    )
    constant = helper.make_node("Constant", [], ["c"])
    constant.attribute.add(name="value_float", ref_attr_name="by", type=AttributeProto.FLOAT)
    halves = helper.make_function(
        "local",
        "halves",
        ["a"],
        ["h"],
        [
            constant,
            helper.make_node("Constant", [], ["three"], value_ints=[3]),
            helper.make_node("Constant", [], ["ones"], value_floats=[1.0, 2.0, -3.0]),
            helper.make_node("Reshape", ["ones", "three"], ["column"]),
            helper.make_node("Div", ["column", "c"], ["d"]),
            helper.make_node("row", ["a", "d"], ["h"], domain="local"),
        ],
        [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)],
        attribute_protos=[helper.make_attribute("by", 2.0)],
    )
    return [row, halves]


class TestFace:
    """Inputs and outputs keep their names, whatever these hold, and what an IR cannot say of them is told."""

    @pytest.mark.parametrize("name", ["a,b", "a\\,b", "<&\">'", " spaced ", "é\U0001f600", "new\nline", "tab\t", "0"])
    def test_awkward_names(self, both: Callable[..., Any], onnx_model: Callable[..., ModelProto], name: str) -> None:
        node = helper.make_node("Div", [name, name], [f"{name}/q"], name)
        proto = onnx_model([node], {name: (F, [2])}, {f"{name}/q": (F, [2])})
        original, converted, _ = both(proto)
        assert_same(original, converted, {name: np.array([2, 0], np.float32)})

    def test_outputs_that_are_inputs_constants_and_each_other(
        self, both: Callable[..., Any], onnx_model: Callable[..., ModelProto]
    ) -> None:
        nodes = [
            helper.make_node("Div", ["x", "w"], ["q"]),
            helper.make_node("Identity", ["q"], ["r"]),
            helper.make_node("Identity", ["x"], ["s"]),
        ]
        weights = numpy_helper.from_array(np.array([2, 4], np.float32), "w")
        tensor = (F, [2])
        outputs = {"r": tensor, "q": tensor, "x": tensor, "w": tensor, "s": tensor}
        original, converted, files = both(
            onnx_model(nodes, {"x": tensor, "unused": tensor}, outputs, initializers=[weights])
        )
        inputs = {"x": np.array([1, -0.0], np.float32), "unused": np.zeros(2, np.float32)}
        assert_same(original, converted, inputs)
        assert [t.name for t in converted.inputs] == ["x", "unused"]
        assert [c.what for c in files.changes] == ["omitted", "omitted"]

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

    def test_empty_and_scalar_constants(self, both: Callable[..., Any], onnx_model: Callable[..., ModelProto]) -> None:
        empty = numpy_helper.from_array(np.zeros((0, 2), np.float32), "w")
        node = helper.make_node("Div", ["w", "x"], ["q"])
        original, converted, _ = both(onnx_model([node], {"x": (F, [])}, {"q": (F, [0, 2])}, initializers=[empty]))
        assert assert_same(original, converted, {"x": np.array(2, np.float32)})["q"].shape == (0, 2)

    def test_the_same_bytes_again(self, division: Callable[..., ModelProto]) -> None:
        first, second = (to_openvino(division(14, INT32, ["N"], np.array([3], np.int32))) for _ in range(2))
        assert (first.xml, first.data) == (second.xml, second.data)

    def test_the_model_is_not_changed(self, division: Callable[..., ModelProto]) -> None:
        proto = division(6, FLOAT, ["N", 3], np.ones(1, np.float32), broadcast=1)
        before = proto.SerializeToString()
        to_openvino(proto)
        assert proto.SerializeToString() == before


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

    def test_an_axis_of_unknown_rank(self, one_line: OneLine) -> None:
        proto = parser.parse_model(
            '<ir_version: 8, opset_import: ["": 6]> g (float[2,N,3] x, float[2] z) => (float y) '
            "{ s = Squeeze (x) y = Div <broadcast = 1, axis = 0> (s, z) }"
        )
        with one_line(ModelError, "node 'y' (Div-6) has axis=0", "the rank of A"):
            to_openvino(proto)

    @pytest.mark.parametrize("code", [TensorProto.STRING, TensorProto.COMPLEX64, TensorProto.FLOAT8E4M3FNUZ])
    def test_element_types(self, one_line: OneLine, onnx_model: Callable[..., ModelProto], code: int) -> None:
        tensor = (code, [2])
        proto = onnx_model([helper.make_node("Identity", ["x"], ["y"])], {"x": tensor}, {"y": tensor}, opset=19)
        name = TensorProto.DataType.Name(code).lower()
        with one_line(ModelError, f"input 'x' has element type {name}", "allowed: bfloat16, float16, float"):
            to_openvino(proto)

    def test_subgraphs(self, one_line: OneLine) -> None:
        with one_line(ModelError, "(If) is not representable in an IR"):
            to_openvino(
                parser.parse_model(
                    '<ir_version: 8, opset_import: ["": 17]> g (bool c, float[2] x) => (float[2] y) '
                    "{ y = If (c) <then_branch = t () => (float[2] p) { p = Identity (x) }, "
                    "else_branch = e () => (float[2] n) { n = Div (x, x) }> }"
                )
            )

    def test_names_that_no_xml_can_hold(self, one_line: OneLine, onnx_model: Callable[..., ModelProto]) -> None:
        tensor = (F, [2])
        proto = onnx_model([helper.make_node("Identity", ["x\x01"], ["y"])], {"x\x01": tensor}, {"y": tensor})
        with one_line(ModelError, r"the name 'x\x01' holds a character that XML does not allow"):
            to_openvino(proto)

    def test_a_shape_of_too_many_sizes_is_not_known(self, onnx_model: Callable[..., ModelProto]) -> None:
        node = helper.make_node("Reshape", ["x", "shape"], ["y"])
        inputs = {"x": (F, [2]), "shape": (TensorProto.INT64, [2**40])}
        assert to_openvino(onnx_model([node], inputs, {"y": (F, None)}))

    def test_an_output_listed_twice_and_none(self, one_line: OneLine, onnx_model: Callable[..., ModelProto]) -> None:
        tensor: Mapping[str, Any] = {"x": (F, [2])}
        proto = onnx_model([], tensor, tensor)
        proto.graph.output.append(proto.graph.output[0])
        with one_line(ModelError, "output 'x' is listed twice"):
            to_openvino(proto)
        del proto.graph.output[:]
        with one_line(ModelError, "the model has no output"):
            to_openvino(proto)

    def test_a_function_that_calls_itself(self, one_line: OneLine, onnx_model: Callable[..., ModelProto]) -> None:
        function = helper.make_function(
            "local",
            "f",
            ["a"],
            ["b"],
            [helper.make_node("f", ["a"], ["b"], domain="local")],
            [helper.make_opsetid("", 17)],
        )
        node = helper.make_node("f", ["x"], ["y"], domain="local")
        proto = onnx_model([node], {"x": (F, [2])}, {"y": (F, [2])}, domains=["local"], functions=[function])
        with one_line(ModelError, "(local.f) calls functions more than 100 deep, or in a circle"):
            to_openvino(proto)
