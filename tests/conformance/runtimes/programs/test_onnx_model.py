"""An operation as an ONNX model: what a runtime reads is what was asked."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

from tests.conformance.asking import operation, same_bits, small
from vinculum.conformance.runtimes.programs.models import onnx_model
from vinculum.spec.element_types import FLOAT
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.registry import ROWS

ONNX_ROWS = [spec for spec in ROWS if spec.dialect is Dialect.ONNX]
A = np.arange(6, dtype=np.float32).reshape(2, 3)


def _declared(model: ModelProto) -> dict[str, tuple[int, list[int] | None]]:
    types = {value.name: value.type.tensor_type for value in (*model.graph.input, *model.graph.output)}
    return {
        name: (t.elem_type, [dim.dim_value for dim in t.shape.dim] if t.HasField("shape") else None)
        for name, t in types.items()
    }


class TestModel:
    """One node of exactly the version asked for, which the checker takes where the operation is legal."""

    @pytest.mark.parametrize("constant", [False, True], ids=["run-time", "constant"])
    @pytest.mark.parametrize("spec", ONNX_ROWS, ids=lambda spec: spec.title)
    def test_legal(self, spec: OperatorSpec, constant: bool) -> None:
        asked = small(spec, FLOAT, constant)
        model = onnx_model(asked)
        assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", spec.since_version)]
        assert [node.op_type for node in model.graph.node] == [spec.name]
        onnx.checker.check_model(model, full_check=True)

    def test_operands_are_declared_as_they_are(self) -> None:
        model = onnx_model(operation(DIV_14, A, A[0].astype(ml_dtypes.bfloat16)))
        declared = _declared(model)
        assert declared["A"] == (TensorProto.FLOAT, [2, 3])
        assert declared["B"] == (TensorProto.BFLOAT16, [3])
        assert declared["C"] == (TensorProto.FLOAT, [2, 3])

    def test_the_quotient_shape_is_open_where_operands_do_not_fit(self) -> None:
        assert _declared(onnx_model(operation(DIV_14, A, A[:, :2])))["C"] == (TensorProto.FLOAT, None)

    def test_scalars_and_empty_operands_keep_their_shape(self) -> None:
        model = onnx_model(operation(DIV_14, np.ones((0, 2), np.float32), np.float32(1) + np.zeros((), np.float32)))
        assert _declared(model) == {"A": (1, [0, 2]), "B": (1, []), "C": (1, [0, 2])}

    def test_constants_are_initializers_and_no_inputs(self) -> None:
        asked = operation(DIV_14, A, A + 1, constant=(False, True))
        model = onnx_model(asked)
        assert [value.name for value in model.graph.input] == ["A"]
        (tensor,) = model.graph.initializer
        assert same_bits(numpy_helper.to_array(tensor), A + 1)
        assert (list(asked.inputs), list(asked.constants)) == (["A"], ["B"])

    def test_a_constant_alone(self) -> None:
        asked = operation(RECIPROCAL_13, A, constant=True)
        model = onnx_model(asked)
        assert not model.graph.input
        assert not asked.inputs

    def test_attributes_stand_as_given_legal_or_not(self) -> None:
        (node,) = onnx_model(operation(DIV_6, A, A, broadcast=1, axis=-7)).graph.node
        assert {a.name: a.i for a in node.attribute} == {"broadcast": 1, "axis": -7}
        (node,) = onnx_model(operation(DIV_14, A, A, fuzz="x")).graph.node
        assert {a.name: a.s for a in node.attribute} == {"fuzz": b"x"}

    @pytest.mark.parametrize("value", [(), (0, 1)])
    def test_lists(self, value: tuple[int, ...]) -> None:
        (node,) = onnx_model(operation(DIV_1, A, A, consumed_inputs=value)).graph.node
        assert [(a.name, tuple(a.ints), a.type) for a in node.attribute] == [
            ("consumed_inputs", value, onnx.AttributeProto.INTS)
        ]
