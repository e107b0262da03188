"""ONNX files of any operator set and IR version."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, TensorProto, helper, numpy_helper

from vinculum.errors import ModelError
from vinculum.models import load

OneLine = Callable[..., AbstractContextManager[None]]
File = Callable[..., Path]
Build = Callable[..., ModelProto]
FLOATS = (TensorProto.FLOAT, [2])
A, B = np.array([6, 9], np.float32), np.array([2, 3], np.float32)


def _div(**attributes: Any) -> Any:
    return helper.make_node("Div", ["a", "b"], ["c"], "d", **attributes)


@pytest.fixture
def division(onnx_model: Build) -> ModelProto:
    """Return a model that divides, to be changed."""
    return onnx_model([_div()], {"a": FLOATS, "b": FLOATS}, {"c": FLOATS})


@pytest.fixture
def save(tmp_path: Path) -> Callable[[ModelProto], Path]:
    """Return a function that writes a model."""

    def write(model: ModelProto) -> Path:
        path = tmp_path / "model.onnx"
        path.write_bytes(model.SerializeToString())
        return path

    return write


class TestVersions:
    """Models before IR version 3 import no operator set, those of version 1 leave attributes' types out."""

    def test_before_ir_version_3(self, division: ModelProto, save: Callable[[ModelProto], Path]) -> None:
        del division.opset_import[:]
        division.ir_version = 2
        model = load(save(division))
        assert model.divisions[0].operator == "Div-1"
        assert model.run({"a": A, "b": B})["c"].tolist() == [3, 3]

    def test_attributes_without_a_type(self, onnx_model: Build, save: Callable[[ModelProto], Path]) -> None:
        proto = onnx_model(
            [_div(broadcast=1, axis=0, consumed_inputs=[0, 0])],
            {"a": (TensorProto.FLOAT, [2, 2]), "b": FLOATS},
            {"c": (TensorProto.FLOAT, [2, 2])},
            opset=1,
            ir_version=1,
        )
        for attribute in proto.graph.node[0].attribute:
            attribute.ClearField("type")
        dividend = np.full((2, 2), 6, np.float32)
        assert load(save(proto)).run({"a": dividend, "b": B})["c"].tolist() == [[3, 3], [2, 2]]

    def test_ir_versions_to_come(self, division: ModelProto, save: Callable[[ModelProto], Path]) -> None:
        division.ir_version = 2**40
        assert load(save(division)).run({"a": A, "b": B})["c"].tolist() == [3, 3]

    def test_operator_sets_to_come(self, division: ModelProto, save: Callable[[ModelProto], Path]) -> None:
        """What a later operator set means by Div is not known yet."""
        division.opset_import[0].version = 999
        with pytest.raises(
            ModelError, match=r"^the model imports operator set 999 of 'ai.onnx'; .* install a newer one$"
        ):
            load(save(division))


class TestTensorsOfSubgraphsAndAttributes:
    """External data are found wherever a tensor may stand, and kept inside the folder there too."""

    @pytest.fixture
    def weight(self, tmp_path: Path) -> TensorProto:
        """Return a tensor whose data stand in ``data.bin``."""
        (tmp_path / "data.bin").write_bytes(B.tobytes())
        tensor = numpy_helper.from_array(B, "w")
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="data.bin")
        return tensor

    def _model(self, build: Build, weight: TensorProto) -> ModelProto:
        """Return a model with the tensor as a top initializer, a subgraph's, a constant, and a function's default."""
        inner = helper.make_node("Div", ["b", "w"], ["t"])
        branch = helper.make_graph([inner], "g", [], [helper.make_tensor_value_info("t", *FLOATS)], [weight])
        constant = helper.make_node("Constant", [], ["z"])
        constant.attribute.add(name="value", ref_attr_name="k", type=AttributeProto.TENSOR)
        function = helper.make_function(
            "d",
            "F",
            [],
            ["z"],
            [constant],
            [helper.make_opsetid("", 17)],
            attribute_protos=[helper.make_attribute("k", weight)],
        )
        top = numpy_helper.from_array(B, "top")
        top.CopyFrom(weight)
        top.name = "top"
        nodes = [
            helper.make_node("Constant", [], ["k"], value=weight),
            helper.make_node("F", [], ["f"], domain="d"),
            helper.make_node("Sum", ["k", "f", "top"], ["b"]),
            helper.make_node("If", ["yes"], ["c"], then_branch=branch, else_branch=branch),
        ]
        yes = helper.make_tensor("yes", TensorProto.BOOL, [], [True])
        return build(nodes, {}, {"c": FLOATS}, initializers=[top, yes], functions=[function], domains=["d"])

    def test_read(
        self, onnx_model: Build, save: Callable[[ModelProto], Path], weight: TensorProto, monkeypatch: Any
    ) -> None:
        path = save(self._model(onnx_model, weight))
        monkeypatch.chdir("/")
        assert load(path).run({})["c"].tolist() == [3, 3]

    @pytest.mark.parametrize("place", ["initializer", "subgraph", "constant", "function", "sparse"])
    def test_kept_inside(
        self, onnx_model: Build, save: Callable[[ModelProto], Path], weight: TensorProto, one_line: OneLine, place: str
    ) -> None:
        proto = self._model(onnx_model, weight)
        graph = proto.graph
        if place == "sparse":
            sparse = graph.node[0].attribute.add(name="sparse_value", type=AttributeProto.SPARSE_TENSOR).sparse_tensor
            sparse.values.CopyFrom(weight)
            tensor = sparse.values
        else:
            tensor = {
                "initializer": graph.initializer[0],
                "subgraph": graph.node[3].attribute[0].g.initializer[0],
                "constant": graph.node[0].attribute[0].t,
                "function": proto.functions[0].attribute_proto[0].t,
            }[place]
        tensor.external_data[0].value = "../data.bin"
        with one_line(ModelError, "'../data.bin'", "relative to the model's folder"):
            load(save(proto))

    def test_a_malformed_constant(self, onnx_file: File, one_line: OneLine) -> None:
        tensor = TensorProto(data_type=TensorProto.FLOAT, dims=[2**60], raw_data=b"1234")
        node = helper.make_node("Constant", [], ["c"], "k", value=tensor)
        with one_line(ModelError, "attribute 'value' of node 'k' (Constant)", "has 4"):
            load(onnx_file([node], {}, {"c": FLOATS}))


class TestMalformed:
    """Bad input: a truncated or malformed ONNX file, a wrong version."""

    def _refused(self, save: Callable[[ModelProto], Path], proto: ModelProto) -> None:
        load(save(proto))

    def test_no_operator_set(self, division: ModelProto, save: Callable[[ModelProto], Path], one_line: OneLine) -> None:
        del division.opset_import[:]
        with one_line(ModelError, "imports no operator set"):
            load(save(division))

    def test_no_graph_and_no_ir_version(
        self, division: ModelProto, save: Callable[[ModelProto], Path], one_line: OneLine
    ) -> None:
        for field in ("ir_version", "graph"):
            division.ClearField(field)
            with one_line(ModelError, "no ONNX graph with an IR version"):
                load(save(division))

    @pytest.mark.parametrize("version", [0, -1])
    def test_operator_sets_below_1(
        self, division: ModelProto, save: Callable[[ModelProto], Path], one_line: OneLine, version: int
    ) -> None:
        division.opset_import[0].version = version
        with one_line(ModelError, f"operator set {version} of 'ai.onnx'", "from 1 on"):
            load(save(division))

    def test_two_operator_sets(
        self, division: ModelProto, save: Callable[[ModelProto], Path], one_line: OneLine
    ) -> None:
        division.opset_import.add(domain="ai.onnx", version=7)
        with one_line(ModelError, "operator sets 17 and 7 of 'ai.onnx'"):
            load(save(division))

    def test_an_attribute_without_a_value(
        self, division: ModelProto, save: Callable[[ModelProto], Path], one_line: OneLine
    ) -> None:
        division.graph.node[0].attribute.add(name="x")
        with one_line(ModelError, "node 'd' (Div)", "attribute 'x'"):
            load(save(division))

    def test_an_input_without_an_element_type(
        self, division: ModelProto, save: Callable[[ModelProto], Path], one_line: OneLine
    ) -> None:
        division.graph.input[0].ClearField("type")
        with one_line(ModelError, "input 'a'", "no element type"):
            load(save(division))

    def test_an_unknown_element_type(self, onnx_file: File, one_line: OneLine) -> None:
        with one_line(ModelError, "element type number 77"):
            load(onnx_file([helper.make_node("Neg", ["a"], ["c"])], {"a": (77, [2])}, {"c": FLOATS}))

    def test_subgraphs_too_deep(
        self, division: ModelProto, save: Callable[[ModelProto], Path], one_line: OneLine
    ) -> None:
        content = division.graph.node[0].SerializeToString()
        for _ in range(2000):
            # Graph.node is field 1; Attribute: name 1, type 20, g 6; Node.attribute is field 5.
            graph = b"\x0a" + _varint(len(content)) + content
            attribute = b"\x0a\x01g\xa0\x01\x05\x32" + _varint(len(graph)) + graph
            content = b"\x22\x02If\x2a" + _varint(len(attribute)) + attribute
        division.graph.node.add()
        path = save(division)
        path.write_bytes(
            path.read_bytes() + b"\x3a" + _varint(len(content) + 4) + b"\x0a" + _varint(len(content)) + content
        )
        with one_line(ModelError, "not a readable ONNX file"):
            load(path)


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes([*encoded, number])
