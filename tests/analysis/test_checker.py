"""The check of a whole model: from files, in both formats, through functions, subgraphs and bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import vinculum
from tests.analysis.containment import complaint, looked_at
from tests.analysis.hazardous import parsed
from tests.analysis.trying import Engine
from tests.models.built_models import text_model
from vinculum.analysis import Frame, Report, Severity
from vinculum.analysis.accuracy import accuracy
from vinculum.analysis.assumptions import read_assumptions
from vinculum.analysis.places import explained
from vinculum.errors import AttributeValueError, ModelError
from vinculum.models.source import source_of

_ROOT = Path(__file__).parents[2]
_BRANCHES = """y = If (c) <then_branch = t () => (float a) { a = Neg(x) },
    else_branch = e () => (float b) { b = Div(x, x) }>"""


def checked(
    nodes: str, inputs: str = "float[3] x", output: str = "float y", constants: str = "", **more: Any
) -> Report:
    """Return what is found in a model of some nodes."""
    return vinculum.check(parsed(nodes, inputs, output, constants, opset=18), **{"runs": 0, **more})


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
        model = parsed("y = Div(x, w)", "float[5000] x")
        model.graph.initializer.append(numpy_helper.from_array(np.arange(1, 5001, dtype=np.float32), "w"))
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

    @pytest.mark.parametrize(
        ("body", "function", "words"),
        [
            ("y = d.f (x)", "c = d.f (a)", "a function calls itself: 'f' -> 'f'; ONNX functions may not be recursive"),
            ("y = Div (x, lost)", "c = Div (a, a)", "node 'y' (Div) uses 'lost', which no node before it produces"),
        ],
    )
    def test_a_malformed_model_is_refused_by_its_name(
        self, tmp_path: Path, body: str, function: str, words: str
    ) -> None:
        model = text_model(body, "float[3] x", "float[3] y", f"f (a) => (c) {{ {function} }}", ir_version=8)
        path = tmp_path / "m.onnx"
        path.write_bytes(model.SerializeToString())
        for look in (vinculum.check, accuracy):
            with pytest.raises(ModelError) as caught:
                look(path)
            assert str(caught.value) == f"model {str(path)!r}: {words}"


class TestInside:
    """Findings in functions, subgraphs and the bodies of operators, and the names of their places."""

    def test_a_function_of_the_model(self) -> None:
        """A function that is called twice, with different attributes, has one finding."""
        scaled = "{ s = Constant <value_float: float = @scale> () m = Mul(b, s) c = Div(a, m) }"
        nodes = "a = d.ratio <scale = 2.0> (x, e) y = d.ratio <scale = 3.0> (a, x)"
        model = text_model(nodes, "float[3] x, float[3] e", "float[3] y", f"ratio <scale> (a, b) => (c) {scaled}")
        (found,) = vinculum.check(model, runs=0).findings
        assert (found.rule, found.scope, found.node) == ("zero-over-zero", "ratio", "c")

    def test_functions_of_one_name(self) -> None:
        """In two domains they are two places, named as in `Model.divisions`; a run shows each."""
        ratio = "ratio (a, b) => (c) { c = Div(a, b) }"
        other = f'<opset_import: ["": 17], domain: "e"> {ratio}'
        model = text_model("a = d.ratio (x, x) y = e.ratio (a, x)", "float[3] x", "float[3] y", ratio, other)
        model.opset_import.add(domain="e", version=1)
        found = [(finding.scope, finding.severity) for finding in vinculum.check(model).findings]
        assert found == [("d:ratio", Severity.WITNESSED), ("e:ratio", Severity.WITNESSED)]
        assert [division.path for division in source_of(model).model().divisions] == ["d:ratio", "e:ratio"]

    def test_functions_of_long_names(self) -> None:
        names = [f"torch_nn_modules_transformer_TransformerEncoderLayer_encoder_layers_{layer}" for layer in (0, 1)]
        bodies = [f"{name} (a, b) => (c) {{ c = Div(a, b) }}" for name in names]
        model = text_model(f"a = d.{names[0]} (x, x) y = d.{names[1]} (a, x)", "float[3] x", "float[3] y", *bodies)
        assert [finding.scope for finding in vinculum.check(model, runs=0).findings] == names
        assert [division.path for division in source_of(model).model().divisions] == names

    @pytest.mark.parametrize(("epsilon", "findings"), [(0.5, 0), (0.0, 1)])
    def test_a_function_called_with_an_epsilon(self, epsilon: float, findings: int) -> None:
        body = "{ e = Constant <value_float: float = @epsilon> () s = Abs(a) m = Add(s, e) c = Div(a, m) }"
        nodes = f"y = d.guarded <epsilon = {epsilon}> (x)"
        model = text_model(nodes, "float[3] x", "float[3] y", f"guarded <epsilon> (a) => (c) {body}")
        assert len(vinculum.check(model, runs=0).findings) == findings

    def test_a_branch_that_is_never_taken_is_not_looked_at(self) -> None:
        assert checked(_BRANCHES, "float x", constants="bool c = {1}").findings == ()

    def test_the_place_in_a_branch(self) -> None:
        """The branch of a second If is another place, named as in `Model.divisions`."""
        report = checked(f"{_BRANCHES} {_BRANCHES.replace('y =', 'z =')}", "float x, bool c", "float y, float z")
        places = [(f"{number}:else_branch", "b", ("x",)) for number in ("If", "If#2")]
        assert [(f.scope, f.node, f.path) for f in report.findings] == places

    def test_the_body_of_an_operator(self) -> None:
        report = checked("y, s, z = DynamicQuantizeLinear(x)", output="uint8 y, float s, uint8 z")
        assert [(f.rule, f.node, f.severity) for f in report.findings] == [("zero-over-zero", "y", Severity.POSSIBLE)]
        assert report.nodes == 1

    def test_an_unknown_operator_is_named_and_may_give_anything(self) -> None:
        report = checked("a = own.Thing(x) b = own.Thing(a) y = Reciprocal(b)")
        assert dict(report.unknown_operators) == {"own.Thing": 2}
        assert report.nodes == 3


class TestChoices:
    """What a condition chooses."""

    def test_a_value_that_is_always_chosen_is_not_computed_from_itself(self) -> None:
        nodes = "c = Greater(n, n) w = Where(c, k, n) s = Add(w, w) q = Div(k, s)"
        report = checked(nodes, "int64[3] n, int64[3] k", "int64 q", assume=["n=2:2"])
        assert (report.unknown_operators, report.findings) == ({}, ())

    @pytest.mark.parametrize(
        ("first", "link", "last", "rules"),
        [
            ("Greater(x, one)", "c{1} = And(c{0}, c{0})", "d = Where(c40, x, one) y = Div(one, d)", []),
            ("Abs(x)", "c{1} = Add(c{0}, c{0})", "y = Softmax(c40)", []),
            ("ReduceL2(x)", "c{1} = Max(c{0}, c{0})", "y = Div(x, c40)", ["zero-over-zero"]),
            (
                "Equal(x, one)",
                "c{1} = And(c{0}, c{0})",
                "z = Neg(x) m = Cast <to = 7> (z) n = Cast <to = 7> (x) d = Where(c40, n, k) y = Div(m, d)",
                ["integer-zero-divisor", "min-over-minus-one"],
            ),
            (
                "Cast <to = 7> (x) s = Greater(x, one) t = Less(x, one)",
                "d{1} = Where(s, c{0}, k) c{1} = Where(t, c{0}, d{1})",
                "y = Div(c0, c40)",
                ["integer-zero-divisor", "min-over-minus-one"],
            ),
        ],
    )
    def test_what_is_shared_is_looked_at_once(self, first: str, link: str, last: str, rules: list[str]) -> None:
        """Each link uses the one before twice: without memory of visited values, forty links would take years."""
        links = " ".join(link.format(k, k + 1) for k in range(40))
        report = checked(f"c0 = {first} {links} {last}", constants="float one = {1}, int64 k = {1}")
        assert [finding.rule for finding in report.findings] == rules


class TestLoops:
    """The bounds of a loop's state hold after any number of iterations."""

    @pytest.mark.parametrize(
        "update", ["t = Add(s, one)", "t = Mul(s, s)", "t = Neg(s)", "t = Relu(s)", "t = Identity(s)"]
    )
    @pytest.mark.parametrize("trips", [0, 1, 2, 7])
    def test_every_result_lies_inside(self, update: str, trips: int) -> None:
        body = f"go2 = Identity(go) {update} u = Identity(t)"
        nodes = f"""y, all = Loop (n, c, x)
            <body = b (int64 i, bool go, float[3] s) => (bool go2, float[3] t, float[3] u) {{ {body} }}>"""
        constants = f"float one = {{1}}, int64 n = {{{trips}}}, bool c = {{1}}"
        model = parsed(nodes, outputs="float y, float all", constants=constants, opset=18)
        array = np.array([-1.5, 0, 2], np.float32)
        known = read_assumptions(["x=-1.5:2"], model).tensors("float32")
        _, scope = looked_at(model, known)
        for name, result in zip(("y", "all"), Engine(model).run(None, {"x": array}), strict=True):
            assert complaint(scope.values[name], result) == ""

    def test_what_is_handed_on_unchanged_keeps_its_range(self) -> None:
        nodes = """y, e = Loop (n, c, x, d)
            <body = b (int64 i, bool go, float[3] s, float[3] k) => (bool go2, float[3] t, float[3] k2)
            { go2 = Identity(go) t = Div(s, k) k2 = Identity(k) }>"""
        constants = "int64 n = {3}, bool c = {1}"
        report = checked(nodes, "float[3] x, float[3] d", "float y, float e", constants, assume=["d=1:2"])
        assert report.findings == ()

    def test_an_iteration_is_told_that_it_takes_place(self) -> None:
        nodes = """y = Loop (n, c, x) <body = b (int64 i, bool go, float[3] s) => (bool go2, float[3] t)
            { go2 = Identity(go) d = Cast <to = 1> (go) t = Div(s, d) }>"""
        assert checked(nodes, "float[3] x, bool c, int64 n").findings == ()

    def test_a_scan_sees_every_slice(self) -> None:
        nodes = """y, z = Scan <num_scan_inputs = 1, body = b (float[3] s, float[3] a) => (float[3] t, float[3] u)
            { t = Identity(s) u = Div(s, a) }> (w, x)"""
        given = (nodes, "float[4, 3] x", "float y, float z", "float[3] w = {1, 1, 1}")
        assert [f.rule for f in checked(*given).findings] == ["zero-divisor"]
        assert checked(*given, assume=["x=1:2"]).findings == ()


class TestWhere:
    """Where a finding is."""

    def test_in_the_users_program(self) -> None:
        path = Path(__file__).parent / "corpus" / "models" / "floor_without_correction.onnx"
        (found,) = vinculum.check(path, assume=["n=-9:9", "m=1:9"], runs=0).findings
        assert found.frames == (Frame("model.py", 7, "forward", "return positions // strides", False),)

    def test_the_path_from_an_input(self) -> None:
        (found,) = checked("a = Relu(x) b = Abs(a) c = Sqrt(b) y = Div(x, c)").findings
        assert found.path == ("x", "a", "b", "c")

    def test_the_values_on_the_way_to_a_node(self) -> None:
        model = parsed("[a] b = Abs(x) [c] d = Add(b, z) [e] y = Neg(z)", "float[3] x, float[3] z")
        _, scope = looked_at(model, {})
        assert [step.name for step in explained(model, scope.values, "c")] == ["z", "x", "b", "d"]

    def test_a_fingerprint_survives_other_names_and_equal_ones_get_numbers(self) -> None:
        nodes = "a = Relu(x) y0 = Div(x, a) b = Relu(y0) y = Div(y0, b)"
        first = [f.fingerprint for f in checked(nodes).findings]
        assert [f.fingerprint for f in checked(nodes.replace("y0", "other")).findings] == first
        # They stand in users' files, so those of a model stay the same from version to version.
        assert first == ["a6b710a0f1c39375", "84c92f1bfdc71a07"]
        twice = checked("a = Relu(x) y = Div(x, a) b = Relu(x) z = Div(x, b)", output="float y, float z")
        prints = [f.fingerprint for f in twice.findings]
        assert prints == [prints[0], f"{prints[0]}-2"]

    def test_nodes_of_one_name_have_findings_of_their_own(self) -> None:
        inputs = "float[3] x, float[3] d, float[3] e"
        report = checked("[n] y = Div(x, d) [n] z = Div(x, e)", inputs, "float y, float z")
        assert [(f.node, f.divisor) for f in report.findings] == [("n", "d"), ("n (z)", "e")]
