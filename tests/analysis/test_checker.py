"""The check of a whole model: from files, in both formats, through functions, subgraphs and bodies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

import vinculum
from tests.analysis.containment import complaint, looked_at
from tests.analysis.trying import Engine
from vinculum.analysis import Frame, Report, Severity
from vinculum.analysis.accuracy import accuracy
from vinculum.analysis.assumptions import read_assumptions
from vinculum.errors import AttributeValueError, ModelError

_ROOT = Path(__file__).parents[2]


def checked(text: str, **options: object) -> Report:
    """Return what is found in a model that is written as `onnx.parser` reads it."""
    return vinculum.check(onnx.parser.parse_model(text), **{"runs": 0, **options})  # type: ignore[arg-type]


class TestSources:
    """A path, a model in memory."""

    def test_a_file(self) -> None:
        report = vinculum.check(_ROOT / "examples" / "layer_norm" / "model.onnx")
        assert report.findings == ()
        assert report.nodes > 5
        assert report.seconds > 0

    def test_a_model_in_memory_is_not_changed(self) -> None:
        model = onnx.load(_ROOT / "examples" / "layer_norm" / "model.onnx")
        before = model.SerializeToString(deterministic=True)
        vinculum.check(model)
        assert model.SerializeToString(deterministic=True) == before

    def test_an_ir_is_refused(self) -> None:
        with pytest.raises(ModelError, match="only ONNX models are analysed; give the model that it was made from"):
            vinculum.check(_ROOT / "examples" / "openvino_rounding" / "converted.xml")

    def test_data_in_another_file(self, tmp_path: Path) -> None:
        weights = numpy_helper.from_array(np.arange(1, 5001, dtype=np.float32), "w")
        graph = helper.make_graph(
            [helper.make_node("Div", ["x", "w"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5000])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [5000])],
            [weights],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
        assert vinculum.check(tmp_path / "m.onnx").findings == ()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"as_type": "float8"}, "as_type is 'float8'; allowed: 'float16', 'bfloat16'"),
            ({"profile": ["misra"]}, "profile is 'misra'; allowed: 'sonnx', 'flushing', 'narrowing', 'domains'"),
        ],
    )
    def test_an_unknown_option_is_refused(self, options: dict[str, object], message: str) -> None:
        with pytest.raises(AttributeValueError, match=message):
            vinculum.check(_ROOT / "examples" / "layer_norm" / "model.onnx", **options)  # type: ignore[arg-type]

    def test_what_is_no_model_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "m.onnx").write_bytes(b"nothing of the kind")
        with pytest.raises(ModelError):
            vinculum.check(tmp_path / "m.onnx")

    @pytest.mark.parametrize(
        ("body", "function", "words"),
        [
            (
                "y = own.f (x)",
                "c = own.f (a)",
                "a function calls itself: 'f' -> 'f'; ONNX functions may not be recursive",
            ),
            ("y = Div (x, lost)", "c = Div (a, a)", "node 'y' (Div) uses 'lost', which no node before it produces"),
        ],
    )
    def test_a_malformed_model_is_refused_by_its_name(
        self, tmp_path: Path, body: str, function: str, words: str
    ) -> None:
        model = onnx.parser.parse_model(
            f"""<ir_version: 8, opset_import: ["" : 18, "own" : 1]> g (float[3] x) => (float[3] y) {{ {body} }}
            <domain: "own", opset_import: ["" : 18, "own" : 1]> f (a) => (c) {{ {function} }}"""
        )
        path = tmp_path / "m.onnx"
        path.write_bytes(model.SerializeToString())
        for look in (vinculum.check, accuracy):
            with pytest.raises(ModelError) as caught:
                look(path)
            assert str(caught.value) == f"model {str(path)!r}: {words}"


class TestInside:
    """What is found in functions, subgraphs and the bodies of operators, and what it is called."""

    def test_a_function_of_the_model(self) -> None:
        report = checked(
            """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
            g (float[3] x, float[3] d) => (float[3] y)
            { a = own.ratio <scale = 2.0> (x, d) y = own.ratio <scale = 3.0> (a, x) }
            <domain: "own", opset_import: ["" : 18]>
            ratio <scale> (a, b) => (c) { s = Constant <value_float: float = @scale> () m = Mul(b, s) c = Div(a, m) }"""
        )
        (found,) = report.findings
        assert (found.rule, found.scope, found.node) == ("zero-over-zero", "ratio", "c")

    def test_a_function_called_with_other_attributes(self) -> None:
        text = """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
            g (float[3] x) => (float[3] y) { y = own.guarded <epsilon = EPS> (x) }
            <domain: "own", opset_import: ["" : 18]>
            guarded <epsilon> (a) => (c)
            { e = Constant <value_float: float = @epsilon> () s = Abs(a) m = Add(s, e) c = Div(a, m) }"""
        assert checked(text.replace("EPS", "0.5")).findings == ()
        assert len(checked(text.replace("EPS", "0.0")).findings) == 1

    def test_a_branch_that_is_never_taken_is_not_looked_at(self) -> None:
        report = checked(
            """<ir_version: 8, opset_import: ["" : 18]> g (float x) => (float y) <bool c = {1}> {
            y = If (c) <then_branch = t () => (float a) { a = Neg(x) },
            else_branch = e () => (float b) { b = Div(x, x) }> }"""
        )
        assert report.findings == ()

    def test_the_place_in_a_branch(self) -> None:
        report = checked(
            """<ir_version: 8, opset_import: ["" : 18]> g (float x, bool c) => (float y) {
            y = If (c) <then_branch = t () => (float a) { a = Neg(x) },
            else_branch = e () => (float b) { b = Div(x, x) }> }"""
        )
        assert [(f.scope, f.node, f.path) for f in report.findings] == [("If:else_branch", "b", ("x",))]

    def test_the_body_of_an_operator(self) -> None:
        report = checked(
            """<ir_version: 8, opset_import: ["" : 18]> g (float[3] x) => (uint8[3] y, float s, uint8 z)
            { y, s, z = DynamicQuantizeLinear(x) }"""
        )
        assert [(f.rule, f.node, f.severity) for f in report.findings] == [("zero-over-zero", "y", Severity.POSSIBLE)]
        assert report.nodes == 1

    def test_an_unknown_operator_is_named_and_may_give_anything(self) -> None:
        report = checked(
            """<ir_version: 8, opset_import: ["" : 18, "com.other" : 1]>
            g (float[3] x) => (float[3] y) { a = com.other.Thing(x) b = com.other.Thing(a) y = Reciprocal(b) }"""
        )
        assert dict(report.unknown_operators) == {"com.other.Thing": 2}
        assert report.nodes == 3


class TestChoices:
    """What a condition chooses."""

    def test_a_value_that_is_always_chosen_is_not_computed_from_itself(self) -> None:
        report = checked(
            """<ir_version: 8, opset_import: ["" : 18]> g (int64[3] n, int64[3] k) => (int64[3] q) {
            c = Greater(n, n) w = Where(c, k, n) s = Add(w, w) q = Div(k, s) }""",
            assume=["n=2:2"],
        )
        assert (report.unknown_operators, report.findings) == ({}, ())


class TestLoops:
    """The state of a loop is what enough iterations make of it."""

    @pytest.mark.parametrize(
        "update", ["t = Add(s, one)", "t = Mul(s, s)", "t = Neg(s)", "t = Relu(s)", "t = Identity(s)"]
    )
    @pytest.mark.parametrize("trips", [0, 1, 2, 7])
    def test_every_result_lies_inside(self, update: str, trips: int) -> None:
        model = onnx.parser.parse_model(
            f"""<ir_version: 8, opset_import: ["" : 18]> g (float[3] x) => (float[3] y, float[K, 3] all)
            <float one = {{1}}, int64 n = {{{trips}}}, bool c = {{1}}> {{
            y, all = Loop (n, c, x) <body = b (int64 i, bool go, float[3] s) => (bool go2, float[3] t, float[3] u)
            {{ go2 = Identity(go) {update} u = Identity(t) }}> }}"""
        )
        array = np.array([-1.5, 0, 2], np.float32)
        known = read_assumptions(["x=-1.5:2"], model).tensors("float32")
        _, scope = looked_at(model, known)
        for name, result in zip(("y", "all"), Engine(model).run(None, {"x": array}), strict=True):
            assert complaint(scope.values[name], result) == ""

    def test_what_is_handed_on_unchanged_keeps_its_range(self) -> None:
        report = checked(
            """<ir_version: 8, opset_import: ["" : 18]> g (float[3] x, float[3] d) => (float[3] y, float[3] e)
            <int64 n = {3}, bool c = {1}> {
            y, e = Loop (n, c, x, d) <body = b (int64 i, bool go, float[3] s, float[3] k)
            => (bool go2, float[3] t, float[3] k2)
            { go2 = Identity(go) t = Div(s, k) k2 = Identity(k) }> }""",
            assume=["d=1:2"],
        )
        assert report.findings == ()

    def test_a_scan_sees_every_slice(self) -> None:
        text = """<ir_version: 8, opset_import: ["" : 18]> g (float[4, 3] x) => (float[3] y, float[4, 3] z)
            <float[3] w = {1, 1, 1}> {
            y, z = Scan <num_scan_inputs = 1, body = b (float[3] s, float[3] a) => (float[3] t, float[3] u)
            { t = Identity(s) u = Div(s, a) }> (w, x) }"""
        assert [f.rule for f in checked(text).findings] == ["zero-divisor"]
        assert checked(text, assume=["x=1:2"]).findings == ()


class TestWhere:
    """Where a finding is."""

    def test_in_the_users_program(self) -> None:
        path = Path(__file__).parent / "corpus" / "models" / "floor_without_correction.onnx"
        (found,) = vinculum.check(path, assume=["n=-9:9", "m=1:9"], runs=0).findings
        assert found.frames == (Frame("model.py", 7, "forward", "return positions // strides", False),)

    def test_the_path_from_an_input(self) -> None:
        text = """<ir_version: 8, opset_import: ["" : 18]> g (float[3] x) => (float[3] y)
            { a = Relu(x) b = Abs(a) c = Sqrt(b) y = Div(x, c) }"""
        (found,) = checked(text).findings
        assert found.path == ("x", "a", "b", "c")

    def test_a_fingerprint_survives_other_names_and_equal_ones_get_numbers(self) -> None:
        text = """<ir_version: 8, opset_import: ["" : 18]> g (float[3] x) => (float[3] y)
            { a = Relu(x) y0 = Div(x, a) b = Relu(y0) y = Div(y0, b) }"""
        first = [f.fingerprint for f in checked(text).findings]
        assert [f.fingerprint for f in checked(text.replace("y0", "other")).findings] == first
        assert len(set(first)) == 2
        twice = """<ir_version: 8, opset_import: ["" : 18]> g (float[3] x) => (float[3] y, float[3] z)
            { a = Relu(x) y = Div(x, a) b = Relu(x) z = Div(x, b) }"""
        prints = [f.fingerprint for f in checked(twice).findings]
        assert prints == [prints[0], f"{prints[0]}-2"]

    def test_nodes_of_one_name_have_findings_of_their_own(self) -> None:
        proto = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 18]>
            g (float[3] x, float[3] d, float[3] e) => (float[3] y, float[3] z)
            { [n] y = Div(x, d) [n] z = Div(x, e) }""")
        assert [(f.node, f.divisor) for f in vinculum.check(proto, runs=0).findings] == [("n", "d"), ("n (z)", "e")]


class TestMalformed:
    """A node that its operator does not allow is told of like an unknown one, and ends nothing."""

    @pytest.mark.parametrize(
        "node",
        [
            "y = Div(x)",
            "y = Transpose <perm = [5, 6]> (x)",
            "y = Gather <axis = 7> (x, x)",
            "y = Concat <axis = 9> (x, x)",
        ],
    )
    def test_gives_anything(self, node: str) -> None:
        report = checked(f'<ir_version: 8, opset_import: ["" : 18]> g (float[3] x) => (float[3] y) {{ {node} }}')
        assert len(report.unknown_operators) <= 1
        assert report.nodes == 1
