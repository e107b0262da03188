"""ONNX files of any operator set and IR version in the reference engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, SparseTensorProto, TensorProto, helper, numpy_helper

from tests.models.built_models import one_line, text_model, written
from vinculum.errors import ElementTypeError, ModelError
from vinculum.models import DivisionRecord, load

A, B = np.array([6, 9], np.float32), np.array([2, 3], np.float32)
K = "float[2] a, float[2] b, bool k"
FUNCTION = "F (x) => (y) { [n] y = %s }"
OTHER = '<opset_import: ["e": 1], domain: "d"> '


@pytest.fixture
def division() -> ModelProto:
    """Return a model that divides, to be changed."""
    return text_model("[d] c = Div(a, b)", ir_version=9)


class TestVersions:
    """Models before IR version 3 import no operator set, those of version 1 leave attributes' types out."""

    def test_before_ir_version_3(self, division: ModelProto) -> None:
        del division.opset_import[:]
        division.ir_version = 2
        model = load(division)
        assert model.divisions[0].operator == "Div-1"
        assert model.run({"a": A, "b": B})["c"].tolist() == [3, 3]

    def test_attributes_without_a_type(self) -> None:
        node = "c = Div <broadcast = 1, axis = 0, consumed_inputs = [0, 0]> (a, b)"
        proto = text_model(node, "float[2,2] a, float[2] b", "float[2,2] c", opset=1, ir_version=1)
        for attribute in proto.graph.node[0].attribute:
            attribute.ClearField("type")
        dividend = np.full((2, 2), 6, np.float32)
        assert load(proto).run({"a": dividend, "b": B})["c"].tolist() == [[3, 3], [2, 2]]

    def test_ir_versions_to_come(self, division: ModelProto) -> None:
        division.ir_version = 2**40
        assert load(division).run({"a": A, "b": B})["c"].tolist() == [3, 3]


class TestTensorsOfSubgraphsAndAttributes:
    """External data is found in every place of a tensor, and must be inside the model's folder."""

    @pytest.fixture
    def weight(self, tmp_path: Path) -> TensorProto:
        """Return a tensor whose data is in ``data.bin``."""
        (tmp_path / "data.bin").write_bytes(B.tobytes())
        tensor = numpy_helper.from_array(B, "w")
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="data.bin")
        return tensor

    def _model(self, weight: TensorProto) -> ModelProto:
        """Return a model with the tensor as a top initializer, a subgraph's, a constant, and a function's default."""
        branch = "() => (float[2] t) { t = Div(b, w) }"
        nodes = f"""k = Constant <value = float {{0}}> () f = d.F() b = Sum(k, f, top)
            c = If(yes) <then_branch = t {branch}, else_branch = e {branch}>"""
        function = "F <k: tensor = float {0}> () => (z) { z = Constant <value: tensor = @k> () }"
        model = text_model(nodes, "", "float[2] c", function, constants="float top = {0}, bool yes = {1}")
        graph = model.graph
        graph.node[0].attribute[0].t.CopyFrom(weight)
        model.functions[0].attribute_proto[0].t.CopyFrom(weight)
        for attribute in graph.node[3].attribute:
            attribute.g.initializer.append(weight)
        graph.initializer[0].CopyFrom(weight)
        graph.initializer[0].name = "top"
        return model

    def test_read(self, weight: TensorProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """For a model in memory, the working directory is its folder."""
        proto = self._model(weight)
        assert load(written(proto, tmp_path)).run({})["c"].tolist() == [3, 3]
        monkeypatch.chdir(tmp_path)
        for given in (proto, proto.SerializeToString()):
            assert load(given).run({})["c"].tolist() == [3, 3]

    @pytest.mark.parametrize(
        ("place", "title"),
        [
            ("initializer", "initializer 'top'"),
            ("subgraph", "initializer 'w'"),
            ("constant", "attribute 'value' of node 'k' (Constant)"),
            ("function", "attribute 'k' of function 'F'"),
            ("sparse", "attribute 'sparse_value' of node 'k' (Constant)"),
        ],
    )
    def test_kept_inside(
        self, weight: TensorProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, title: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        proto = self._model(weight)
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
        with one_line(ModelError, f"the external data of {title} is at '../data.bin'; allowed: a path relative to"):
            load(proto)


class TestMalformed:
    """Bad input: a truncated or malformed ONNX file, a wrong version."""

    @pytest.mark.parametrize(
        ("change", "parts"),
        [
            (lambda m: m.ClearField("opset_import"), ("imports no operator set",)),
            (lambda m: m.ClearField("ir_version"), ("no ONNX graph with an IR version",)),
            (lambda m: m.ClearField("graph"), ("no ONNX graph with an IR version",)),
            (lambda m: setattr(m.opset_import[0], "version", 0), ("operator set 0 of 'ai.onnx'", "from 1 on")),
            (lambda m: setattr(m.opset_import[0], "version", -1), ("operator set -1 of 'ai.onnx'", "from 1 on")),
            (lambda m: setattr(m.opset_import[0], "version", 999), ("set 999 of 'ai.onnx'", ": install a newer one")),
            (lambda m: m.opset_import.add(domain="ai.onnx", version=7), ("operator sets 17 and 7 of 'ai.onnx'",)),
            (lambda m: m.graph.node[0].attribute.add(name="x"), ("node 'd' (Div)", "attribute 'x'")),
            (lambda m: m.graph.input[0].ClearField("type"), ("input 'a'", "no element type")),
            (lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 77), ("element type number 77",)),
        ],
    )
    def test_refused(self, division: ModelProto, change: Callable[[ModelProto], object], parts: Sequence[str]) -> None:
        change(division)
        with one_line(ModelError, *parts):
            load(division)

    def test_subgraphs_too_deep(self, division: ModelProto) -> None:
        content = division.graph.node[0].SerializeToString()
        for _ in range(2000):
            # Graph.node is field 1; Attribute: name 1, type 20, g 6; Node.attribute is field 5.
            graph = b"\x0a" + _varint(len(content)) + content
            attribute = b"\x0a\x01g\xa0\x01\x05\x32" + _varint(len(graph)) + graph
            content = b"\x22\x02If\x2a" + _varint(len(attribute)) + attribute
        division.graph.node.add()
        deep = b"\x3a" + _varint(len(content) + 4) + b"\x0a" + _varint(len(content)) + content
        with one_line(ModelError, "not a readable ONNX file"):
            load(division.SerializeToString() + deep)

    @pytest.mark.parametrize("name", ["MARKop", "MARKin", "MARKw", "MARKdim", "MARKkey", "MARKattr"])
    def test_names_that_are_not_utf_8(self, name: str) -> None:
        weight = helper.make_tensor("MARKw", TensorProto.FLOAT, [1], [1.0])
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="MARKkey", value="x")
        model = text_model("c = MARKop <MARKattr = 1> (MARKin)", "float[MARKdim] MARKin", "float[MARKdim] c")
        model.graph.initializer.append(weight)
        content = model.SerializeToString()
        assert name.encode() in content
        with one_line(ModelError, "not"):
            load(content.replace(name.encode(), b"\xff" + name[1:].encode()))


class TestStructure:
    """Bad input: a malformed graph, or an operator of a domain that is not imported."""

    @pytest.mark.parametrize(
        ("nodes", "functions", "parts"),
        [
            ("[n] c = Div(a, x)", (), ("node 'n' (Div) uses 'x'",)),
            ("[n] c = Neg(d) d = Neg(a)", (), ("node 'n' (Neg) uses 'd'", "no node before")),
            ("c = Neg(a) c = Neg(a)", (), ("produces 'c'", "already")),
            ("a = Neg(b) c = Neg(a)", (), ("produces 'a'", "already")),
            ("d = Neg(a)", (), ("output 'c'", "no node")),
            (
                "c = If(k) <then_branch = t () => (float[2] r) { r = Neg(a) }, "
                "else_branch = e () => (float[2] r) { [n] r = Neg(later) }> later = Neg(a)",
                (),
                ("node 'n' (Neg) uses 'later'",),
            ),
            ("c = d.F(a)", (FUNCTION % "Neg(a)",), ("node 'n' (Neg) uses 'a'",)),
            ("[n] c = custom.Foo(a)", (), ("node 'n' (custom.Foo)", "does not import", "'custom'")),
            ("c = d.F(a)", (OTHER + FUNCTION % "Neg(x)",), ("'n' (Neg)", "'ai.onnx'")),
        ],
    )
    def test_by_name(self, nodes: str, functions: tuple[str, ...], parts: tuple[str, ...]) -> None:
        with one_line(ModelError, *parts):
            load(text_model(nodes, "float[2] a, float[2] b, bool k", "float[2] c", *functions))

    def test_initializers_twice(self) -> None:
        model = text_model("c = Neg(w)", "", constants="float[2] w = {1, 2}, float[2] w = {1, 2}")
        with one_line(ModelError, "initializer 'w' is defined twice"):
            load(model)

    def test_sparse_initializers(self) -> None:
        model = text_model("c = Neg(a)")
        weight = helper.make_tensor("w", 1, [2], [1, 2])
        sparse = SparseTensorProto(dims=[2], values=weight, indices=numpy_helper.from_array(np.arange(2)))
        model.graph.sparse_initializer.append(sparse)
        with one_line(ModelError, "sparse"):
            load(model)


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes([*encoded, number])


def branches(then: str, other: str = "") -> str:
    """Return the branches of an If, the nodes of which make t."""
    sides = (("then", then), ("else", other or then))
    return "<" + ", ".join(f"{side}_branch = {side} () => (float[] t) {{ {nodes} }}" for side, nodes in sides) + ">"


class TestOurEngine:
    """Every Div and Reciprocal node of a model is computed to the last bit."""

    @pytest.mark.parametrize("choice", [True, False])
    def test_in_both_branches(self, choice: bool) -> None:
        model = load(text_model(f"c = If(k) {branches('t = Div(a, b)', 't = Reciprocal(b)')}", K))
        records: list[DivisionRecord] = []
        output = model.run({"a": A, "b": B, "k": np.array(choice)}, observer=records.append)["c"]
        assert output.tolist() == ((A if choice else np.float32(1)) / B).tolist()
        path = "If:then_branch" if choice else "If:else_branch"
        assert [record.division.path for record in records] == [path]
        assert (records[0].dividend is None) is not choice

    def test_in_operators_that_are_defined_by_others(self) -> None:
        records: list[DivisionRecord] = []
        model = load(text_model("c = MeanVarianceNormalization <axes = [0]> (a)", "float[2] a"))
        model.run({"a": A}, observer=records.append)
        assert [record.division.operator for record in records] == ["Div-14"]

    def test_an_initializer_of_a_branch_has_a_name_of_its_own(self) -> None:
        """ONNX Runtime uses the outer value, the reference evaluator that of the branch."""
        hiding = branches("t = Div(a, w)").replace("(float[] t) {", "(float[] t) <float[2] w = {2, 2}> {")
        model = text_model(f"c = If(k) {hiding}", K, constants="float[2] w = {100, 100}")
        with one_line(ModelError, "initializer 'w' of graph 'then' has the name of a value around it", "rename it"):
            load(model)


class TestErrors:
    """A node that cannot be run: one line that names it, its operator and the reason."""

    @pytest.mark.parametrize(
        ("nodes", "parts"),
        [
            ("[n] c = Foo(a)", ("node 'n' (Foo)", "does not implement")),
            ("[n] c = d.Foo(a)", ("node 'n' (d.Foo)", "does not implement")),
            ("[n] c = Cast(a)", ("node 'n' (Cast)", "'to'")),
            ("[n] c = Transpose <perm = [0, 1]> (a)", ("node 'n' (Transpose)",)),
            ("[n] c = MatMul(a, m)", ("node 'n' (MatMul)",)),
            ("[n] c = Neg(a, b)", ("node 'n' (Neg)",)),
            ("[n] c = Neg <run = 1> (a)", ("node 'n' (Neg)",)),
            # The innermost node is named.
            (f"[m] c = If(k) {branches('[n] t = Transpose <perm = [0, 1]> (a)')}", ("node 'n' (Transpose)",)),
            ("c = SequenceConstruct(a)", ("output 'c' is not a tensor",)),
            ("b2 = Reshape(a, s) [n] c = GroupNormalization(b2, b, b)", ("cannot be run: ", "num_groups")),
            ("[n] x, more = Neg(a) c = Div(x, more)", ("node 'n' (Neg) does not produce its output 'more', which is",)),
            (
                f"[n] x, more = Neg(a) c = If(k) {branches('t = Div(x, more)')}",
                ("does not produce its output, which is used",),
            ),
        ],
    )
    def test_of_other_operators(self, nodes: str, parts: tuple[str, ...]) -> None:
        constants = "bool k = {1}, float[3] m = {1, 1, 1}, int64[3] s = {1, 2, 1}"
        model = load(text_model(nodes, outputs="float[] c", constants=constants, opset=21))
        with one_line(ModelError, *parts):
            model.run({"a": A, "b": B})

    def test_of_types_that_only_the_run_knows(self) -> None:
        # The evaluator replaces a TypeError, but must not replace those of this package.
        nodes = f"x = If(k) {branches('t = Cast <to = 9> (a)', 't = Identity(a)')} y = d.Foo(x)"
        function = "Foo (p) => (q) { [n] q = Reciprocal(p) }"
        model = load(text_model(nodes, "float[2] a, bool k", "float[2] y", function))
        assert model.run({"a": B, "k": np.array(False)})["y"].tolist() == (np.float32(1) / B).tolist()
        with one_line(ElementTypeError, "node 'n' (Reciprocal-13 in Foo)", "bool"):
            model.run({"a": B, "k": np.array(True)})


class TestOutputs:
    """Outputs that the evaluator does not produce, or that have no name."""

    def test_a_value_that_is_not_given_and_not_used(self) -> None:
        model = load(text_model("b, more = Neg(a) c = Div(b, a)", "float[2] a"))
        assert model.run({"a": A})["c"].tolist() == [-1, -1]

    def test_outputs_without_a_name_are_no_inputs(self) -> None:
        nodes = ", places = TopK(a, one) c = Clip(a, , most)"
        constants = "float most = {7}, int64[1] one = {1}"
        model = load(text_model(nodes, "float[2] a", "float[2] c, int64[1] places", constants=constants))
        assert model.run({"a": A})["c"].tolist() == [6, 7]


def test_floating_point_exceptions_make_no_noise(capfd: pytest.CaptureFixture[str]) -> None:
    model = load(text_model("l = Log(a) e = Exp(b) m = Mul(l, e) c = Div(m, l)"))
    output = model.run({"a": np.array([0, -1], np.float32), "b": np.array([1000, 1], np.float32)})["c"]
    assert np.isnan(output[1])
    assert capfd.readouterr() == ("", "")
