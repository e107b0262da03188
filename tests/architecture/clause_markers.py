"""The clause markers of the tests, read from the sources.

A test names clauses by ``@pytest.mark.clause(ROW, ..., TAG, ...)``, each of the tags of each of the rows. ROW is the
title of a row, such as ``"Div-6"``, or a pattern, such as ``"Div-*"``. Without a row, ``@pytest.mark.clause(TAG)``, a
test names the clause of none in particular.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from vinculum.spec.rows import ROWS

TITLES = [row.title for row in ROWS]
TESTS = Path(__file__).parents[1]
APART = ("runtimes", "machine")
"""The folders of tests that `make test` leaves out."""


@dataclass(frozen=True)
class ClauseMarker:
    """One clause marker that decorates a test.

    - `test`: The test or the class of tests, as pytest calls it within its file: ``"TestEveryPair::test_floats"``.
    - `words`: The marker's arguments; None for what is not a string.
    - `file`: The test's file, as pytest is given it: ``"tests/exhaustive/test_sixteen_bits.py"``.
    """

    test: str
    line: int
    words: tuple[str | None, ...]
    file: str = ""

    def names(self, row: str, tag: str) -> bool:
        return row in self.rows and tag in self.tags

    @property
    def rows(self) -> tuple[str, ...]:
        """The titles of the rows that its arguments name."""
        return tuple(title for title in TITLES if any(fnmatch(title, word or "") for word in self.words))

    @property
    def tags(self) -> tuple[str | None, ...]:
        return tuple(word for word in self.words if not any(fnmatch(title, word or "") for title in TITLES))


def markers(source: str, file: str = "") -> Iterator[ClauseMarker]:
    """Yield each clause marker of a file, in the order of its tests."""
    if "clause(" in source:  # Parsing the others would take most of the time.
        yield from _markers(ast.parse(source), (), file)


@cache
def every_marker() -> tuple[ClauseMarker, ...]:
    """Return each clause marker of the tests that need no runtime and no program beside ours."""
    return tuple(
        marker
        for path in sorted(TESTS.rglob("test_*.py"))
        if path.relative_to(TESTS).parts[0] not in APART
        for marker in markers(path.read_text(encoding="utf-8"), path.relative_to(TESTS.parent).as_posix())
    )


def _markers(node: ast.AST, within: tuple[str, ...], file: str) -> Iterator[ClauseMarker]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if not isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield from _markers(child, within, file)
            continue
        path = (*within, child.name)
        for call in child.decorator_list:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "clause":
                words = [word.value if isinstance(word, ast.Constant) else None for word in call.args]
                strings = tuple(word if isinstance(word, str) else None for word in words)
                yield ClauseMarker("::".join(path), call.lineno, strings, file)
        yield from _markers(child, path, file)
