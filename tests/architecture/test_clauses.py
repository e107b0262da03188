"""Every clause of every row has a test that names it.

A test names clauses by ``@pytest.mark.clause(ROW, TAG, ...)``, ROW being the title of a row, such as ``"Div-6"``; one
marker for each row. With a tag alone, ``@pytest.mark.clause(TAG)``, it names the clause without a row, which stands
for no row in particular.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from vinculum.spec.model import OperatorSpec
from vinculum.spec.registry import ROWS

TESTS = Path(__file__).parents[1]
TITLES = {row.title for row in ROWS}
TAGS = {row.title: {clause.tag for clause in row.clauses} for row in ROWS}


def markers(source: str) -> Iterator[tuple[int, list[str | None]]]:
    """Yield the line and the arguments of each clause marker that decorates a test; None for what is not a string."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        for call in node.decorator_list:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "clause":
                words = [word.value if isinstance(word, ast.Constant) else None for word in call.args]
                yield call.lineno, [word if isinstance(word, str) else None for word in words]


def every_marker() -> list[tuple[str, list[str | None]]]:
    """Return each clause marker of the tests, with its file and line."""
    return [
        (f"{path.relative_to(TESTS)}:{line}", words)
        for path in sorted(TESTS.rglob("test_*.py"))
        for line, words in markers(path.read_text(encoding="utf-8"))
    ]


def named(row: OperatorSpec) -> set[str]:
    """Return the tags that some test names for a row."""
    return {tag for _, words in every_marker() if words[:1] == [row.title] for tag in words[1:] if tag}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_every_clause_is_named_by_a_test(row: OperatorSpec) -> None:
    assert sorted(TAGS[row.title] - named(row)) == []


def test_no_test_names_a_clause_that_no_row_has() -> None:
    every_tag = set().union(*TAGS.values())

    def is_known(words: list[str | None]) -> bool:
        if len(words) == 1:
            return words[0] in every_tag
        return words[0] in TITLES and set(words[1:]) <= TAGS[str(words[0])]

    assert [(place, words) for place, words in every_marker() if not words or not is_known(words)] == []


def test_a_marker_is_found_wherever_it_stands() -> None:
    source = """
@pytest.mark.clause("Div-6", "a", "b")
class TestIt:
    @other
    @pytest.mark.clause("c")
    def test_it(self): ...

@pytest.mark.clause(NAME)
def test_more(): ...
"""
    assert [words for _, words in markers(source)] == [["Div-6", "a", "b"], [None], ["c"]]
