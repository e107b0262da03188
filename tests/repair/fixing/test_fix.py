"""Fixing of findings: the least guard, the same bits elsewhere, and nothing where no guard helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import onnx.parser
import pytest
from onnx import ModelProto, helper

import vinculum
from tests.analysis import hazardous
from tests.analysis.corpus.entry import Entry
from tests.analysis.corpus.guards import ENTRIES as GUARDS
from tests.analysis.corpus.handmade import ENTRIES as HANDMADE
from tests.analysis.corpus.judging import checked, model_of, reported
from vinculum.analysis.assumptions import read_assumptions
from vinculum.analysis.witness.structured import SIZES
from vinculum.errors import DifferenceError, ModelError
from vinculum.models.onnx.scopes import model_nodes
from vinculum.models.source import source_of
from vinculum.repair.fixing import Comparison, Fixed, comparison, fix, fixed, rounds
from vinculum.repair.fixing.comparison import compared

HAZARDS = [entry for entry in (*HANDMADE, *GUARDS) if entry.rules]
CONTROLS = [entry for entry in (*HANDMADE, *GUARDS) if not entry.rules]
GUARDED = {
    *("epsilon-lost", "integer-zero-divisor", "masked-row", "min-over-minus-one", "quotient-overflow"),
    *("subnormal-divisor", "zero-divisor", "zero-over-zero"),
}
"""The rules that a guard can satisfy."""
DIV = "g (float[N] x, float[N] d) => (float[N] y) { y = Div (x, d) }"
INTEGER_DIV = DIV.replace("float", "int64")


def model(text: str, opset: int = 17) -> ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}, "own": 1]> {text}')


def fixed_entry(entry: Entry) -> Fixed:
    return fix(model_of(entry), assume=entry.assume, as_type=entry.as_type, profile=entry.profile, runs=0)


def operators(proto: ModelProto) -> list[str]:
    """Return the operators of a model, constants left out."""
    return [node.op_type for node in model_nodes(proto) if node.op_type != "Constant"]


def what(result: Fixed) -> list[str]:
    return [one.remedy.what for one in result.fixes if one.remedy is not None]


class TestCorpus:
    """The labelled models: what is fixed is not found again, and what has no finding is not touched."""

    def test_fixed_findings_are_gone_and_most_are_fixed(self) -> None:
        could = done = 0
        for entry in HAZARDS:
            result = fixed_entry(entry)
            mended = {one.finding.key for one in result.fixes if one.is_fixed}
            found = vinculum.check(
                result.model, assume=entry.assume, as_type=entry.as_type, profile=entry.profile, runs=0
            )
            assert not mended & {f.key for f in found.findings}, entry.name
            first = {f.key for f in reported(entry).findings}
            # A guard may uncover another finding, which is then mended too.
            assert len(found.findings) <= len(first - mended), entry.name
            runs = result.comparison
            assert not runs.worst, entry.name
            assert runs.equal + runs.mended + runs.guarded == runs.runs
            assert bool(runs.reason) != bool(runs.runs)
            assert all(bool(one.why) != bool(one.remedy) for one in result.fixes)
            could += sum(one.finding.rule in GUARDED for one in result.fixes)
            done += sum(one.finding.rule in GUARDED and one.is_fixed for one in result.fixes)
        assert done / could > 0.9

    def test_a_model_without_findings_is_not_touched(self) -> None:
        for entry in CONTROLS:
            if not checked(entry).findings:
                result = fixed_entry(entry)
                assert (result.fixes, result.comparison.runs) == ((), 0)
                assert operators(result.model) == operators(model_of(entry)), entry.name


BRANCHES = "then_branch = b () => (float[N] q) {q = Div (x, d)}, else_branch = o () => (float[N] p) {p = Neg (x)}"
CONDITION = "<float z = {0}> { w = Div (x, d) s = ReduceSum <keepdims = 0> (w) c = Less (s, z) y = If (c)"
FUNCTION = '<domain: "own", opset_import: ["": 17]> ratio (a, b) => (c) { c = Div (a, b) }'
EPSILON = "<float e = {1e-12}> { a = Abs (x) f = Add (a, e) q = Div (x, f) y = Div (q, d) }"
DIVIDED = ["Equal", "Where", "Div"]
WRITTEN = {
    "{ z = Div (x, d) y = Add (z, z) }": [*DIVIDED, "Add"],
    "{ z = Div (x, d) y = Div (z, d) }": [*DIVIDED, "Div"],
    "{ [n] q = Div (x, d) [n] y = Mul (q, d) }": [*DIVIDED, "Mul"],
    "{ [n] q = Mul (x, d) [n] y = Div (q, d) }": ["Mul", *DIVIDED],
    "{ [y] q = Div (x, d) y = Mul (q, d) }": [*DIVIDED, "Mul"],
    "{ [y] q = Mul (x, d) y = Div (q, d) }": ["Mul", *DIVIDED],
    f"{CONDITION} <{BRANCHES}> }}": [*DIVIDED, "ReduceSum", "Less", "If", *DIVIDED, "Neg"],
    f"{{ y = own.ratio (x, d) }} {FUNCTION}": ["ratio", *DIVIDED],
    EPSILON: ["Abs", "Add", "Div", "Abs", "Less", "Where", "Div"],
}
"""What is written into a model of two inputs, x and d, and an output y."""


LARGEST = np.finfo(np.float64).max


class TestLeastGuard:
    """What is written is the least that removes the finding."""

    @pytest.mark.parametrize(
        ("text", "assume", "expected"),
        [
            (DIV, ("d=0|1",), "Max(divisor, 1)"),
            (DIV, ("d=0:1", "x=-1:1"), "Max(divisor, 1.17549e-38)"),
            (DIV, ("d=-1:1", "x=0:1000"), "Where(divisor < 0, Min(divisor, -3.00927e-36), Max(divisor, 3.00927e-36))"),
            (DIV, (), "Where(divisor == 0, 1, divisor)"),
            (INTEGER_DIV, ("d=0:9",), "Max(divisor, 1)"),
            ("g (float[N] d) => (float[N] y) { y = Reciprocal (d) }", ("d=0:1",), "Max(divisor, 1.17549e-38)"),
            (DIV, ("x=1e30:1e38", "d=-1:-1e-30"), "Min(divisor, -0.5)"),
            (DIV.replace("float", "double"), ("x=0:1e-310", "d=0:1"), "Max(divisor, 2.22507e-308)"),
            (DIV.replace("float", "double"), ("x=-1.79e308:1.79e308", "d=0.5:4"), "Max(divisor, 1)"),
            (DIV.replace("float", "double"), (f"x={-LARGEST}:{LARGEST}", "d=0.5:4"), "Max(divisor, 2)"),
        ],
    )
    def test_of_a_division(self, text: str, assume: Sequence[str], expected: str) -> None:
        assert set(what(fix(model(text), assume=assume, runs=0))) == {expected}

    @pytest.mark.parametrize(
        ("nodes", "assume", "expected"),
        [
            ("{ q = Div (x, d) y = Div (q, e) }", ("d=0|1", "e=0:1"), {"Max(divisor, 1)", "Max(divisor, 1.17549e-38)"}),
            (f"{CONDITION} <{BRANCHES}> }}", ("d=0:1",), {"Max(divisor, 1.17549e-38)"}),
            ("{ f = Floor (d) y = Div (x, f) }", ("d=-9:9",), {"Where(divisor == 0, 1, divisor)"}),
        ],
    )
    def test_of_a_dividend_that_a_guard_bounds_or_that_a_branch_reads(
        self, nodes: str, assume: Sequence[str], expected: set[str]
    ) -> None:
        proto = model(f"g (float[N] x, float[N] d, float[N] e) => (float[N] y) {nodes}")
        result = fix(proto, assume=["x=-1:1", *assume], runs=0)
        assert set(what(result)) == expected
        assert not result.report.findings

    @pytest.mark.parametrize("operator", ["Div", "Mod"])
    @pytest.mark.parametrize("element_type", ["int8", "uint8", "int16", "uint16"])
    def test_narrow_integers(self, operator: str, element_type: str) -> None:
        """Those of which not every ONNX Runtime has Max and Where are guarded in int32."""
        result = fix(model(INTEGER_DIV.replace("int64", element_type).replace("Div", operator)), runs=0)
        assert not result.report.findings
        assert ("Cast" in operators(result.model)) == (element_type != "uint8")
        limits = np.iinfo(element_type)
        x = np.array([limits.min, limits.max, 7], element_type)
        d = np.array([-1 if limits.min else 1, 0, 2], element_type)
        quotients = [limits.min, limits.max, 3] if operator == "Div" else [0, 0, 1]
        assert vinculum.load(result.model).run({"x": x, "d": d})["y"].tolist() == quotients

    def test_bfloat16_has_no_where_below_16(self) -> None:
        text = DIV.replace("float", "bfloat16")
        (left,) = fix(model(text, 15), runs=0).left
        assert left.why == "operator set 15 has no Where of bfloat16: vinculum convert --opset 17 first"
        assert not fix(model(text, 16), runs=0).left

    @pytest.mark.parametrize(("opset", "expected"), [(11, "Where(divisor == 0, 1, divisor)"), (12, "Max(divisor, 1)")])
    def test_integers_have_no_max_below_12(self, opset: int, expected: str) -> None:
        result = fix(model(INTEGER_DIV, opset), assume=["d=0:9"], runs=0)
        assert what(result) == [expected]
        assert not result.report.findings

    @pytest.mark.parametrize("nodes", WRITTEN)
    def test_written(self, nodes: str) -> None:
        """One guard for a divisor that is shared, before the division among nodes of one name, and at any depth."""
        proto = model(f"g (float[N] x, float[N] d) => (float[N] y) {nodes}")
        result = fix(proto, as_type="float16" if nodes == EPSILON else None, runs=0)
        assert operators(result.model) == WRITTEN[nodes]
        assert not result.report.findings

    def test_a_model_whose_inputs_no_memory_holds(self) -> None:
        result = fix(model("g (float[1099511627776] x) => (float[1099511627776] y) { y = Reciprocal (x) }"), runs=0)
        assert what(result) == ["Where(divisor == 0, 1.17549e-38, divisor)"]
        assert "not enough memory" in result.comparison.reason

    def test_an_invalid_model_is_refused_as_it_is(self) -> None:
        invalid = model("g (bool[3] x, bool[3] d) => (bool[3] y) { y = Div (x, d) }")
        with pytest.raises(ModelError, match=r"^the model itself fails onnx\.checker: .*bool"):
            fix(invalid, runs=0)

    @pytest.mark.parametrize(
        ("operator", "sizes", "equal"), [("Add", [], ""), ("Max", [1], "the value is at least 5.96046e-08")]
    )
    def test_an_epsilon_comes_first_and_is_all_that_is_needed(
        self, operator: str, sizes: list[int], equal: str
    ) -> None:
        nodes = f"a = Abs (x) d = {operator} (a, e) y = Div (x, d)"
        lost = model(f"g (float[N] x) => (float[N] y) <float{sizes or ''} e = {{1e-12}}> {{ {nodes} }}")
        result = fix(lost, as_type="float16")
        (written,) = (one.remedy for one in result.fixes if one.remedy is not None)
        assert written.what == "epsilon 1e-12 becomes 5.96046e-08, the smallest that survives in float16"
        assert written.equal == equal
        assert operators(result.model) == ["Abs", operator, "Div"]
        (constant,) = (node.attribute[0].t for node in result.model.graph.node if node.op_type == "Constant")
        assert list(constant.dims) == sizes
        assert [one.is_fixed for one in result.fixes] == [True] * len(result.fixes)

    def test_both_integer_hazards_of_a_division(self) -> None:
        result = fix(model(INTEGER_DIV), runs=0)
        assert len(result.fixes) == 2
        assert not result.report.findings
        run = vinculum.load(result.model).run({"x": np.array([-(2**63), 7, 7]), "d": np.array([-1, 0, 2])})
        assert run["y"].tolist() == [-(2**63), 7, 3]


class TestSameBits:
    """A guard returns the very bits of what it guards, wherever that is not at fault."""

    @pytest.mark.parametrize(
        ("assume", "is_at_fault"),
        [
            (("d=0:1", "x=0:1e-3"), lambda d: d < 2.0**-24),
            (("d=-1:1",), lambda d: np.abs(d) < 2.0**-24),
            (("d=-1:1", "x=0:1"), lambda d: np.abs(d) < 2.0**-15),
            (("x=1:2", "d=-1:-1e-7"), lambda d: d > -(2.0**-13)),
        ],
    )
    def test_every_float16(self, assume: Sequence[str], is_at_fault: object) -> None:
        made = fix(model(DIV.replace("float", "float16")), assume=assume, runs=0).model
        guarded = next(node.input[1] for node in made.graph.node if node.op_type == "Div")
        made.graph.output.append(helper.make_tensor_value_info(guarded, 10, ["N"]))
        values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
        with np.errstate(all="ignore"):
            found = vinculum.load(made).run({"x": np.ones_like(values), "d": values})[guarded]
        assert callable(is_at_fault)
        with np.errstate(all="ignore"):
            kept = ~is_at_fault(values) & ~np.isnan(values)
        assert (found.view(np.uint16)[kept] == values.view(np.uint16)[kept]).all()
        assert np.isnan(found[np.isnan(values)]).all()

    def test_a_guard_that_changes_more_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rounds, "compared", lambda *_: Comparison(1, worst="output 'mean' differs"))
        with pytest.raises(
            DifferenceError, match="no guard was at work, and output 'mean' differs; nothing is written"
        ):
            fix(hazardous.masked_mean())

    def test_the_comparison_sees_a_changed_output(self) -> None:
        before = model("g (float[N] x, float[N] d) => (float[N] y, float[N] z) { y = Div (x, d) z = Abs (d) }")
        after = model("g (float[N] x, float[N] d) => (float[N] y, float[N] z) { y = Div (x, d) z = Neg (d) }")
        found = compared(source_of(before), source_of(after), (), read_assumptions((), before))
        assert found.worst.startswith("output 'z' differs")
        assert found.runs > found.equal
        tried = comparison._inputs(vinculum.load(before), read_assumptions((), before))
        assert {inputs["x"].size for inputs in tried} >= set(SIZES), "of every size"


@pytest.mark.parametrize(("operator", "least"), [("Softmax", 0), ("LogSoftmax", np.finfo(np.float32).min)])
def test_a_result_that_is_mended_behind_a_node_without_name(operator: str, least: float) -> None:
    graph = "g (bool[N,4] m, float[N,4] x) => (float[N,4] p) <float zero = {0}, float out = {-inf}>"
    result = fix(model(f"{graph} {{ b = Where (m, zero, out) s = Add (x, b) p = {operator} (s) }}"), runs=0)
    assert [(one.finding.rule, one.is_fixed) for one in result.fixes] == [("masked-row", True)]
    assert [node.name for node in result.model.graph.node if node.op_type == operator] == ["p"]
    masked = vinculum.load(result.model).run({"m": np.zeros((1, 4), bool), "x": np.ones((1, 4), np.float32)})
    assert (masked["p"] == least).all()


REASONS = {
    "g (float[N] x) => (float[N] y) <float d = {0.0}> { y = Div (x, d) }": (
        17, "the divisor is zero in every run, and a guard would only hide that"),
    DIV: (9, "its operator set is 9, and guards begin at 11: vinculum convert --opset 17 first"),
    "g (float[N] x, float[N] e) => (float[N] y) { y = Pow (x, e) }": (
        17, "the exponent is negative in some places only, and a guard of the base would change the others"),
    "g (float[N,4] x) => (float[N,4] y) { y = LpNormalization (x) }": (
        17, "LpNormalization divides inside, where no guard can stand"),
    "g (float[1,2,3] t, int64[4] s) => (float[1,H,W,2] y) { [m] y = AffineGrid<align_corners=1>(t, s) }": (
        20, "it is inside m, where no guard can stand"),
}  # fmt: skip
"""The operator set of a model, and why nothing is fixed in it."""


class TestNotFixed:
    """What no guard helps is left, and told with its reason."""

    @pytest.mark.parametrize("text", REASONS)
    def test_reasons(self, text: str) -> None:
        opset, reason = REASONS[text]
        proto = model(text, opset)
        result = fix(proto, runs=0)
        assert [one.why for one in result.fixes] == [reason]
        assert operators(result.model) == operators(proto)
        assert result.comparison.reason == "nothing was changed"
        assert (result.comparison.runs, result.comparison.witnesses, result.comparison.still_shown) == (0, 0, 0)

    def test_a_guard_that_would_replace_every_divisor(self) -> None:
        (left,) = fix(model(DIV), assume=["x=1:3e38", "d=1e-3:0.01"], runs=0).left
        assert left.why == "Max(divisor, 1) would replace every divisor: they lie in [0.001, 0.01]"

    @pytest.mark.parametrize(("low", "remedies"), [(0, ["epsilon becomes 1.17549e-38"]), (-1, [])])
    def test_a_variance(self, low: int, remedies: list[str]) -> None:
        inputs = "float[N,2] x, float[2] s, float[2] b, float[2] m, float[2] v"
        proto = model(f"g ({inputs}) => (float[N,2] y) {{ y = BatchNormalization <epsilon = 0.0> (x, s, b, m, v) }}")
        result = fix(proto, assume=[f"v={low}:1"], runs=0)
        assert what(result) == remedies
        assert ["no epsilon mends" in one.why for one in result.left] == [True] * (not remedies)

    def test_a_function_that_is_called_with_two_types(self) -> None:
        head = '<ir_version: 9, opset_import: ["": 17, "own": 1]>'
        called = "g (float[2] x, int64[2] n) => (float[2] y, int64[2] m) { y = own.inverse (x) m = own.inverse (n) }"
        body = '<domain: "own", opset_import: ["": 17]> inverse (a) => (c) { c = Div (a, a) }'
        result = fix(onnx.parser.parse_model(f"{head} {called} {body}"), runs=0)
        assert result.left
        assert all(one.why.endswith("declare it, or inline the function") for one in result.left)

    def test_harden_is_named_for_divisions_of_integers_in_floats_only(self) -> None:
        (floats, domain) = (next(e for e in HAZARDS if e.name == name) for name in ("through float", "logarithm"))
        told = [[one.why for one in fixed_entry(entry).fixes] for entry in (floats, domain)]
        assert ["--fix-exported" in " ".join(whys) for whys in told] == [True, False]

    def test_what_does_not_help_is_taken_back(self) -> None:
        proto = hazardous.masked_mean()
        report = vinculum.check(proto, runs=0)
        result = fixed(source_of(proto), report, report.findings, lambda _: replace(report))
        assert [one.why for one in result.left] == ["Where(divisor == 0, 1, divisor) does not remove it"]
        assert operators(result.model) == operators(proto)

    def test_what_only_shows_behind_a_guard_is_told(self) -> None:
        proto = hazardous.masked_mean()
        report = vinculum.check(proto, runs=0)
        behind = replace(report, findings=tuple(replace(one, node="n/behind") for one in report.findings))
        result = fixed(source_of(proto), report, report.findings, lambda _: behind)
        assert [one.why for one in result.left] == ["it is inside n, where no guard can stand"] * len(behind.findings)


class TestWitness:
    """The witness of a finding is run again on the fixed model."""

    def test_it_shows_nothing_more(self) -> None:
        result = fix(hazardous.masked_mean(), assume=["mask=0|1"], runs=50)
        assert (result.comparison.witnesses, result.comparison.still_shown) == (1, 0)
        assert result.comparison.mended > 0

    def test_what_is_not_fixed_shows_it_again(self) -> None:
        proto, assumed = hazardous.masked_mean(), ["mask=0|1"]
        findings = vinculum.check(proto, assume=assumed, runs=50).findings
        found = compared(source_of(proto), source_of(proto), findings, read_assumptions(assumed, proto))
        assert (found.witnesses, found.still_shown, found.equal) == (1, 1, found.runs)
