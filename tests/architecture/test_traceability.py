"""Every clause leads to theorems, functions and tests, and the checks of these links find planted breaks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from building.documentation.operators import operator_pages
from building.documentation.traceability import traceability_page
from proofs.checking import baseline, trace_links, traceability
from proofs.checking.mutants import mutants
from proofs.checking.provers import PROVERS, WHY3_VERSION
from proofs.checking.statements import TRACED
from proofs.checking.trace_links import Link, Links, NoTheorem
from tests.architecture.clause_markers import ClauseMarker, every_marker
from vinculum.spec.model import Clause
from vinculum.spec.rows import ROWS
from vinculum.spec.sonnx_div import DIV_INT
from vinculum.spec.traceability import DATA, Theorem

made = cache(traceability.made)

ROW = replace(
    ROWS[0], clauses=(Clause("shapes", "They are equal.", "Inputs"), Clause("types", "They are equal.", "Inputs"))
)
PROVED: dict[str, Theorem | None] = {"tensor.Shape.size": Theorem("tensor.Shape.size", ("Z3 4.8.12",), 0.1)}
EQUAL = "vinculum.tensors.broadcasting.equal"
CORE = "vinculum/kernels/core/"
LINKS = Links(
    (Link(("shapes",), theorems=("tensor.Shape.size",), functions=(EQUAL,)), Link(("types",), functions=(EQUAL,))),
    (NoTheorem(("types",), because="not about numbers"),),
)
MARKERS = (ClauseMarker("test_it", 1, (ROW.title, "shapes", "types"), "tests/test_it.py"),)


def functions(row: dict[str, Any]) -> list[str]:
    return [name for clause in row["clauses"].values() for name in clause["functions"]]


class TestOurChain:
    """No clause lacks a theorem, a function or a test, and generated files are up to date."""

    def test_nothing_breaks_it(self) -> None:
        assert made()[0] == []

    @pytest.mark.parametrize("path", [DATA, traceability.ROOT / "proofs" / TRACED], ids=lambda path: str(path.name))
    def test_generated_files_are_up_to_date(self, path: Path) -> None:
        up_to_date = path.read_text(encoding="utf-8") == made()[1][path]
        assert up_to_date, f"{path.name} is out of date: make traceability"

    def test_every_rule_of_the_core_keeps_a_clause(self) -> None:
        """Of the rules that the core itself calls."""
        core = trace_links.SOURCES / "vinculum" / "kernels" / "core"
        called = set(re.findall(r"\w+", (core / "rules.hpp").read_text(encoding="utf-8")))
        rules = {
            f"vinculum/kernels/core/rules/{path.name}:{name}"
            for path in (core / "rules").glob("*.h")
            for name in trace_links.c_definitions(path) & called
            if not re.fullmatch(r"prepared_\d+", name)  # Intermediate values of rules.
        }
        assert len(rules) > 30
        linked = {name for row in json.loads(made()[1][DATA])["rows"].values() for name in functions(row)}
        assert sorted(rules - linked) == []

    def test_every_linked_theorem_has_a_false_variant(self) -> None:
        listed = mutants(traceability.ROOT / "proofs")
        tried = {mutant.title if mutant.theorem else f"gappa.{mutant.file.stem}" for mutant in listed}
        assert sorted(json.loads(made()[1][DATA])["theorems"].keys() - tried) == []

    def test_exceptions_are_few(self) -> None:
        links = trace_links.read(trace_links.FILE.read_text(encoding="utf-8"))
        assert all(len(exception.because) > 20 for exception in links.exceptions)
        assert sum(len(exception.clauses) for exception in links.exceptions) < 13


def test_no_test_names_a_clause_that_no_row_has() -> None:
    tags = {row.title: {clause.tag for clause in row.clauses} for row in ROWS}

    def is_known(marker: ClauseMarker) -> bool:
        of_rows = [tags[row] for row in marker.rows] or [set().union(*tags.values())]
        return bool(marker.tags) and all(set(marker.tags) <= known for known in of_rows)

    assert [marker for marker in every_marker() if not is_known(marker)] == []


def without_link(links: Links) -> Links:
    return replace(links, links=links.links[1:])


def with_link(**changed: tuple[str, ...]) -> Callable[[Links], Links]:
    return lambda links: replace(links, links=(replace(links.links[0], **changed), *links.links[1:]))


class TestWhatBreaksIt:
    """Each planted break is reported by name, and nothing else is."""

    def test_nothing_is_told_of_a_whole_chain(self) -> None:
        assert list(trace_links.problems(LINKS, [ROW], PROVED, MARKERS)) == []

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (without_link, ["Div-1, shapes: no theorem", "Div-1, shapes: no function"]),
            (with_link(theorems=()), ["Div-1, shapes: no theorem"]),
            (with_link(functions=()), ["Div-1, shapes: no function"]),
            (
                with_link(theorems=("tensor.Shape.gone",)),
                ["tensor.Shape.gone: no session and no script has this theorem"],
            ),
            (with_link(functions=(f"{EQUAL}ity",)), [f"{EQUAL}ity: there is no such function"]),
            (with_link(clauses=("shapes", "ranks")), ["unused: no row named has the clause ranks"]),
            (with_link(rows=("Div-1", "Div-7")), ["unused: Div-7 has none of shapes"]),
            (lambda links: replace(links, exceptions=()), ["Div-1, types: no theorem"]),
            (
                lambda links: replace(links, exceptions=(NoTheorem(("types", "shapes"), because="why"),)),
                ["Div-1, shapes: excused from having a theorem, and has one"],
            ),
            (
                lambda links: replace(links, exceptions=(*links.exceptions, NoTheorem(("ranks",), because="why"))),
                ["unused: no row named has the clause ranks"],
            ),
        ],
    )
    def test_a_broken_link(self, change: Callable[[Links], Links], told: list[str]) -> None:
        assert list(trace_links.problems(change(LINKS), [ROW], PROVED, MARKERS)) == told

    def test_a_theorem_that_is_not_proved(self) -> None:
        told = trace_links.problems(LINKS, [ROW], {"tensor.Shape.size": None}, MARKERS)
        assert list(told) == ["tensor.Shape.size: not proved"]

    def test_a_clause_without_a_test_of_its_own(self) -> None:
        markers = [ClauseMarker("test_it", 1, (ROW.title, "shapes")), ClauseMarker("test_it", 2, ("types",))]
        assert list(trace_links.problems(LINKS, [ROW], PROVED, markers)) == ["Div-1, types: no test"]


def test_what_is_no_function_of_ours() -> None:
    for name in (
        "vinculum.tensors.broadcasting.equal.deeper",
        "vinculum.ops.operator.infer",  # imported there, not defined
        "vinculum.tensors.broadcasting",
        "numpy.divide",
        f"{CORE}pool.hpp:divide",  # declared there
        f"{CORE}loops.hpp:quotient_by",  # called there
        f"{CORE}rules/divide.h:truncating_i8",
        f"{CORE}loops.hpp:",
    ):
        assert not trace_links.is_defined(name), name


def test_every_link_of_the_pages_leads_somewhere() -> None:
    page = traceability_page()
    anchors = re.findall(r'<a id="([^"]+)"></a>', page)
    assert len(anchors) == len(set(anchors))
    links = {link for text in operator_pages() for link in re.findall(r"traceability\.md#([^)]+)\)", text.text)}
    assert links == {*anchors, "the-documents"}
    places = re.findall(r"\]\((\.\./proofs/[^)]+)\)", page)
    assert len(places) > len(anchors)
    assert [place for place in places if not (traceability.ROOT / "docs" / place).is_file()] == []


@pytest.mark.parametrize("old", ["79817873e2ad2881", "0b1c2740303a0912", "E_DIV_INT_FUNC_0010", "is discarded"])
def test_what_a_clause_says_and_rests_on_is_recorded(old: str) -> None:
    """The digest of a passage, of a document, a tag of the document, and the basis of the clause."""
    text, clause = baseline.FILE.read_text(encoding="utf-8"), DIV_INT.clauses[0]
    recorded = json.loads(DATA.read_text(encoding="utf-8"))["rows"][DIV_INT.title]["clauses"][clause.tag]["text"]
    assert traceability.text_of(baseline.read(text), DIV_INT, clause) == recorded
    assert old in text + clause.basis
    changed = replace(clause, basis=clause.basis.replace(old, old[::-1]))
    assert traceability.text_of(baseline.read(text.replace(old, old[::-1])), DIV_INT, changed) != recorded


class TestSafetyPage:
    """``docs/explanation/proofs.md`` speaks of the theories and the tools that there are."""

    PAGE = (traceability.ROOT / "docs" / "explanation" / "proofs.md").read_text(encoding="utf-8")

    def test_theories(self) -> None:
        table = self.PAGE.partition("| theories |")[2].partition("\n\n")[0]
        named = re.findall(r"`(\w+\*?)`", "".join(line.split("|")[1] for line in table.splitlines()[2:]))
        theories = [path.stem for path in (traceability.ROOT / "proofs" / "theories").glob("*.mlw")]
        assert [name for name in theories if not any(fnmatch(name, one) for one in named)] == []
        assert [one for one in named if one != "gappa" and not any(fnmatch(name, one) for name in theories)] == []

    def test_versions_are_those_of_the_provers(self) -> None:
        tools = {f"{prover.name} {prover.version}".lower() for prover in PROVERS.values()}
        assert [tool for tool in (*tools, f"why3 {WHY3_VERSION}") if tool not in self.PAGE.lower()] == []
