"""Findings in small models: divisors inside operators, operators of ONNX Runtime, and unknown operators."""

from __future__ import annotations

import onnx.parser
import pytest

import vinculum
from tests.analysis.hazardous import parsed
from tests.cases import case
from vinculum.analysis import Report

_X = "float[2, 3, 4] x"

HIDDEN = [
    # operands, node, what is assumed, what is found
    (f"{_X}, float e", "y = Pow(x, e)", "e=-2:-1", "zero-divisor"),
    (f"{_X}, float e", "y = Pow(x, e)", "x=1:2", ""),
    ("float[4] x, bool[4] m", "c = Compress <axis = 0> (x, m) y = ReduceMean (c)", "", "zero-over-zero"),
    ("float[n] x", "y = ReduceMean (x)", "", ""),
    ("float[n] x", "y = ReduceMean (x)", "n=0:5", "zero-over-zero"),
    ("float[0, 3] x", "y = MeanVarianceNormalization <axes = [1]> (x)", "", ""),
    ("float[3] x, float s, uint8 z", "y = QuantizeLinear (x, s, z)", "s=0:1", "zero-over-zero"),
    ("float[3] x", "y, s, z = DynamicQuantizeLinear (x)", "x=1:2", ""),
    (f"{_X}, float[4] w", "y = RMSNormalization <epsilon = 0.0> (x, w)", "x=0:1", "zero-over-zero"),
]
"""Divisors that no node computes, by sizes and by what is declared; `known.txt` has those of every operator."""
NORMALISED = "h = com.microsoft.SkipLayerNormalization <epsilon = 1e-5> (x, x, w, w)"
ATTENDED = "a = com.microsoft.MultiHeadAttention <num_heads = 2> (x, x, x)"
CONTRIB = [
    # nodes, what is assumed, what is found
    (f"{NORMALISED} n = ReduceL2 (h) y = Div(h, n)", "", "zero-over-zero"),
    (f"{NORMALISED} s = com.microsoft.FusedMatMul <transB = 1, alpha = 0.5> (h, h) a = Softmax (s) y = Div (a, a)", "",
     "zero-over-zero"),
    ("y = com.microsoft.SkipLayerNormalization <epsilon = 0.0> (x, x, w)", "", "zero-over-zero"),
    ("y = SimplifiedLayerNormalization <epsilon = 0.0> (x, w)", "x=-1:1", "zero-over-zero"),
    ("g = com.microsoft.QuickGelu (x) y = Div (x, g)", "x=-1:1", "zero-over-zero"),
    (f"{ATTENDED} d = Add (a, one) y = Div (one, d)", "x=-1:1", "zero-divisor"),
    ("y = com.acme.Div (x, x)", "", ""),
]  # fmt: skip
"""Models of ONNX Runtime's own operators: the findings are the same, and no operator is unknown."""
NEVER_SILENT = [
    ("the divisor itself", "n = com.acme.Norm(x) y = Div(x, n)", {"zero-over-zero"}),
    ("its type from the dividend", "n = com.acme.Norm(x) r = Relu(n) y = Div(one, r)", {"zero-divisor"}),
    ("a sum of it", "n = com.acme.Norm(x) r = ReduceSum(n) y = Div(x, r)", {"zero-over-zero"}),
    ("behind another one", "m = com.acme.Norm(x) n = com.acme.Norm(m) y = Reciprocal(n)", {"zero-divisor"}),
    ("its type from what reads it later", "n = com.acme.Norm(x) a = Div(n, n) y = Add(a, x)", {"zero-over-zero"}),
    ("its type declared, not that of a branch", """one_of = If (c) <then_branch = t () => (a) { a = com.acme.Norm(x) },
        else_branch = e () => (b) { b = Identity(x) }> y = Div(x, one_of)""", {"zero-over-zero"}),
    ("a power", "n = com.acme.Norm(x) a = Pow(n, minus) y = Add(a, x)", {"zero-divisor"}),
    ("one that is proved apart from zero", "n = com.acme.Norm(x) a = Abs(n) b = Add(a, one) y = Div(x, b)", set()),
    ("of any type at all", "n = com.acme.Norm(x) m = com.acme.Norm(n) d = Div(n, m) y = com.acme.Norm(d)",
     {"zero-over-zero", "integer-zero-divisor", "min-over-minus-one"}),
]  # fmt: skip
"""An unknown operator may return any value of a type that its users take."""


def test_what_divides_inside() -> None:
    for inputs, nodes, assumed, rules in HIDDEN:
        opset, output = 23 if "RMS" in nodes else 21, "uint8 y" if "Quantize" in nodes else "float y"
        with case(nodes, assumed):
            report = vinculum.check(parsed(nodes, inputs, output, opset=opset), assume=assumed.split(), runs=0)
            assert [finding.rule for finding in report.findings] == rules.split()
            assert not report.unknown_operators


def test_what_is_found_behind_operators_of_onnxruntime() -> None:
    for nodes, assumed, rules in CONTRIB:
        inputs, one = "float[1, 3, 4] x, float[4] w", "float one = {1}"
        with case(nodes, assumed):
            model = parsed(nodes, inputs, constants=one, domain="com.acme" if "acme" in nodes else "com.microsoft")
            report = vinculum.check(model, assume=assumed.split(), runs=0)
            assert [finding.rule for finding in report.findings] == rules.split()
            assert set(report.unknown_operators) == ({"com.acme.Div"} if "acme" in nodes else set())


def checked(nodes: str, inputs: str = "float[3] x", output: str = "float y", constants: str = "") -> Report:
    """Return the check of a model in which nothing declares what an unknown operator returns."""
    return vinculum.check(parsed(nodes, inputs, output, constants, opset=18, domain="com.acme"), runs=0)


def test_an_unknown_operator_never_silences() -> None:
    constants = "float[3] one = {1, 1, 1}, float minus = {-1}, float[3] one_of"
    for words, nodes, rules in NEVER_SILENT:
        with case(words):
            report = checked(nodes, "float[3] x, bool c", constants=constants)
            assert {finding.rule for finding in report.findings} == rules


def test_an_unknown_operator_of_integers() -> None:
    report = checked("n = com.acme.Count(i) y = Div(i, n)", "int64[3] i", "int64 y")
    assert {finding.rule for finding in report.findings} == {"integer-zero-divisor", "min-over-minus-one"}


def test_a_softmax_of_masked_scores_of_an_unknown_operator() -> None:
    nodes = "n = com.acme.Scores(x) s = Where(keep, n, low) y = Softmax(s)"
    report = checked(nodes, "float[3] x, bool[3] keep", constants="float low = {-inf}")
    assert {finding.rule for finding in report.findings} == {"masked-row"}


def test_in_a_branch_and_in_a_function() -> None:
    branch = """y = If (c) <then_branch = t () => (float[3] a) { n = com.acme.Norm(x) a = Div(x, n) },
        else_branch = e () => (float[3] b) { b = Identity(x) }>"""
    assert {f.rule for f in checked(branch, "float[3] x, bool c").findings} == {"zero-over-zero"}
    function = """<ir_version: 8, opset_import: ["" : 18, "com.acme" : 1]>
        g (float[3] x) => (float[3] y) { y = com.acme.normalise(x) }
        <domain: "com.acme", opset_import: ["" : 18, "com.acme" : 1]> normalise (a) => (b)
        { n = com.acme.Norm(a) b = Div(a, n) }"""
    assert {f.rule for f in vinculum.check(onnx.parser.parse_model(function), runs=0).findings} == {"zero-over-zero"}


def test_a_size_that_no_input_has_may_be_zero() -> None:
    report = checked("n = com.acme.Some(x) y = ReduceMean(n)", constants="float[k] n")
    assert {finding.rule for finding in report.findings} == {"zero-over-zero"}


@pytest.mark.parametrize(
    ("nodes", "divisions", "resting"),
    [
        ("n = com.acme.Norm(x) a = Div(x, n) b = Abs(x) c = Add(b, one) y = Div(a, c)", 2, 1),
        ("n = com.acme.Norm(x) a = Abs(n) b = Add(a, one) y = Div(x, b)", 1, 0),
        ("n = com.acme.Norm(x) y = Div(n, x)", 1, 0),
        ("a = Div(x, x) y = com.acme.Norm(a)", 1, 0),
    ],
)
def test_how_many_divisions_rest_on_it(nodes: str, divisions: int, resting: int) -> None:
    report = checked(nodes, constants="float one = {1}")
    assert (report.divisions, report.resting) == (divisions, resting)
