"""Operators other than divisions: unchanged if their version is, otherwise rewritten with equal results, or refused."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper, parser
from onnx.defs import get_all_schemas_with_history, get_schema, onnx_opset_version

from tests.models.built_models import one_line, run, text_model
from tests.onnx_cases import node_cases
from vinculum.errors import ModelError, VinculumError
from vinculum.models.convert import Change
from vinculum.models.convert.opset.conversion import convert_opset
from vinculum.models.convert.opset.operator_versions import problem_with, type_text
from vinculum.models.convert.opset.table import ADAPTERS, ANY

NEWEST = onnx_opset_version()
RNG = np.random.default_rng(0)


def _model(opset: int, signature: str, body: str) -> ModelProto:
    """Return a model of a graph in ONNX's own text."""
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {signature} {{ {body} }}')


def _converted(model: ModelProto, opset: int) -> tuple[ModelProto, list[str]]:
    conversion = convert_opset(model, opset)
    return conversion.model, [node.op_type for node in conversion.model.graph.node]


def _inputs(model: ModelProto) -> dict[str, NDArray[Any]]:
    constants = {tensor.name for tensor in model.graph.initializer}
    arrays = {}
    for value in model.graph.input:
        if value.name not in constants:
            shape = [dim.dim_value if dim.HasField("dim_value") else 2 for dim in value.type.tensor_type.shape.dim]
            dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            arrays[value.name] = RNG.integers(-3, 4, shape).astype(dtype) + np.array(0.25).astype(dtype)
    return arrays


def _check_same(model: ModelProto, converted: ModelProto) -> None:
    arrays = _inputs(model)
    before, after = run(model, arrays, check=False), run(converted, arrays)
    assert list(before) == list(after)
    for name, array in before.items():
        assert array.dtype == after[name].dtype
        assert array.shape == after[name].shape
        # The order of sums may differ where dimensions were moved.
        np.testing.assert_allclose(array, after[name], rtol=1e-6, atol=1e-7)


class TestUntouched:
    """'Other operators are untouched if their version does not change between the two opsets'."""

    @pytest.mark.parametrize(
        ("source", "target", "signature", "body"),
        [
            (18, 19, "(float[2,3] x, int64[1] axes) => (float y)", "y = ReduceMax <keepdims = 0> (x, axes)"),
            (21, 7, "(float[2] x) => (float[2] y)", "y = Frobnicate(x)"),
            (28, 13, "(int64[2] x) => (int64[2] y)", "a = Frobnicate(x) y = Mod(a, x)"),
            (28, 13, "(int64[2] x) => (int64[2] y)", "a = Frobnicate(x) y = Mod(x, a)"),
            *(
                (source, target, "(float[2] x) => (float[2] y)", "a = Relu(x) b = Sigmoid(a) y = Transpose(b)")
                for source, target in ((7, NEWEST), (NEWEST, 7))
            ),
        ],
    )
    def test_same_version_or_unknown(self, source: int, target: int, signature: str, body: str) -> None:
        """Also an operator that ONNX lacks, an operand of unknown type, and a version that only allows more types."""
        model = _model(source, signature, body)
        model.graph.node[0].metadata_props.add(key="from", value="a test")
        conversion = convert_opset(model, target)
        assert (conversion.model.graph, conversion.changes) == (model.graph, ())


# (name, operator set, operator set, signature, body, operators after)
WAYS = [
    ("axes to operand", 11, 13, "(float[2,3] x) => (float[2,1,3] y)", "y = Unsqueeze <axes = [1]> (x)", None),
    ("sum along all", 11, 13, "(float[2,3] x) => (float[1,1] y)", "y = ReduceSum(x)", ["ReduceSum"]),
    ("mean along axes", 13, 18, "(float[2,3] x) => (float[1,3] y)", "y = ReduceMean <axes = [0]> (x)", None),
    ("axes from below 11", 7, NEWEST, "(float[2,1] x) => (float[2] y)", "y = Squeeze <axes = [1]> (x)", None),
    ("split, one part unused", 11, 13, "(float[4] x) => (float[2] z)", ", z = Split <split = [2, 2]> (x)", None),
    ("split sizes, kept", 13, 18, "(float[4] x) => (float[1] y, float[3] z)",
     "s = Constant <value = int64[2] {1, 3}> () y, z = Split(x, s)", None),
    ("split in equal parts", 13, 18, "(float[4] x) => (float[2] y, float[2] z)", "y, z = Split(x)", ["Split"]),
    ("clip", 10, 11, "(float[4] x) => (float[4] y)", "y = Clip <min = -1.0, max = 2.0> (x)", ["Clip"]),
    ("clip above", 6, NEWEST, "(float[4] x) => (float[4] y)", "y = Clip <min = -inf, max = 1.0> (x)", ["Clip"]),
    ("clip of double", 10, 13, "(double[4] x) => (double[4] y)", "y = Clip <min = -1.0> (x)", ["Clip"]),
    ("pad, back", 11, 10, "(double[2] x) => (double[4] y)",
     "p = Constant <value = int64[2] {1, 1}> () v = Constant <value = double {2.5}> () y = Pad(x, p, v)", None),
    ("pad of double", 2, 13, "(double[2] x) => (double[4] y)", "y = Pad <pads = [1, 1], value = 2.5> (x)", ["Pad"]),
    ("pad by reflection", 2, NEWEST, "(float[3] x) => (float[4] y)", 'y = Pad <pads=[1, 0], mode="reflect"> (x)', None),
    ("slice", 9, 10, "(float[4] x) => (float[2] y)", "y = Slice <starts = [1], ends = [3]> (x)", None),
    ("top k", 9, 11, "(float[5] x) => (float[2] y, int64[2] z)", "y, z = TopK <k = 2> (x)", None),
    ("top k, back", 11, 9, "(float[5] x) => (float[2] y, int64[2] z)",
     "k = Constant <value = int64[1] {2}> () y, z = TopK(x, k)", None),
    ("slice, back", 10, 9, "(float[4] x) => (float[2] y)",
     "b = Constant <value = int64[1] {1}> () e = Constant <value = int64[1] {3}> () y = Slice(x, b, e)", None),
    ("squeeze, back", 13, 9, "(float[2,1] x) => (float[2] y)",
     "a = Constant <value = int64[1] {1}> () y = Squeeze(x, a)", None),
    ("hint dropped", 5, 7, "(float[2] x) => (float[2] y)", "y = Tanh <consumed_inputs = [0]> (x)", ["Tanh"]),
    ("element type numbered", 5, 7, "(float[4] x) => (int32[4] y)", 'y = Cast <to = "INT32"> (x)', ["Cast"]),
    ("softmax of the last", 12, 13, "(float[2,3] x) => (float[2,3] y)", "y = Softmax(x)", ["Softmax"]),
    ("softmax over several", 11, 13, "(float[2,3,4] x) => (float[2,3,4] y)", "y = Softmax(x)", None),
    ("hardmax over several", 11, 13, "(float[2,3,4] x) => (float[2,3,4] y)", "y = Hardmax <axis = 0> (x)", None),
    ("softmax, back", 13, 12, "(float[2,3,4] x) => (float[2,3,4] y)", "y = Softmax(x)", ["Softmax"]),
    ("softmax inside, back", 13, 7, "(float[2,3,4] x) => (float[2,3,4] y)", "y = LogSoftmax <axis = 1> (x)", None),
    ("hardmax inside, back", 13, 10, "(float[2,3,4] x) => (float[2,3,4] y)", "y = Hardmax <axis = -3> (x)", None),
    ("negative axes", 11, 10, "(float[2,3] x) => (float[2,3,1] y)", "y = Unsqueeze <axes = [-1]> (x)", ["Unsqueeze"]),
    ("test mode", 9, 13, "(float[4] x) => (float[4] y)", "y = Dropout <ratio = 0.25> (x)", ["Dropout"]),
    ("test mode with a ratio, back", 13, 11, "(float[4] x) => (float[4] y)",
     "r = Constant <value = float {0.25}> () y = Dropout(x, r)", None),
    ("test mode, back", 13, 7, "(float[4] x) => (float[4] y)", "y = Dropout(x)", ["Dropout"]),
    ("part of a shape", 15, 13, "(float[2,3,4] x) => (int64[2] y)", "y = Shape <start = 1> (x)", ["Shape", "Slice"]),
    ("end of a shape", 19, 14, "(float[2,3] x) => (int64[1] y)", "y = Shape <end = -1> (x)", ["Shape", "Slice"]),
    ("numbers", 13, 9, "(float[2] x) => (float[2] y)",
     "c = Constant <value_floats = [1.0, 2.0]> () y = Add(x, c)", None),
    ("split as told", 18, 13, "(float[4] x) => (float[2] y, float[2] z)", "y, z = Split <num_outputs = 2> (x)", None),
    ("split unevenly", 18, 11, "(float[5] x) => (float[3] y, float[2] z)", "y, z = Split <num_outputs = 2> (x)", None),
    ("split unevenly inside", 18, 13, "(float[2,5] x) => (float[2,3] y, float[2,2] z)",
     "y, z = Split <axis = 1, num_outputs = 2> (x)", None),
    ("slopes of channels", 6, 7, "(float[2,3,3] x, float[3] s) => (float[2,3,3] y)", "y = PRelu(x, s)",
     ["Unsqueeze", "PRelu"]),
    ("defaults of two versions", 5, 7, "(float[4] x) => (float[4] y)", "y = Selu(x)", ["Selu"]),
    ("pool of unknown size", 22, 21, "(float[1,1,k] x) => (float[1,1,n] y)",
     "y = MaxPool <kernel_shape = [1], strides = [2], pads = [0, 1]> (x)", ["MaxPool"]),
    ("pool padded by itself", 22, 21, "(float[1,1,k] x) => (float[1,1,n] y)",
     'y = MaxPool <kernel_shape = [2], strides = [2], auto_pad = "SAME_UPPER", ceil_mode = 1> (x)', ["MaxPool"]),
    ("pool beside padding", 6, 7, "(float[1,1,5] x) => (float[1,1,5] y)",
     "y = AveragePool <kernel_shape = [3], pads = [1, 1]> (x)", ["AveragePool"]),
    ("nothing dropped", 6, 7, "(float[4] x) => (float[4] y)", "y = Dropout <is_test = 1, ratio = 0.3> (x)", None),
    ("softmax from the back", 11, 13, "(float[2,3,4] x) => (float[2,3,4] y)", "y = Softmax <axis = -2> (x)", None),
    ("a constant of integers", 9, 8, "(float[2,3] x) => (float[3,2] y)",
     "s = Constant <value = int64[2] {3, 2}> () y = Reshape(x, s)", ["Reshape"]),
    ("shape of reshape", 4, 7, "(float[2,3] x) => (float[3,2] y)", "y = Reshape <shape = [3, 2]> (x)", ["Reshape"]),
    ("a constant of floats", 9, 8, "(float[2] x) => (float[2] y)",
     "c = Constant <value = float[2] {1, 2}> () y = Add(x, c)", ["Constant", "Add"]),
    ("resize to sizes", 11, 13, "(float[1,1,2] x) => (float[1,1,4] y)",
     "e = Constant <value = float[0] {}> () s = Constant <value = int64[3] {1, 1, 4}> () y = Resize(x, e, e, s)", None),
    ("upsample as resize", 9, 11, "(float[1,1,2,2] x) => (float[1,1,4,6] y)",
     "s = Constant <value = float[4] {1, 1, 2, 3}> () y = Upsample(x, s)", ["Constant", "Resize"]),
    ("resize to sizes, back", 13, 11, "(float[1,1,2] x) => (float[1,1,4] y)",
     "s = Constant <value = int64[3] {1, 1, 4}> () y = Resize(x, , , s)", None),
    ("resize by scales, back", 13, 11, "(float[1,1,2] x) => (float[1,1,4] y)",
     "s = Constant <value = float[3] {1, 1, 2}> () y = Resize(x, , s)", ["Constant", "Resize"]),
    ("default left out", 14, 13, "(float[2,3] x, int64[1] s) => (float[n] y)",
     "y = Reshape <allowzero = 0> (x, s)", None),
    ("operands left out", 18, 13, "(float[3] x) => (float[5] y)",
     "p = Constant <value = int64[2] {1, 1}> () y = Pad(x, p, , , )", None),
    ("add along axis", 6, 7, "(float[3,3,3] x, float[3] b) => (float[3,3,3] y)",
     "y = Add <broadcast = 1, axis = 1> (x, b)", None),
    ("mul onto the end", 6, 13, "(float[2,3] x, float[3] b) => (float[2,3] y)",
     "y = Mul <broadcast = 1> (x, b)", ["Mul"]),
    ("gemm broadcast", 6, 7, "(float[2,3] x, float[3,4] b, float[4] c) => (float[2,4] y)",
     "y = Gemm <broadcast = 1> (x, b, c)", ["Gemm"]),
    ("greatest of one shape", 8, 7, "(float[2] x, float[2] b) => (float[2] y)", "y = Max(x, b)", ["Max"]),
    ("pool without new words", 22, 7, "(float[1,1,4,4] x) => (float[1,1,2,2] y)",
     "y = MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 0> (x)", ["MaxPool"]),
]  # fmt: skip

# (operator set, operator set, signature, body, attributes after): operators whose old versions the evaluator lacks.
ATTRIBUTES = [
    (11, 10, "(float[2,5] x) => (int64[1,5] y)", "y = ArgMax <axis = -2> (x)", {"axis": 0}),
    (11, 10, "(float[2,5] x, int64[1] k) => (float[n,5] y, int64[n,5] z)", "y, z = TopK <axis = -2> (x, k)",
     {"axis": 0}),
    (11, 10, "(float[2,5] x) => (float[1,5] y)", "y = ReduceMax <axes = [-2]> (x)", {"axes": [0]}),
    (3, 7, "(float[2,3] x) => (float[2,6] y)", "y = Concat(x, x)", {"axis": 1}),
    (5, 7, "(float[4] x) => (float[4] y)", "y = Selu(x)", {"alpha": 1.6732, "gamma": 1.0507}),
    (10, 11, "(float[2] x, int64[1] i, float[1] u) => (float[2] y)", "y = Scatter(x, i, u)", {"axis": 0}),
    (16, 20, "(float[1,1,2,2] x, float[1,1,2,2] g) => (float[1,1,1,2] y)",
     'y = GridSample <mode = "bilinear"> (x, g)', {"mode": b"linear"}),
    (15, 16, "(float[1,1,4,4] x, float[1,4] r, int64[1] b) => (float[1,1,1,1] y)", "y = RoiAlign(x, r, b)",
     {"coordinate_transformation_mode": b"output_half_pixel"}),
    (16, 15, "(float[1,1,4,4] x, float[1,4] r, int64[1] b) => (float[1,1,1,1] y)",
     'y = RoiAlign <coordinate_transformation_mode = "output_half_pixel"> (x, r, b)', {}),
    (13, 12, "(int8[2] b, float s) => (float[2] y)", "y = DequantizeLinear <axis = 0> (b, s)", {}),
    (10, 13, "(float[1,1,2,2] x) => (float[n,c,h,w] y)",
     "s = Constant <value = float[4] {1, 1, 2, 2}> () y = Resize(x, s)",
     {"coordinate_transformation_mode": b"asymmetric", "nearest_mode": b"floor"}),
]  # fmt: skip


class TestTheSameInOtherWords:
    """'By rules of ours': the version adapters of this package."""

    @pytest.mark.parametrize(("source", "target", "signature", "body", "operators"), [way[1:] for way in WAYS],
                             ids=[way[0] for way in WAYS])  # fmt: skip
    def test_way(self, source: int, target: int, signature: str, body: str, operators: list[str] | None) -> None:
        model = _model(source, signature, body)
        if "int64[1] s" in signature:
            model.graph.initializer.append(numpy_helper.from_array(np.array([-1]), "s"))
        converted, after = _converted(model, target)
        if operators is not None:
            assert after == operators
        _check_same(model, converted)

    @pytest.mark.parametrize(("source", "target", "signature", "body", "given"), ATTRIBUTES)
    def test_attributes(self, source: int, target: int, signature: str, body: str, given: dict[str, Any]) -> None:
        model = _model(source, signature, body)
        node, operands = convert_opset(model, target).model.graph.node[-1], model.graph.node[-1].input
        assert [name for name in node.input if name in operands] == list(operands)
        assert {a.name: pytest.approx(helper.get_attribute_value(a)) for a in node.attribute} == given


class TestWhatStaysOnTheNode:
    """A node that keeps its operator keeps its name, its documentation and its metadata; values keep their names."""

    @pytest.mark.parametrize(
        ("op_type", "source", "target"), [("Softmax", 12, 13), ("Unsqueeze", 12, 13), ("Upsample", 9, 10)]
    )
    def test_name_documentation_and_metadata(self, op_type: str, source: int, target: int) -> None:
        operands = {"Unsqueeze": "<axes = [0]> (x)", "Softmax": "<axis = 1> (x)"}.get(op_type, "(x, s)")
        signature = "(float[2,3,4] x, float[3] s) => (float[n] z)"
        model = _model(source, signature, f"[mine] y = {op_type} {operands} z = Relu(y)")
        node = model.graph.node[0]
        node.doc_string = "what it is for"
        node.metadata_props.add(key="from", value="a test")
        converted, operators = _converted(model, target)
        mine = [new for new in converted.graph.node if new.name == "mine"]
        assert [new.op_type for new in mine] == ["Resize" if op_type == "Upsample" else op_type]
        assert mine[0].doc_string == node.doc_string
        assert mine[0].metadata_props == node.metadata_props
        assert operators[-1] == "Relu"

    def test_changes_say_what_and_why(self) -> None:
        model = _model(12, "(float[2,3] x) => (float[2,3] y)", "y = Softmax <axis = 0> (x)")
        (change,) = convert_opset(model, 13).changes
        what, why = "became Shape, Flatten, Softmax, Reshape", "Softmax-11 and Softmax-13 are written differently"
        assert change == Change("node 'y' (Softmax)", what, why)


# (operator set, operator set, signature, body, words of the reason)
REFUSED = [
    (14, 13, "(int8[2] x) => (int8[2] y)", "y = Relu(x)", "Relu-13 does not take tensor(int8) as its 'X'"),
    (21, 13, "(float[2] x) => (float8e4m3fn[2] y)", "y = Cast <to = 17> (x)", "does not take tensor(float8e4m3fn)"),
    (13, 9, "(float[2] x, int32[2] p) => (float[2] y)", "y = Pow(x, p)", "Pow-7 does not take tensor(int32) as its"),
    (13, 9, "(float[2] x, double[2] p) => (float[2] y)", "y = Pow(x, p)", "tensor(float) together with tensor(double)"),
    (27, 28, "(int32[2] x) => (int32[1] y)", "y = ReduceLogSum(x)", "ReduceLogSum-28 does not take tensor(int32)"),
    (17, 13, "(float[2,3] x, float[3] s) => (float[2,3] y)", "y = LayerNormalization(x, s)", "set has no LayerNorm"),
    (13, 12, "(float[2,3] x, int64[1] a) => (float[n] y)", "y = Unsqueeze(x, a)", "its operand axes is computed"),
    (13, 11, "(float[2] x) => (float[] y)", "y = Unsqueeze <axes = [0]> (x)",
     "it is not valid in operator set 13: Unsqueeze-13 has no attribute 'axes'"),
    (6, 7, "(float[] x, float[3] s) => (float[] y)", "y = PRelu(x, s)", "declare the shapes of X and slope"),
    (13, 12, "(float[] x) => (float[] y)", "y = Softmax <axis = 1> (x)", "from axis on; declare the rank"),
    (13, 12, "(float[2,3] x) => (float[2,3] y)", "y = Softmax <axis = 2> (x)", "axis is 2, and its operand has 2 dim"),
    (12, 11, "(float[2] x) => (float[2] y, bool[2] m)", "y, m = Dropout(x)", "Dropout-10 is undefined in test mode"),
    (13, 14, "(float[2] x) => (float[2] y)", "y = Relu <axis = 1> (x)", "Relu-13 has no attribute 'axis'"),
    (12, 13, "(float[2] x) => (float[2] y)", "y = Concat <axis = 1.0> (x)", "another type for attribute 'axis'"),
    (12, 13, "(float[2] x) => (float[2] y)", "y = Concat(x)", "Concat-11 needs its attribute 'axis'"),
    (18, 17, "(float[2] x) => (float[2] y)", "y = ReduceMax <noop_with_empty_axes = 1> (x)", "reduce along no axis"),
    (18, 17, "(float[n] x) => (float[a] y, float[b] z)", "y, z = Split <num_outputs = 2> (x)", "size of dimension 0"),
    (10, 11, "(float[2] x) => (float[2] y)", "u = Frobnicate(x) y = Clip <min = 0.5> (u)", "the element type is not"),
    (11, 10, "(double[2] x) => (double[2] y)", "b = Constant <value = double {0.1}> () y = Clip(x, b)",
     "its min is not a float, and Clip-6 has it as a float attribute"),
    (18, 17, "(float[2,3] x, int64[1] a) => (float[n] y)", "y = ReduceMax(x, a)", "axes is computed, and ReduceMax"),
    (14, 13, "(float[2] x, int64[1] s) => (float[n] y)", "y = Reshape <allowzero = 1> (x, s)", "no attribute 'all"),
    (1, 7, "(float[2] x) => (float[2] y)", "y = Pad <paddings = [0, 0]> (x)", "no attribute 'paddings'"),
    (6, 7, "(float[2] x) => (float[2] y)", "y = Dropout(x)", "in training mode, which Dropout-7 lacks; set is_test=1"),
    (9, 10, "(float[2] x) => (float[2] y, float[2] m)", "y, m = Dropout(x)", "has another element type"),
    (13, 10, "(float[2] x, float r, bool t) => (float[2] y)", "y = Dropout(x, r, t)", "may be in training mode"),
    (10, 9, "(float[4] x, int64[1] i) => (float[n] y)", "y = Slice(x, i, i, i, i)", "Slice-1 has no 'steps'"),
    (10, 11, "(int64[2] i, int64 d, float[2] v) => (float[n] y)", "y = OneHot(i, d, v)", "negative indices"),
    (10, 11, "(float[1,1,2] x, float[3] s) => (float[n] y)", "y = Resize(x, s)", "which element is nearest"),
    (11, 10, "(float[1,1,2] x, float[1] r, float[3] s) => (float[n] y)", "y = Resize(x, r, s)", "takes 2 inputs"),
    (6, 7, "(float[1,1,2,2] x) => (float[1,1,4,4] y)",
     "y = Upsample <height_scale = 2.0, width_scale = 2.0> (x)", "Upsample-7 has no attribute 'height_scale'"),
    (20, 17, "(float[1,4,3,1] x) => (float[1,4,3,2] y)", "y = DFT(x)", "its version changes, and there is no version"),
    (17, 20, "(float[1,4,3,1] x) => (float[1,4,3,2] y)", "y = DFT(x)", "its version changes, and there is no version"),
    (12, 9, "(float[] x, float[n] l) => (float[] y)", "y = Concat <axis = -1> (x, l)", "has no negative axis"),
    (8, 7, "(float[2] x, float[1] b) => (float[2] y)", "y = Max(x, b)", "Max-6 does not broadcast"),
    (6, 7, "(float[2] x, float[n] b) => (float[n] y)", "y = PRelu(x, b)", "does not define the alignment of slopes"),
    (8, 7, "(float[?] x, float[?] b) => (float[?] y)", "y = Max(x, b)", "the shapes are not known to be equal"),
    (12, 13, "(float[2] x) => (float[2] y)", "y = Max()", "Max-12 takes 1 or more inputs, and it has 0"),
    (13, 22, "(float[1,1,2] x) => (float[1,1,2] y)", "y = Conv(x)", "Conv-11 takes 2 to 3 inputs, and it has 1"),
    (13, 12, "(int8[2,2] b, float[2] s) => (float[2,2] y)", "y = DequantizeLinear(b, s)", "takes a scalar scale"),
    (19, 18, "(float[3] x, int64[2] p) => (float[n] y)", 'y = Pad <mode = "wrap"> (x, p)', "Pad-18 has no mode='wrap'"),
    (18, 17, "(float[3] x, int64[1] i, float[1] u) => (float[3] y)",
     'y = ScatterElements <reduction = "max"> (x, i, u)', "ScatterElements-16 has no reduction='max'"),
    (16, 15, "(float[1,1,4,4] x, float[1,4] r, int64[1] b) => (float[1,1,1,1] y)", "y = RoiAlign(x, r, b)",
     "RoiAlign-10 only supports coordinate_transformation_mode=output_half_pixel"),
    (21, 20, "(float[1,4,2] x, float[4] s, float[4] b) => (float[1,4,2] y)",
     "y = GroupNormalization <num_groups = 2> (x, s, b)", "one version scales groups, the other channels"),
    (22, 21, "(float[1,1,2] x) => (float[1,1,n] y)",
     "y = MaxPool <kernel_shape = [1], strides = [2], pads = [0, 1], ceil_mode = 1> (x)", "begins in the padding"),
    (22, 21, "(float[1,1,k] x) => (float[1,1,n] y)",
     "y = MaxPool <kernel_shape = [1], strides = [2], ceil_mode = 1> (x)", "needs the sizes of its input"),
    (22, 21, "(float[] x) => (float[] y)", "y = MaxPool <kernel_shape = [1], ceil_mode = 1> (x)", "needs the sizes of"),
    (23, 24, "(float[2] x) => (float8e4m3fnuz[2] y)", "y = Cast <to = 18> (x)", "cast infinities"),
    (23, 24, "(float[2] x, float8e4m3fnuz[1] t) => (float8e4m3fnuz[2] y)", "y = CastLike(x, t)", "cast infinities"),
    (28, 27, "(float[2] x, float[2] b) => (float[2] y)", "y = Mod(x, b)", "Mod-13 has no fmod=0 for floats"),
    (10, 11, "(float[1,1,2] x, float[1,1,2] w) => (float[1,1,n] y)",
     'y = ConvTranspose <auto_pad = "SAME_UPPER", strides = [2]> (x, w)', "pad on different sides"),
    (13, 14, "(float[1,2] x, float[2] s) => (float[1,2] y, float[2] m, float[2] v, float[2] p, float[2] q)",
     "y, m, v, p, q = BatchNormalization(x, s, s, s, s)", "results beyond the first"),
]  # fmt: skip


class TestRefused:
    """'What that cannot do is reported by node': never an illegal or silently different model."""

    @pytest.mark.parametrize(("source", "target", "signature", "body", "reason"), REFUSED)
    def test_by_node_and_reason(self, source: int, target: int, signature: str, body: str, reason: str) -> None:
        model = _model(source, signature, body)
        refused = model.graph.node[-1]
        refused.name = "the node"
        named = f"node 'the node' ({refused.op_type}) is not representable in operator set {target}: "
        with one_line(ModelError, named, reason):
            convert_opset(model, target)

    def test_an_input_that_is_left_out(self) -> None:
        """Outputs may always be left out."""
        schema = get_schema("Div", 14)
        assert problem_with(helper.make_node("Div", ["a", ""], ["c"]), schema, {}) == "Div-14 needs its input 'B'"
        assert problem_with(helper.make_node("Div", ["a", "b"], [""]), schema, {}) is None

    def test_every_rule_is_of_a_version(self) -> None:
        for op_type, version in ADAPTERS:
            assert version == ANY or version > NEWEST or get_schema(op_type, version, "").since_version == version


class TestWindows:
    """Below operator set 22 and from it on, MaxPool differs only where its last window begins in the padding."""

    @pytest.mark.parametrize("size", range(1, 7))
    def test_refused_where_they_differ(self, size: int) -> None:
        for kernel, stride, dilation, before, after in product((1, 2, 3), (1, 2, 3), (1, 2), (0, 1), (0, 1)):
            extent, padded = (kernel - 1) * dilation + 1, before + size + after
            if max(before, after) >= kernel or extent > padded:
                continue  # No window, or one of padding alone.
            begins = [start for start in range(0, padded + stride, stride) if start - stride + extent < padded]
            body = f"""y = MaxPool <kernel_shape = [{kernel}], strides = [{stride}], dilations = [{dilation}],
                pads = [{before}, {after}], ceil_mode = 1> (x)"""
            model = _model(22, f"(float[1,1,{size}] x) => (float[1,1,n] y)", body)
            if begins[-1] < before + size:
                assert convert_opset(model, 21).changes == ()
            else:
                with pytest.raises(ModelError, match="begins in the padding"):
                    convert_opset(model, 21)


def test_types_are_named_as_schemas_name_them() -> None:
    named = {text for s in get_all_schemas_with_history() for p in (*s.inputs, *s.outputs) for text in p.types}
    for text in sorted(named):
        declared = re.sub(r"tensor\((\w+)\)", r"\1[n]", text)
        graph = parser.parse_graph(f"g ({declared} x) => () {{ }}")
        assert type_text(graph.input[0].type) == (None if "map" in text else text)


class TestControlFlow:
    """Nodes with subgraphs stay unchanged; the nodes in their subgraphs are converted."""

    BODY = """
        y = If (c) <
            then_branch = t () => (float[2,3] a) { a = Softmax <axis = 0> (x) },
            else_branch = e () => (float[2,3] b) { b = Relu(x) }
        >
    """

    @pytest.mark.parametrize(("source", "target"), [(12, NEWEST), (NEWEST, 10)])
    def test_if(self, source: int, target: int) -> None:
        model = _model(source, "(bool c, float[2,3] x) => (float[2,3] y)", self.BODY)
        converted, operators = _converted(model, target)
        assert operators == ["If"]
        inside = [node.op_type for node in converted.graph.node[0].attribute[0].g.node]
        assert "Softmax" in inside
        assert len(inside) > 1
        for condition in (True, False):
            arrays = _inputs(model) | {"c": np.array(condition)}
            before, after = run(model, arrays, check=False)["y"], run(converted, arrays)["y"]
            np.testing.assert_allclose(before, after, rtol=1e-6)

    def test_scan_8_runs_its_body_otherwise(self) -> None:
        body = "y = Scan <num_scan_inputs = 1, body = b (float[2] s) => (float[2] t) { t = Relu(s) }> ( , x)"
        model = _model(8, "(float[1,3,2] x) => (float[1,3,2] y)", body)
        with pytest.raises(ModelError, match="it holds subgraphs"):
            convert_opset(model, 9)


class TestFunctions:
    """Bodies of model-local functions, whose nodes may refer to the function's attributes."""

    def _model(self, opset: int, body: str) -> ModelProto:
        function = f"f <k> (a) => (b) {{ {body} }}"
        return text_model("y = d.f <k = 1> (x)", "float[2,3] x", "float[2,3] y", function, opset=opset)

    @pytest.mark.parametrize(
        ("opset", "body", "name"),
        [
            (11, "Softmax <axis: int = @k> (a)", "axis"),
            (6, "Div <broadcast = 1, axis: int = @k> (a, a)", "axis"),
            (6, "Div <broadcast: int = @k, axis = 1> (a, a)", "broadcast"),
            (6, "Div <broadcast: int = @k, axis: int = @k> (a, a)", "broadcast"),
        ],
    )
    def test_what_needs_the_value_is_refused(self, opset: int, body: str, name: str) -> None:
        with pytest.raises(ModelError, match=f"'{name}' is an attribute of its function; inline the function"):
            convert_opset(self._model(opset, f"b = {body}"), 13)

    @pytest.mark.parametrize("attributes", ["broadcast: int = @k", "broadcast = 0, axis: int = @k", "axis: int = @k"])
    def test_what_does_not_need_it_is_dropped(self, attributes: str) -> None:
        converted, _ = _converted(self._model(6, f"b = Div <{attributes}> (a, a)"), 13)
        assert [len(node.attribute) for node in converted.functions[0].node] == [0]

    def test_the_types_of_all_calls_are_known(self) -> None:
        model = self._model(13, "b = Softmax <axis = 0> (a)")
        converted, _ = _converted(model, 12)
        assert [node.op_type for node in converted.functions[0].node] == ["Transpose", "Softmax", "Transpose"]
        _check_same(model, converted)


@cache
def _cases() -> Any:
    """Return ONNX's own node tests, of tensors alone."""
    return [
        case
        for case in node_cases()
        if case.data_sets
        and case.model.opset_import[0].domain == ""
        and all(isinstance(array, np.ndarray) for group in case.data_sets[0] for array in group)
    ]


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")  # ONNX's own cases divide by zero, and the evaluator warns.
class TestNodesOfTheStandard:
    """Every node test of ONNX that our engine passes, to an older operator set and back: the same, or refused."""

    @pytest.mark.parametrize("opset", [7, 11, 13, 14, 18, 21])
    def test_there_and_back(self, opset: int) -> None:
        tried = 0
        for case in _cases():
            try:
                converted, _ = _converted(case.model, opset)
                back, _ = _converted(converted, case.model.opset_import[0].version)
            except ModelError:
                continue
            if _passes(case.model, case.data_sets[0]):
                tried += 1
                assert _passes(back, case.data_sets[0]), case.name
        assert tried > 300


def _passes(model: ModelProto, data: Any) -> bool:
    """Return whether a model gives what ONNX's test expects."""
    names = [value.name for value in model.graph.input]
    try:
        results = run(model, dict(zip(names, data[0], strict=True)), check=False)
    except VinculumError:
        return False
    return all(_close(a, b) for a, b in zip(results.values(), data[1], strict=True))


def _close(a: NDArray[Any], b: NDArray[Any]) -> bool:
    if a.shape != b.shape or a.dtype.kind in "OUST":
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a.astype(complex), b.astype(complex), 1e-3, 1e-5, equal_nan=True))


@pytest.mark.parametrize(("source", "target"), [(10, 11), (11, 10), (13, 7), (7, 13), (6, 13)])
@pytest.mark.parametrize("element_type", ["float", "double", "float16"])
def test_bounds_that_are_left_out_infinities(source: int, target: int, element_type: str) -> None:
    """A Clip without a bound leaves infinities alone from operator set 11 on, and bounds them before."""
    model = _model(source, f"({element_type}[4] x) => ({element_type}[4] y)", "y = Clip(x)")
    x = np.array([-np.inf, np.inf, 1, -2], {"float": np.float32, "double": np.float64}.get(element_type, np.float16))
    for opsets in ((target,), (target, max(source, 7))):
        converted = model
        for opset in opsets:
            converted = convert_opset(converted, opset).model
        assert run(converted, {"x": x})["y"].tobytes() == run(model, {"x": x})["y"].tobytes()
