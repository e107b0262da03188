"""Issue 19, point 5: the severity follows from evidence, and running the witness again confirms it."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper

import vinculum
from tests import fake_runtime
from tests.analysis import hazardous
from tests.analysis.hazardous import parsed
from vinculum.analysis import Finding, Search, Severity, Witness
from vinculum.analysis.assumptions import read_assumptions
from vinculum.analysis.witness.probe import OnnxRuntime, Target, distance
from vinculum.analysis.witness.search import _Sought
from vinculum.analysis.witness.structured import Space, Tried, structured
from vinculum.models.execution import Division, DivisionRecord
from vinculum.models.source import source_of
from vinculum.sandbox import Limits
from vinculum.spec.onnx_div import DIV_14

_ONE = "sine = Sin(x) cosine = Cos(x) a = Mul(sine, sine) b = Mul(cosine, cosine) sum = Add(a, b)"
"""A sum of squares that is always 1, whatever bounds of sine and cosine say."""


def checked(proto: ModelProto, *assume: str, runs: int = 60, **options: Any) -> Finding:
    """Return the only finding of a model."""
    (finding,) = vinculum.check(proto, assume=assume, runs=runs, **options).findings
    return finding


def shown(proto: ModelProto, *assume: str, runs: int = 60) -> Witness:
    """Return the witness of the only finding of a model."""
    finding = checked(proto, *assume, runs=runs)
    assert finding.severity is Severity.WITNESSED
    assert finding.witness is not None
    return finding.witness


def searched(proto: ModelProto, *assume: str, runs: int = 60) -> Search:
    """Return the search for a witness of the only finding of a model."""
    finding = checked(proto, *assume, runs=runs)
    assert finding.severity in (Severity.UNCONFIRMED, Severity.POSSIBLE)
    assert finding.search is not None
    return finding.search


class TestAtTheInputs:
    """The search finds simple witnesses, whose inputs lie in the declared ranges."""

    def test_an_empty_mask(self) -> None:
        with fake_runtime.installed(onnxruntime=fake_runtime.FakeRuntime):
            witness = shown(hazardous.masked_mean(), "x=-1:1", "mask=0|1")
        assert (witness.kind, witness.how) == ("model", "mask = zeros")
        assert not witness.inputs["mask"].any()
        assert abs(witness.inputs["x"]).max() <= 1
        assert [(e.output, e.value) for e in witness.effects] == [("mean", "NaN")]
        assert witness.confirmed_by == ("vinculum", "onnxruntime 0")

    def test_in_a_branch(self) -> None:
        finding = checked(hazardous.branches())
        assert (finding.scope, finding.severity) == ("If:then_branch", Severity.WITNESSED)

    def test_inside_an_operator(self) -> None:
        with fake_runtime.installed(onnxruntime=fake_runtime.FakeRuntime):
            witness = shown(hazardous.layer_norm(0.0), runs=40)
        assert witness.confirmed_by == ("vinculum", "onnxruntime 0")

    def test_a_runtime_signs_only_what_it_shows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A runtime does not confirm what only our engine shows, which computes an operator as ONNX defines it."""
        monkeypatch.setattr(OnnxRuntime, "look", lambda *_: (False, "onnxruntime 0", ()))
        finding = checked(hazardous.layer_norm(0.0), runs=40)
        assert finding.severity is Severity.POSSIBLE
        assert finding.witness is not None
        assert (finding.witness.kind, finding.witness.confirmed_by) == ("definition", ("vinculum",))

    def test_a_runtime_that_shows_nothing_is_asked_four_times(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = []

        def look(*given: object) -> tuple[bool, str, tuple[()]]:
            asked.append(given)
            return False, "onnxruntime 0", ()

        monkeypatch.setattr(OnnxRuntime, "look", look)
        finding = checked(parsed("z = Mul(x, zero) y = Reciprocal(z)", constants="float zero = {0}"), "x=-1:1")
        assert (len(asked), finding.severity, finding.witness) == (4, Severity.CERTAIN, None)

    @pytest.mark.parametrize("rule", ["zero-divisor", "integer-zero-divisor"])
    def test_what_may_crash_a_runtime_is_tried_in_our_engine(self, rule: str) -> None:
        content = parsed("y = Div(x, d)", "float[2] x, float[2] d").SerializeToString()
        target = Target((rule, "", "y"), is_division=True, value="d", wanted="zero")
        inputs = {"x": np.ones(2, np.float32), "d": np.zeros(2, np.float32)}
        with fake_runtime.installed(onnxruntime=fake_runtime.FakeRuntime):
            runtime = OnnxRuntime(content, ["y"], [target], Limits(seconds=100.0))
            try:
                assert (runtime.outcome([target], inputs) is None) == (rule == "integer-zero-divisor")
            finally:
                runtime.close()

    def test_what_runtimes_guard(self) -> None:
        """The scale of zeros is 1 in ONNX Runtime: one finding, which no run shows."""
        finding = checked(parsed("[q] y, s, z = DynamicQuantizeLinear(x)", "float[2] x", "float s"))
        assert (finding.node, finding.severity, finding.witness) == ("q", Severity.UNCONFIRMED, None)
        assert finding.detail["by_definition_of"] == "DynamicQuantizeLinear"
        assert finding.detail["guarded_by"].startswith("ONNX Runtime")

    def test_what_our_engine_lacks_is_searched_in_a_runtime(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A divisor inside an operator asks for our engine; where that cannot run the model, the runtime has to do."""
        monkeypatch.setattr("vinculum.analysis.witness.search._Searcher._outcome", lambda *_: None)
        proto = parsed("[q] u, s, z = DynamicQuantizeLinear(x) y = Reciprocal(x)", "float[2] x", "float[2] y, float s")
        with fake_runtime.installed(onnxruntime=fake_runtime.FakeRuntime):
            found = {finding.node: finding for finding in vinculum.check(proto, runs=20).findings}
        assert found["y"].witness is not None
        assert found["y"].witness.confirmed_by == ("onnxruntime 0",)

    def test_a_run_of_the_other_sign_is_kept(self) -> None:
        sought = _Sought(vinculum.check(parsed("y = Reciprocal(x)"), runs=0).findings[0], Target(("", "", "y"), True))
        for value in (1e9, *range(-40, 0)):
            sought.keep(Tried({}, abs(value), np.array([value], np.float64)))
        assert 1e9 in {one.distance for one in sought.tried}
        assert min(one.distance for one in sought.tried) == 1

    def test_sizes_are_solved(self) -> None:
        assert shown(hazardous.sizes()).inputs["x"].shape == (3, 4)
        assert vinculum.check(hazardous.sizes(), assume=["n>=4"], runs=40).findings == ()

    def test_a_linear_divisor_is_solved(self) -> None:
        shift = -1.0 / 3
        assert np.float32(shift) in shown(hazardous.shifted(shift), "x=-3:3").inputs["x"]

    def test_between_two_signs(self) -> None:
        """A cube is not linear: bisection finds the zero."""
        nodes = "s = Mul(x, x) cube = Mul(s, x) d = Sub(cube, eight) y = Reciprocal(d)"
        proto = parsed(nodes, "float[2] x", constants="float eight = {3.375}")
        assert 1.5 in shown(proto, "x=0:3").inputs["x"]

    def test_between_two_signs_of_integers(self) -> None:
        """A number of frames, less one, of an undeclared length, which is larger than what is drawn at random."""
        constants = "int64 hop = {160}, int64 one = {1}, float unit = {1}"
        proto = parsed("k = Div(n, hop) l = Sub(k, one) d = Cast<to = 1>(l) q = Div(unit, d)", "int64[2] n", "float q",
                       constants)  # fmt: skip
        assert any(160 <= number < 320 for number in shown(proto).inputs["n"])

    def test_an_integer_among_many(self) -> None:
        constants = "int64 number = {1717}, int64 one = {1}"
        proto = parsed("d = Sub(k, number) q = Div(one, d)", "int64[3] k", "int64 q", constants)
        assert 1717 in shown(proto, "k=0:1000000").inputs["k"]

    def test_integers(self) -> None:
        """A remainder by zero, and the smallest integer by -1."""
        pair = "int64[2] a, int64[2] b"
        proto = parsed("q = Div(a, b) [rest] r = Mod(a, c)", f"{pair}, int64[2] c", "int64 q, int64 r")
        rest = {f.rule: f for f in vinculum.check(proto, runs=40).findings if f.node == "rest"}
        assert rest["integer-zero-divisor"].severity is Severity.WITNESSED
        proto = parsed("q = Div(a, b)", pair, "int64 q")
        for assume in ([], ["b=-1:5"]):
            findings = {f.rule: f for f in vinculum.check(proto, assume=assume, runs=40).findings}
            witness = findings["min-over-minus-one"].witness
            assert witness is not None
            assert (witness.inputs["a"] == -(2**63)).all()
            assert (witness.inputs["b"] == -1).all()

    @pytest.mark.parametrize(
        ("element_type", "low", "high"),
        [
            ("int64", -(2**63), 2**63 - 1),
            ("int64", -(2**63) + 1, 2**63 - 1),
            ("int64", 2**62 + 1, 2**63 - 1),
            ("uint64", 5, 2**64 - 1),
            ("uint64", 2**64 - 1, 2**64 - 1),
        ],
    )
    def test_integers_beyond_floats_keep_their_range(self, element_type: str, low: int, high: int) -> None:
        proto = parsed("q = Div(a, b)", f"{element_type}[n] a, {element_type}[n] b", f"{element_type} q")
        assumptions = read_assumptions([f"a={low}:{high}"], proto)
        space = Space(vinculum.load(proto).inputs, assumptions.ranges, assumptions.sizes, 0)
        made = [number for one in structured(space) for number in one.inputs["a"].tolist()]
        # The largest float64 that the range holds is tried; where it holds none, the one that is nearest.
        assert all(low <= number <= high for number in made) or low == high
        assert max(made) > high - 2**12
        findings = {f.rule: f for f in vinculum.check(proto, assume=[f"a={low}:{high}"], runs=60).findings}
        overflow = findings.get("min-over-minus-one")
        assert overflow is None or (overflow.severity is Severity.WITNESSED) == (low == -(2**63))

    def test_outside_of_the_ranges(self) -> None:
        """The divisor is 1 in the declared range of x, and 0 far outside."""
        nodes = f"{_ONE} near = Less(x, limit) f = Cast <to = 1> (near) d = Mul(sum, f) y = Reciprocal(d)"
        proto = parsed(nodes, "float[2] x", constants="float limit = {100}")
        finding = checked(proto, "x=-3:3")
        assert finding.severity is Severity.WITNESSED_OUTSIDE
        assert finding.witness is not None
        assert (finding.witness.kind, finding.witness.how) == ("outside", "x = 10000 everywhere")


class TestInside:
    """If no input shows a finding, the farthest inner tensor that does is named, or none."""

    @pytest.mark.parametrize("of_a_node", [False, True])
    def test_a_norm_of_embeddings(self, of_a_node: bool) -> None:
        model = hazardous.norm_of_embeddings()
        if of_a_node:
            weights = model.graph.initializer.pop()
            model.graph.node.insert(0, helper.make_node("Constant", [], [weights.name], value=weights))
        finding = checked(model, "ids=0:29")
        assert finding.severity is Severity.POSSIBLE
        assert finding.witness is not None
        assert (finding.witness.kind, finding.witness.tensor, finding.witness.how) == ("inner", "pooled", "zeros")
        assert finding.witness.value is not None
        assert not finding.witness.value.any()
        assert finding.search is not None
        assert finding.search.runs == 60
        assert 0 < finding.search.smallest < 100

    def test_nothing_found(self) -> None:
        """The bounds of sine and cosine, each alone, allow a sum of squares of 0; it is always 1."""
        search = searched(parsed(f"{_ONE} y = Reciprocal(sum)", "float[2] x"), "x=-3:3", runs=30)
        assert search.smallest == pytest.approx(1, abs=1e-3)

    def test_no_runs_no_evidence(self) -> None:
        finding = checked(hazardous.masked_mean(), runs=0)
        assert (finding.severity, finding.witness, finding.search) == (Severity.POSSIBLE, None, None)

    def test_of_another_type_it_is_not_run(self) -> None:
        assert checked(hazardous.masked_mean(), as_type="float16").search is None


class TestBounded:
    """A search is bounded and the same each time."""

    def test_the_same_twice(self) -> None:
        one, other = (checked(hazardous.norm_of_embeddings(), "ids=0:29", seed=3) for _ in range(2))
        assert one.search == other.search
        assert one.witness is not None
        assert other.witness is not None
        for name, array in one.witness.inputs.items():
            np.testing.assert_array_equal(array, other.witness.inputs[name])

    def test_inputs_that_cannot_be_made(self) -> None:
        proto = parsed("q = Div(a, b)", "float[2] a, float[2] b", "float q")
        for value in proto.graph.input:
            value.type.tensor_type.ClearField("shape")
        search = searched(proto)
        assert search.runs == 0
        assert "no input can be made" in search.stopped

    def test_without_inputs_nothing_is_drawn(self) -> None:
        nodes = "drawn = RandomUniform <shape = [2], low = -1.0, seed = 1.0> () y = Reciprocal(drawn)"
        assert searched(parsed(nodes, "")).runs == 2

    @pytest.mark.parametrize(("size", "found"), [(7, True), (11, False)])
    def test_a_size_on_which_it_runs_is_looked_for(self, size: int, found: bool) -> None:
        ones = ", ".join(["1"] * size)
        proto = parsed(
            "s = MatMul(x, w) y = Reciprocal(s)", "float[1, n] x", constants=f"float[{size}, 1] w = {{{ones}}}"
        )
        finding = checked(proto)
        assert finding.search is not None
        assert (finding.severity is Severity.WITNESSED) == found
        stopped = "" if found else "it does not run on the inputs tried"
        assert finding.search.stopped.partition(":")[0] == stopped

    @pytest.mark.parametrize(("runs", "seed"), [(-1, 0), (1, -1)])
    def test_refused(self, runs: int, seed: int) -> None:
        with pytest.raises(vinculum.AttributeValueError, match="whole numbers from 0 on"):
            vinculum.check(hazardous.masked_mean(), runs=runs, seed=seed)


def test_inputs_with_a_structure() -> None:
    space = Space(source_of(parsed("y = Neg(x)", "float[4] x")).model().inputs, {}, {}, 0)
    made = {candidate.how.removeprefix("x = "): candidate.inputs["x"].tolist() for candidate in structured(space)}
    for how, values in {
        "zeros": [0, 0, 0, 0],
        "high": [4, 4, 4, 4],
        "the first of each row alone": [1, 0, 0, 0],
        "the last of each row alone": [0, 0, 0, 1],
        "one-hot": [4, 0, 0, 0],
        "0, 1, 2, ... in each row": [0, 1, 2, 3],
        "ones, then zeros": [1, 1, 0, 0],
        "10000 everywhere": [1e4, 1e4, 1e4, 1e4],
    }.items():
        assert made[how] == values


TINY = 1e-40  # subnormal in float32
MIN = -(2**31)


@pytest.mark.parametrize(
    ("rule", "dtype", "dividend", "divisor", "expected"),
    [
        ("zero-divisor", "f4", [1, 1], [4, -2], 2.0),
        ("zero-divisor", "f4", [1, 1], [4, -0.0], 0.0),
        ("integer-zero-divisor", "i4", [1, 1], [-3, 5], 3.0),
        ("quotient-overflow", "f4", [1e30, 1], [1e-30, 1], 0.0),
        ("quotient-overflow", "f4", [1, 8], [0, 2], inf),
        ("quotient-overflow", "f4", [1, 8], [1, 2], 0.25),
        ("subnormal-divisor", "f4", [1, 1], [TINY, 2], 0.0),
        ("subnormal-divisor", "f4", [1, 1], [0, 2], inf),
        ("subnormal-divisor", "f4", [1, 1], [3, 2], 2.0),
        ("min-over-minus-one", "i4", [MIN, 1], [1, -1], inf),
        ("min-over-minus-one", "i4", [MIN, 1], [-1, 1], 0.0),
    ],
)
def test_distance(rule: str, dtype: str, dividend: list[Any], divisor: list[Any], expected: float) -> None:
    a, b = np.array(dividend, dtype), np.array(divisor, dtype)
    with np.errstate(all="ignore"):
        quotient = a / b if dtype == "f4" else a
    assert distance(rule, DivisionRecord(Division("d", "", DIV_14), a, b, quotient, 0.0)) == expected
