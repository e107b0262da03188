"""Conversions of divisions keep every bit, for each form and each version."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.defs import onnx_opset_version

from tests.models.built_models import division, one_line, run, text_model
from vinculum import div
from vinculum.errors import ModelError
from vinculum.models.convert.opset.conversion import convert_opset
from vinculum.models.onnx.promoted_types import promotion
from vinculum.models.sampling.edge_values import edge_values
from vinculum.spec.element_types import BFLOAT16, FLOAT, INT8, INT64, UINT8, ElementType
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.rows import find
from vinculum.tensors.storage import dtype_of

OPSETS = (7, 12, 13, 14, onnx_opset_version())
SOURCES = (1, 6, *OPSETS)
A_SHAPE = (2, 3, 4, 5)
# The six shapes of the Div-6 document, and those between.
LEGACY: list[tuple[tuple[int, ...], dict[str, int]]] = [
    ((), {"broadcast": 1}),
    ((1, 1), {"broadcast": 1}),
    ((5,), {"broadcast": 1}),
    ((4, 5), {"broadcast": 1}),
    ((3, 4), {"broadcast": 1, "axis": 1}),
    ((2,), {"broadcast": 1, "axis": 0}),
    ((2, 3, 4), {"broadcast": 1, "axis": 0}),
    ((4,), {"broadcast": 1, "axis": 2}),
    ((4, 5), {"broadcast": 1, "axis": 2}),
    ((1,), {"broadcast": 1, "axis": 1}),
    ((2, 3, 4, 5), {"broadcast": 1}),
    ((2, 3, 4, 5), {"broadcast": 0}),
    ((2, 3, 4, 5), {}),
    ((2, 3, 4, 5), {"axis": 1}),
]


def _arrays(element_type: ElementType, shape: tuple[int, ...]) -> tuple[NDArray[Any], NDArray[Any]]:
    values = edge_values(element_type)
    rng = np.random.default_rng(0)
    return rng.choice(values, A_SHAPE), rng.choice(values, shape)


class TestLegacyShapes:
    """Every legal shape of the divisor, every version."""

    @pytest.mark.parametrize(("shape", "attributes"), LEGACY, ids=str)
    @pytest.mark.parametrize(("constant", "symbolic"), [(False, True), (True, False)], ids=["run-time", "constant"])
    def test_to_every_version(
        self, shape: tuple[int, ...], attributes: dict[str, Any], constant: bool, symbolic: bool
    ) -> None:
        a, b = _arrays(FLOAT, shape)
        # Every dimension of A has a size of its own, so the sizes serve as names.
        named_a, named_b = ([f"D{size}" if symbolic and size > 1 else size for size in s] for s in (A_SHAPE, shape))
        model = division(FLOAT, named_a, b if constant else named_b, opset=6, **attributes)
        arrays = {"A": a} if constant else {"A": a, "B": b}
        wanted = run(model, arrays)["C"].tobytes()
        for opset in OPSETS:
            assert run(convert_opset(model, opset).model, arrays)["C"].tobytes() == wanted

    @pytest.mark.parametrize("shown", [False, True])
    def test_a_constant_is_reshaped(self, shown: bool) -> None:
        """No node is added, and the constant is gone unless something else uses it: here it may be an output."""
        model = division(FLOAT, A_SHAPE, np.ones((3, 4), np.float32), broadcast=1, axis=1, opset=6)
        if shown:
            model.graph.output.append(helper.make_tensor_value_info("B", 1, (3, 4)))
        converted = convert_opset(model, 13).model
        assert [node.op_type for node in converted.graph.node] == ["Div"]
        assert [tuple(tensor.dims) for tensor in converted.graph.initializer] == [(3, 4)] * shown + [(3, 4, 1)]

    def test_ranks_suffice(self) -> None:
        model = division(FLOAT, [None] * 4, [None] * 2, broadcast=1, axis=1, opset=6)
        converted = convert_opset(model, 13)
        assert [node.op_type for node in converted.model.graph.node] == ["Unsqueeze", "Div"]
        (change,) = converted.changes
        assert (change.node, change.why) == ("node 'ratio' (Div)", "Div-13 has neither axis nor broadcast")

    def test_without_shapes_where_the_rule_allows(self) -> None:
        model = division(FLOAT, [None], [None], broadcast=1, opset=6)
        for value in model.graph.input:
            value.type.tensor_type.ClearField("shape")
        assert [node.op_type for node in convert_opset(model, 13).model.graph.node] == ["Div"]

    def test_an_unknown_rank_is_refused(self) -> None:
        model = division(FLOAT, [None], [None], broadcast=1, axis=0, opset=6)
        model.graph.input[1].type.tensor_type.ClearField("shape")
        with one_line(
            ModelError, "node 'ratio' (Div) is not representable in operator set 13", "axis=0", "the rank of B"
        ):
            convert_opset(model, 13)


class TestElementTypes:
    """Every element type, from every version that allows it to every version that can represent it."""

    @pytest.mark.parametrize("element_type", DIV_14.element_types, ids=str)
    @pytest.mark.parametrize("constant", [False, True], ids=["run-time", "constant"])
    def test_through_all_versions(self, element_type: ElementType, constant: bool) -> None:
        a, b = _arrays(element_type, A_SHAPE)
        b = np.where(b == 0, a.dtype.type(3), b) if element_type.is_integer else b
        arrays = {"A": a} if constant else {"A": a, "B": b}
        for source in SOURCES:
            if element_type not in find("Div", opset=source).element_types:
                continue
            model = division(element_type, A_SHAPE, b if constant else A_SHAPE, opset=source)
            wanted = run(model, arrays)["C"].tobytes()
            for opset in OPSETS:
                if opset >= 13 or element_type.name != "bfloat16":
                    assert run(convert_opset(model, opset).model, arrays)["C"].tobytes() == wanted
                    continue
                with one_line(ModelError, f"is not representable in operator set {opset}", "node 'ratio' (Div)"):
                    convert_opset(model, opset)

    def test_an_unknown_type_is_refused_only_if_it_matters(self) -> None:
        model = text_model("a2 = d.Unknown(a) b2 = d.Unknown(b) c = Div(a2, b2)", opset=13)
        assert convert_opset(model, 15).changes == ()
        with one_line(ModelError, "Div-7 lacks", "the element type is not known; declare it"):
            convert_opset(model, 7)


@pytest.mark.parametrize("node", ["Div <consumed_inputs = [0, 0]> (a, b)", "Reciprocal <consumed_inputs = [0]> (b)"])
def test_hints_dropped(node: str) -> None:
    """`consumed_inputs` has no effect, and is dropped where the version lacks it."""
    converted = convert_opset(text_model(f"c = {node}", opset=1), 7)
    assert len(converted.model.graph.node[0].attribute) == 0
    assert [change.what for change in converted.changes] == ["consumed_inputs dropped"]


@pytest.mark.parametrize("element_type", RECIPROCAL_13.element_types, ids=str)
def test_reciprocal_through_all_versions(element_type: ElementType) -> None:
    """Reciprocal 1, 6 and 13 differ in their types alone."""
    values = edge_values(element_type)
    tensor = f"{element_type}[{values.size}]"
    legal = [o for o in SOURCES if element_type in find("Reciprocal", opset=o).element_types]
    for source, opset in product(legal, OPSETS):
        model = text_model("[inverse] Y = Reciprocal(X)", f"{tensor} X", f"{tensor} Y", opset=source)
        if opset in legal:
            wanted = run(model, {"X": values})["Y"].tobytes()
            assert run(convert_opset(model, opset).model, {"X": values})["Y"].tobytes() == wanted
        else:
            with one_line(ModelError, "node 'inverse' (Reciprocal)", "lacks bfloat16"):
                convert_opset(model, opset)


class TestChanges:
    """The report names each change."""

    @pytest.mark.parametrize(
        ("shape", "attributes", "what"),
        [
            ((3, 4), {"broadcast": 1, "axis": 1}, "axis=1 written as B of 3 dimensions, the last 1 of size 1"),
            ((4, 5), {"broadcast": 1, "axis": 2}, "axis and broadcast dropped"),
            ((1,), {"broadcast": 1, "axis": 0}, "axis and broadcast dropped"),
            ((4, 5), {"broadcast": 1}, "broadcast dropped"),
        ],
    )
    def test_the_change_is_told(self, shape: tuple[int, ...], attributes: dict[str, Any], what: str) -> None:
        (change,) = convert_opset(division(FLOAT, A_SHAPE, shape, opset=6, **attributes), 7).changes
        assert change.what == what
        assert ("one element fits anywhere" in change.why) is (shape == (1,))


def test_names_new_names_are_new() -> None:
    """New names differ from all names in the file."""
    model = division(INT8, [1], np.array([-1], np.int8), opset=14)
    taken = [f"ratio_{hint}" for hint in ("A_cast", "A_cast_Cast", "B", "quotient", "back", "back_Cast")]
    for name in taken:
        model.graph.initializer.append(numpy_helper.from_array(np.array([1], np.int8), name))
    converted = convert_opset(model, 13).model
    assert run(converted, {"A": np.array([-128], np.int8)})["C"].tolist() == [-128]
    assert {node.name for node in converted.graph.node} >= {"ratio"}


@pytest.mark.parametrize("element_type", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("opset", [7, 13])
def test_eight_bits_in_32_bit_integers(element_type: ElementType, opset: int) -> None:
    """int8 and uint8: all pairs."""
    every = np.arange(256, dtype=np.uint8).view(dtype_of(element_type))
    a, b = (x.ravel() for x in np.meshgrid(every, every))
    converted = convert_opset(division(element_type, [a.size], [a.size], opset=14), opset).model
    quotients = run(converted, {"A": a, "B": b})["C"]
    assert quotients.tobytes() == div(a, b, zero_divisor="zero").tobytes()


def test_what_cannot_be_carried_is_refused() -> None:
    """A type that no Cast takes, and one without a wider type."""
    with pytest.raises(ValueError, match="Div-6 lacks bfloat16, and the operator set has no Cast"):
        promotion(BFLOAT16, DIV_6, 12)
    assert promotion(BFLOAT16, DIV_6, 13) is FLOAT
    with pytest.raises(ValueError, match="Div-1 lacks int64"):
        promotion(INT64, DIV_1, 5)
