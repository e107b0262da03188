"""Every hazard: its code, its message, its fix, its page; and what certain means."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import vinculum
from tests.analysis.hazardous import parsed
from tests.cases import case
from vinculum.analysis import Finding, Severity
from vinculum.analysis.findings import by_cause
from vinculum.analysis.hazards import BY_CODE, HAZARDS, by_operator
from vinculum.analysis.hazards.hazard import PROFILES
from vinculum.analysis.transfer.operators import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "check.md"


def found(
    nodes: str,
    inputs: str = "float[3] x",
    outputs: str = "float y",
    *,
    opset: int = 18,
    constants: str = "",
    **more: Any,
) -> list[Finding]:
    """Return what is found in a model of some nodes."""
    return list(vinculum.check(parsed(nodes, inputs, outputs, constants, opset), runs=0, **more).findings)


def test_layers_have_one_cause_and_lines_of_their_own() -> None:
    """Divisors whose last two steps are alike have one cause; what is farther up does not matter."""
    layers = "".join(
        f"s{n} = Mul(h{n}, h{n}) m{n} = ReduceMean(s{n}) r{n} = Sqrt(m{n}) "
        f"q{n} = Div(h{n}, r{n}) h{n + 1} = Relu(q{n}) "
        for n in range(6)
    )
    groups = by_cause(found(f"{layers} d = Abs(h6) y = Div(h6, d)", "float[2, 3] h0", "float[2, 3] y"))
    assert sorted(len(group) for group in groups if group[0].rule == "zero-over-zero") == [1, 6]


def test_each_has_a_code_a_message_a_fix_a_place_in_the_docs_and_known_operators() -> None:
    page = PAGE.read_text()
    for hazard in HAZARDS:
        with case(hazard.code):
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", hazard.code)
            assert re.fullmatch(r"[^\n]+\.", hazard.message())
            assert re.fullmatch(r"[^\n]+[^.]", hazard.fix)
            assert hazard.profile in ("", *PROFILES)
            assert {name for _, name in TABLE} >= set(hazard.operators)
            assert f"`{hazard.code}`" in page
    assert len(BY_CODE) == len(HAZARDS)


def test_profiles_add_to_what_is_looked_for() -> None:
    plain, all_of_them = by_operator(()), by_operator(PROFILES)
    assert len(all_of_them["Div"]) > len(plain["Div"])
    assert {hazard.profile for hazards in plain.values() for hazard in hazards} == {""}


class TestSeverity:
    """A finding is certain if every run shows it."""

    def test_what_is_not_computed_is_no_hazard(self) -> None:
        assert found("y = Div(x, zero)", "float[0] x", "float[0] y", constants="float zero = {0}") == []

    def test_what_is_always_outside_of_a_domain(self) -> None:
        (one,) = found("y = Sqrt(x)", assume=["x=-9:-1"], profile=["domains"])
        assert one.severity is Severity.CERTAIN

    def test_the_surest_come_first(self) -> None:
        """One divisor is zero in every run, the other where an input is."""
        nodes = "a = Div(x, d) y = Div(a, zero)"
        order = [one.severity for one in found(nodes, "float[3] x, float[3] d", constants="float zero = {0}")]
        assert order == [Severity.CERTAIN, Severity.POSSIBLE]


def test_sonnx() -> None:
    """Constraints that other rules imply, or that no model of the corpus violates."""
    for element_type, assume, codes in (
        ("int64", [], {"sonnx-v1", "sonnx-c3", "integer-zero-divisor", "min-over-minus-one"}),
        ("bfloat16", ["m=1:2"], {"sonnx-c2"}),
    ):
        inputs, output = f"{element_type}[3] n, {element_type}[3] m", f"{element_type} q"
        assert {f.rule for f in found("q = Div(n, m)", inputs, output, profile=["sonnx"], assume=assume)} == codes
    proto = parsed("a = other.Op(x) b = Div(a, a) y = other.Op(b)", domain="other")
    assert "sonnx-gr2" in {f.rule for f in vinculum.check(proto, profile=["sonnx"], runs=0).findings}


@pytest.mark.parametrize(
    ("most", "rule", "detail"),
    [
        (2**24, "rounded-quotient", {"example": "21 / 7"}),
        (2**24 + 2, "integers-through-float", {"exact_up_to": 2**24}),
    ],
)
def test_up_to_what_float_holds_only_the_quotient_is_rounded(most: int, rule: str, detail: dict[str, Any]) -> None:
    nodes = "a = Cast <to = 1> (n) b = Cast <to = 1> (m) q = Div(a, b) y = Ceil(q)"
    (one,) = found(nodes, "int64[3] n, int64[3] m", assume=[f"n=0:{most}", "m=3:7"])
    assert (one.rule, one.detail) == (rule, detail)


@pytest.mark.parametrize(
    ("line", "element_type", "floors"),
    [
        ("q = n // m", "int64", True),
        ("q = n // m", "float", False),
        ("q = div(n, m)  # see https://example.com", "int64", False),
    ],
)
def test_the_users_line_floors(line: str, element_type: str, floors: bool) -> None:
    """Text behind a # is a comment; Div truncates integers alone."""
    model = parsed("q = Div(n, m)", f"{element_type}[3] n, {element_type}[3] m", f"{element_type} q")
    stack = f'File "model.py", line 3, in forward\n    {line}'
    model.graph.node[0].metadata_props.add(key="pkg.torch.onnx.stack_trace", value=stack)
    findings = vinculum.check(model, assume=["n=-9:9", "m=1:3"], runs=0).findings
    assert [(one.rule, one.divisor) for one in findings] == [("floor-expected", "n")] * floors


class TestDetails:
    """Numbers that belong to a finding."""

    def test_of_a_lost_epsilon(self) -> None:
        """A small constant that is the upper limit of Clip is no epsilon."""
        nodes, constants = "s = Abs(x) d = Clip(s, {}) y = Div(x, d)", "float one = {1}, float e = {1e-12}"
        lost = found(nodes.format("e, one"), constants=constants, as_type="float16")[0]
        assert (lost.rule, lost.severity, lost.element_type) == ("epsilon-lost", Severity.CERTAIN, "float16")
        assert lost.detail == {"epsilon": "1e-12", "smallest_that_survives": "5.96e-08"}
        kept = found(nodes.format("one, e"), constants=constants, as_type="float16")
        assert "epsilon-lost" not in {one.rule for one in kept}
        for exponent in (-0.5, 0.5):  # A negative power divides.
            nodes, constants = (
                "s = Abs(x) d = Add(s, e) y = Pow(d, p)",
                f"float e = {{1e-12}}, float p = {{{exponent}}}",
            )
            rules = {one.rule for one in found(nodes, constants=constants, as_type="float16")}
            assert ("epsilon-lost" in rules) == (exponent < 0)

    def test_of_the_smallest_integer_by_minus_one(self) -> None:
        for dividend, divisor, severity in (
            ("-2147483648", "-1", Severity.CERTAIN),
            ("-2147483648|0", "-1", Severity.POSSIBLE),
            ("-2147483648", "-1|1", Severity.POSSIBLE),
        ):
            assume = [f"n={dividend}", f"m={divisor}"]
            (one,) = found("q = Div(n, m)", "int32[3] n, int32[3] m", "int32 q", assume=assume)
            assert (one.rule, one.divisor, one.severity) == ("min-over-minus-one", "m", severity), assume

    @pytest.mark.parametrize(
        ("element_type", "most"),
        [("int64", 2**31 - 1), ("uint64", 2**31 - 1), ("uint32", 2**31 - 1), ("int32", 2**24)],
    )
    def test_of_narrowed_integers(self, element_type: str, most: int) -> None:
        """An input may be too large, a constant is."""
        for beyond in (0, 1):
            constants, inputs = f"{element_type} k = {{{most + beyond}}}", f"{element_type}[3] n"
            more: dict[str, Any] = {"constants": constants, "profile": ["narrowing"]}
            narrowed = [
                *found("q = Div(n, n)", inputs, f"{element_type} q", assume=[f"n=1:{most + beyond}"], **more),
                *found("q = Div(k, n)", inputs, f"{element_type} q", assume=["n=1:9"], **more),
            ]
            expected = [("n", Severity.POSSIBLE), ("k", Severity.CERTAIN)] * beyond
            assert [(one.divisor, one.severity) for one in narrowed] == expected
            assert all(one.detail == {"exact_up_to": most} for one in narrowed)

    def test_of_what_the_operator_set_does_not_allow(self) -> None:
        (one,) = found("q = Div(n, k)", "int8[3] n", "int8[3] q", constants="int8 k = {3}", opset=13)
        assert one.detail == {"version": "Div-13", "element_type": "int8"}
        one, *_ = found("y = Div <axis = 1> (a, b)", "float[3] a, float[3] b", opset=14)
        assert (one.rule, one.divisor) == ("illegal-attribute", "b")
        assert one.detail["reason"].startswith("Div-14 has no attribute 'axis'")
        for illegal in ("float8e4m3fn", "string", "complex64", "bool", "int4"):
            one, *_ = found("q = Div(n, k)", f"{illegal}[3] n, {illegal}[3] k", f"{illegal}[3] q")
            assert (one.rule, one.severity) == ("illegal-element-type", Severity.CERTAIN), illegal
