"""Type and shape inference of the ONNX rows against `onnx.shape_inference` in strict mode, on models of one node.

ONNX infers no shape for version 1, and for Div-6 returns A's without looking at B's: tests/tensors has those.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import onnx
import onnx.shape_inference
import pytest
from onnx import helper

from vinculum import BroadcastError, ElementTypeError, Operator
from vinculum.spec.element_types import ELEMENT_TYPES, FLOAT, REAL, ElementType
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.onnx_div import DIV_7, DIV_13, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_6, RECIPROCAL_13
from vinculum.spec.rows import ROWS

SymbolicShape = tuple[int | str | None, ...]
ONNX_ROWS = [row for row in ROWS if row.dialect is Dialect.ONNX]
MULTIDIRECTIONAL = [DIV_7, DIV_13, DIV_14]
DIMENSIONS: tuple[int | str | None, ...] = (0, 1, 2, 3, "N", "M", None)
SHAPES: list[SymbolicShape | None] = [
    None,
    *(shape for rank in range(3) for shape in product(DIMENSIONS, repeat=rank)),
]


def onnxs_answer(
    row: OperatorSpec, types: Sequence[ElementType], shapes: Sequence[SymbolicShape | None], **attributes: Any
) -> tuple[int, SymbolicShape | None]:
    """Return the element type number and the shape that ONNX infers for a node; names that it invents become None."""
    names = [operand.name for operand in row.inputs]
    node = helper.make_node(row.name, names, ["C"], **attributes)
    declared = [
        helper.make_tensor_value_info(name, element_type.onnx_code or 0, shape)
        for name, element_type, shape in zip(names, types, shapes, strict=True)
    ]
    graph = helper.make_graph([node], "division", declared, [onnx.ValueInfoProto(name="C")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", row.since_version)])
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    tensor = inferred.graph.output[0].type.tensor_type
    if not tensor.HasField("shape"):
        return tensor.elem_type, None
    return tensor.elem_type, tuple(dimension_of(d) for d in tensor.shape.dim)


def dimension_of(dimension: onnx.TensorShapeProto.Dimension) -> int | str | None:
    """Return a dimension as a size, a name, or None: unknown, or given a name that nothing declares."""
    if dimension.HasField("dim_value"):
        return dimension.dim_value
    return None if dimension.dim_param.startswith("unk__") else dimension.dim_param or None


@cache
def operator_of(name: str, opset: int, **attributes: Any) -> Operator:
    """Return an operator, which infers any number of times."""
    return Operator(name, opset=opset, **attributes)


def our_answer(
    row: OperatorSpec, types: Sequence[ElementType], shapes: Sequence[SymbolicShape | None], **attributes: Any
) -> tuple[int | None, SymbolicShape | None]:
    """Return our answer in the same form."""
    element_type, shape = operator_of(row.name, row.since_version, **attributes).infer(types, shapes)
    return element_type.onnx_code, shape


def agree(row: OperatorSpec, shapes: Sequence[SymbolicShape | None], **attributes: Any) -> bool:
    """Return whether both give the same answer; fail if only ONNX refuses."""
    types = [FLOAT] * len(shapes)
    try:
        theirs = onnxs_answer(row, types, shapes, **attributes)
    except onnx.shape_inference.InferenceError:
        with pytest.raises(BroadcastError):
            our_answer(row, types, shapes, **attributes)
        return True
    return our_answer(row, types, shapes, **attributes) == theirs


class TestTypes:
    """The element type of the result, for every combination of operands' types."""

    @pytest.mark.parametrize("row", ONNX_ROWS, ids=lambda row: row.title)
    def test_every_combination(self, row: OperatorSpec) -> None:
        numbered = [t for t in ELEMENT_TYPES if t is not REAL]
        for types in product(numbered, repeat=len(row.inputs)):
            shapes = [(2,)] * len(types)
            try:
                theirs, _ = onnxs_answer(row, types, shapes)
            except onnx.shape_inference.InferenceError:
                with pytest.raises(ElementTypeError):
                    our_answer(row, types, shapes)
                continue
            # For version 1, ONNX checks the types and infers none.
            assert our_answer(row, types, shapes)[0] == theirs or (row.since_version, theirs) == (1, 0)


class TestMultidirectional:
    """Div-7, 13 and 14: the same shape, or an error from both."""

    @pytest.mark.parametrize("row", MULTIDIRECTIONAL, ids=lambda row: row.title)
    def test_every_pair_of_small_shapes(self, row: OperatorSpec) -> None:
        # The versions share one function of ONNX, so the older two take every fifth pair.
        pairs = list(product(SHAPES, SHAPES))[:: 1 if row is DIV_14 else 5]
        assert [pair for pair in pairs if not agree(row, pair)] == []

    @pytest.mark.parametrize(
        "shapes",
        [
            [("N", 3, 224, 224), ("N", 1, 1, 1)],
            [("batch", "sequence", 768), (768,)],
            [("batch", None, 768), ("batch", "sequence", 1)],
            [(1, "heads", "q", "k"), ()],
            [("N", "N"), ("N", 1)],
            [(1,) * 64, (2,) + (1,) * 63],
            [(5, None, 4), (None, 1, "K")],
            [(2, 3, 4), (2, 1, 5)],
            [("N", 2, 0), ("N", 1, 1)],
        ],
    )
    def test_shapes_of_models(self, shapes: list[SymbolicShape]) -> None:
        assert agree(DIV_14, shapes)
        assert agree(DIV_14, shapes[::-1])


class TestReciprocal:
    """Reciprocal-6 and 13: X's shape."""

    @pytest.mark.parametrize("row", [RECIPROCAL_6, RECIPROCAL_13], ids=lambda row: row.title)
    def test_every_small_shape(self, row: OperatorSpec) -> None:
        assert [shape for shape in SHAPES if not agree(row, [shape])] == []
