"""Fixing of findings: the least guard, the same bits elsewhere, and nothing where no guard helps.

`fixes.txt` records what is written into small models, each below the operator set, the assumptions and the type that it
is checked as. Record anew with ``python -m tests.repair.fixing.test_fix``, and look at what has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from onnx import ModelProto, helper

import vinculum
from tests.analysis import hazardous
from tests.analysis.corpus.entry import Entry
from tests.analysis.corpus.handmade import ENTRIES as HANDMADE
from tests.analysis.corpus.judging import checked, model_of, reported
from vinculum.analysis.assumptions import read_assumptions
from vinculum.analysis.witness.structured import SIZES
from vinculum.errors import DifferenceError, ModelError
from vinculum.models.onnx.scopes import model_nodes
from vinculum.models.source import source_of
from vinculum.repair.fixing import Comparison, Fixed, comparison, fix, fixed, rounds
from vinculum.repair.fixing.comparison import compared

RECORDED = Path(__file__).with_name("fixes.txt")
BLOCKS = RECORDED.read_text("utf-8").rstrip("\n").split("\n\n")
HAZARDS = [entry for entry in HANDMADE if entry.rules]
CONTROLS = [entry for entry in HANDMADE if not entry.rules]
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


def recorded(block: str) -> str:
    """Return a block anew: its two lines, then a line for each finding, and the operators of the fixed model."""
    options, text, *_ = block.split("\n")
    opset, *assume = options.split()
    as_type = assume.pop().removeprefix("as=") if "as=" in options else None
    proto = model(text, int(opset))
    result = fix(proto, assume=assume, as_type=as_type, runs=0)
    lines = [options, text]
    for one in result.fixes:
        outcome = "fixed" if one.is_fixed else "left"
        parts = (one.why,) if one.remedy is None else (one.remedy.what, one.remedy.equal)
        told = "; the same bits if ".join(filter(None, parts))
        lines.append(f"  {outcome} {one.finding.rule} of {one.finding.node}: {told}")
    if result.left:
        assert result.comparison.reason == "nothing was changed"
        assert (result.comparison.runs, operators(result.model)) == (0, operators(proto))
    else:
        lines.append(f"  {' '.join(operators(result.model))}")
        assert not result.report.findings
    return "\n".join(lines)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: " ".join(block.split("\n")[:2]))
def test_as_recorded(block: str) -> None:
    assert recorded(block) == block


class TestCorpus:
    """On the labelled models a fixed finding is not found again, and a model without findings is not changed."""

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


class TestLeastGuard:
    """The least guard that removes the finding is written."""

    @pytest.mark.parametrize("operator", ["Div", "Mod"])
    @pytest.mark.parametrize("element_type", ["int8", "uint8", "int16", "uint16", "int64"])
    def test_integers(self, operator: str, element_type: str) -> None:
        """Types for which not every ONNX Runtime has Max and Where are guarded in int32."""
        result = fix(model(INTEGER_DIV.replace("int64", element_type).replace("Div", operator)), runs=0)
        assert not result.report.findings
        assert ("Cast" in operators(result.model)) == (element_type in ("int8", "int16", "uint16"))
        limits = np.iinfo(element_type)
        x = np.array([limits.min, limits.max, 7], element_type)
        d = np.array([-1 if limits.min else 1, 0, 2], element_type)
        quotients = [limits.min, limits.max, 3] if operator == "Div" else [0, 0, 1]
        assert vinculum.load(result.model).run({"x": x, "d": d})["y"].tolist() == quotients

    def test_a_model_whose_inputs_no_memory_holds(self) -> None:
        result = fix(model("g (float[1099511627776] x) => (float[1099511627776] y) { y = Reciprocal (x) }"), runs=0)
        assert "not enough memory" in result.comparison.reason

    def test_an_invalid_model_is_refused_as_it_is(self) -> None:
        invalid = model("g (bool[3] x, bool[3] d) => (bool[3] y) { y = Div (x, d) }")
        with pytest.raises(ModelError, match=r"^the model itself fails onnx\.checker: .*bool"):
            fix(invalid, runs=0)

    @pytest.mark.parametrize("sizes", [[], [1]])
    def test_a_new_epsilon_has_the_shape_of_the_old_one(self, sizes: list[int]) -> None:
        nodes = "a = Abs (x) d = Add (a, e) y = Div (x, d)"
        lost = model(f"g (float[N] x) => (float[N] y) <float{sizes or ''} e = {{1e-12}}> {{ {nodes} }}")
        made = fix(lost, as_type="float16").model
        (constant,) = (node.attribute[0].t for node in made.graph.node if node.op_type == "Constant")
        assert list(constant.dims) == sizes


class TestSameBits:
    """A guard returns the bits of its operand, except for the elements that it is there for."""

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
def test_a_guarded_result_of_a_node_without_name(operator: str, least: float) -> None:
    graph = "g (bool[N,4] m, float[N,4] x) => (float[N,4] p) <float zero = {0}, float out = {-inf}>"
    result = fix(model(f"{graph} {{ b = Where (m, zero, out) s = Add (x, b) p = {operator} (s) }}"), runs=0)
    assert [node.name for node in result.model.graph.node if node.op_type == operator] == ["p"]
    masked = vinculum.load(result.model).run({"m": np.zeros((1, 4), bool), "x": np.ones((1, 4), np.float32)})
    assert (masked["p"] == least).all()


class TestNotFixed:
    """A finding that no guard removes is left, and the reason is given."""

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


if __name__ == "__main__":
    RECORDED.write_text("\n\n".join(map(recorded, BLOCKS)) + "\n", "utf-8")
