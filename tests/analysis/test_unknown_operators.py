"""An unknown operator never silences: what it returns may be anything, of the type that its users take."""

from __future__ import annotations

import onnx.parser
import pytest

import vinculum
from tests.cases import case
from vinculum.analysis import Report

HEAD = '<ir_version: 8, opset_import: ["" : 18, "com.acme" : 1]>'


def checked(nodes: str, inputs: str = "float[3] x", outputs: str = "float[3] y", constants: str = "") -> Report:
    """Return the check of a model in which nothing declares what an unknown operator returns."""
    return vinculum.check(
        onnx.parser.parse_model(f"{HEAD} g ({inputs}) => ({outputs}) <{constants}> {{ {nodes} }}"), runs=0
    )


NEVER_SILENT = [
    ("the divisor itself", "n = com.acme.Norm(x) y = Div(x, n)", {"zero-over-zero"}),
    ("its type from the dividend", "n = com.acme.Norm(x) r = Relu(n) y = Div(one, r)", {"zero-divisor"}),
    ("a sum of it", "n = com.acme.Norm(x) r = ReduceSum(n) y = Div(x, r)", {"zero-over-zero"}),
    ("behind another one", "m = com.acme.Norm(x) n = com.acme.Norm(m) y = Reciprocal(n)", {"zero-divisor"}),
    ("its type from what reads it later", "n = com.acme.Norm(x) a = Div(n, n) y = Add(a, x)", {"zero-over-zero"}),
    ("a power", "n = com.acme.Norm(x) a = Pow(n, minus) y = Add(a, x)", {"zero-divisor"}),
    ("one that is proved apart from zero", "n = com.acme.Norm(x) a = Abs(n) b = Add(a, one) y = Div(x, b)", set()),
    ("of any type at all", "n = com.acme.Norm(x) m = com.acme.Norm(n) d = Div(n, m) y = com.acme.Norm(d)",
     {"zero-over-zero", "integer-zero-divisor", "min-over-minus-one"}),
]  # fmt: skip


def test_it_never_silences() -> None:
    constants = "float[3] one = {1, 1, 1}, float minus = {-1}"
    for words, nodes, rules in NEVER_SILENT:
        with case(words):
            assert {finding.rule for finding in checked(nodes, constants=constants).findings} == rules


def test_of_integers() -> None:
    report = checked("n = com.acme.Count(i) y = Div(i, n)", "int64[3] i", "int64[3] y")
    assert {finding.rule for finding in report.findings} == {"integer-zero-divisor", "min-over-minus-one"}


def test_a_softmax_of_masked_scores() -> None:
    nodes = "n = com.acme.Scores(x) s = Where(keep, n, low) y = Softmax(s)"
    report = checked(nodes, "float[3] x, bool[3] keep", constants="float low = {-inf}")
    assert {finding.rule for finding in report.findings} == {"masked-row"}


def test_in_a_branch_and_in_a_function() -> None:
    branch = """y = If (c) <then_branch = t () => (float[3] a) { n = com.acme.Norm(x) a = Div(x, n) },
        else_branch = e () => (float[3] b) { b = Identity(x) }>"""
    assert {f.rule for f in checked(branch, "float[3] x, bool c").findings} == {"zero-over-zero"}
    function = f"""{HEAD} g (float[3] x) => (float[3] y) {{ y = com.acme.normalise(x) }}
        <domain: "com.acme", opset_import: ["" : 18, "com.acme" : 1]> normalise (a) => (b)
        {{ n = com.acme.Norm(a) b = Div(a, n) }}"""
    assert {f.rule for f in vinculum.check(onnx.parser.parse_model(function), runs=0).findings} == {"zero-over-zero"}


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
