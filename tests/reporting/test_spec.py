"""Pages, tables and JSON of the specification, without colour."""

from __future__ import annotations

from rich.console import Group

from tests.cases import case
from tests.reporting.printing import Told, printed
from vinculum.reporting import spec
from vinculum.spec.diff import difference
from vinculum.spec.onnx_div import DIV_1, DIV_6, DIV_7
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.rows import ROWS, versions
from vinculum.spec.sonnx_div import DIV_INT, DIV_REAL
from vinculum.spec.traceability import ClauseTrace, Theorem, trace


def test_a_page_says_everything() -> None:
    for row in ROWS:
        with case(row.title):
            text = " ".join("\n".join(printed(spec.page(row), 80, "ascii")).split())
            operands = [f"{o.name} {o.type_variable} {o.description}" for o in (*row.inputs, *row.outputs)]
            clauses = [f"{c.tag} {c.statement} Basis: {c.basis}" for c in row.clauses]
            said = (*operands, *clauses, *filter(None, row.documentation), row.source.document)
            assert [line for line in said if line not in text] == []
            assert ("Special values" in text) == (row not in (DIV_INT, DIV_REAL))


def test_the_evidence() -> None:
    """Each name is on a line of its own, on a terminal that only shows ASCII."""
    for row in ROWS:
        with case(row.title):
            lines = {line.strip() for line in printed(spec.trace_page(row), 80, "ascii")}
            for found in trace(row).clauses:
                assert lines >= {found.tag, *(one.name for one in found.theorems), *found.functions}
            told = spec.trace_as_json(row)
            assert [one["tag"] for one in told["clauses"]] == [clause.tag for clause in row.clauses]
            assert all({"basis", "statement", "theorems", "tests"} <= one.keys() for one in told["clauses"])


PROVED = Theorem("theory.Module.goal", ("Z3 4.8.12", "CVC5 1.0"), 0.3), Theorem("gappa.other", ("Gappa 1.4",), None)
FUNCTIONS = ("vinculum.ops.one", "vinculum/kernels/core/rules/divide.h:truncating")
TESTS = ("tests/a.py::TestOne::test_a", "tests/a.py::test_b", "tests/b.py::test_c")
EVIDENCE = (
    ClauseTrace("first", PROVED, FUNCTIONS, TESTS, ("tests/c.py::test_d",), None),
    ClauseTrace("second", (), FUNCTIONS[:1], TESTS[:1], (), "about texts"),
)

FIRST, AXIS, BREAKS = difference(DIV_1, DIV_6), difference(DIV_6, DIV_7), difference(DIV_6, DIV_1)

TOLD: Told = {
    "all rows": lambda _: spec.overview(ROWS),
    "Div-6": lambda _: spec.page(DIV_6),
    "Div-6, as JSON": lambda _: spec.as_json(DIV_6),
    "Divide-1": lambda _: spec.page(DIVIDE_1),
    "Reciprocal-13": lambda _: spec.page(RECIPROCAL_13),
    "what clauses rest on": lambda _: Group(
        *(line for one, found in zip(DIV_6.clauses, EVIDENCE, strict=False) for line in spec._evidence(one, found))
    ),
    "Div-1 to Div-6": lambda _: spec.difference_page(FIRST),
    "Div-6 to Div-7": lambda _: spec.difference_page(AXIS),
    "Div-7 to Div-13": lambda _: spec.difference_page(difference(*versions("Div")[2:4])),
    "Div-6 to Div-1, as JSON": lambda _: spec.difference_as_json(BREAKS),
}
