"""The suite: ids, levels, the matrix of operator versions and element types, and our own engine.

Saved and published runs lose the cases that change, so every change must be intended: the suite is compared with what
``python -m tests.conformance.cases.test_enumeration`` recorded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from vinculum.conformance.cases import values
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.run.file import digest
from vinculum.conformance.run.judgement import judge
from vinculum.conformance.runtimes.backends import runtime
from vinculum.errors import VinculumError
from vinculum.sandbox import Answer, End
from vinculum.spec.model import OperatorSpec
from vinculum.spec.rows import ROWS

RESERVED = set("/*?[]\n\\\"'|")  # of globs, of the parts of an id, of quotes and of tables

# Clauses that no division of two arrays can test, with the reasons.
NOT_SHOWN = {
    "shape-inference-not-promised": "it is about a model's inference, before any division",
    "[GR1]": "no operand of an operation is sparse",
    "[GR2]": "every operand of an operation is an array, which states its element type",
    "[GR4]": "every case gives all operands",
    "no-error-condition": "what is left out of the domain, a zero divisor, is asked for by [C2]",
    "null-denominator": "it leaves to each implementation what [C3] asks for",
    "propagated-error": "it bounds what errors of the operands do, of which one division knows nothing",
}


@cache
def ids(level: Level) -> dict[str, Level]:
    """Return the level of each case of a level by its id; ids must not repeat."""
    found: dict[str, Level] = {}
    for case in cases(level):
        assert str(case.id) not in found
        found[str(case.id)] = case.level
    return found


@cache
def clauses() -> dict[str, set[str]]:
    """Return the clauses that some case tests at the default level, by the row's title."""
    found: dict[str, set[str]] = {row.title: set() for row in ROWS}
    for case in cases(Level.DEFAULT):
        found[case.operation.spec.title].add(case.clause)
    return found


def failures(asked: Iterable[Case]) -> Iterator[str]:
    """Yield the id and the verdict of each case that our own engine fails."""
    engine = runtime("vinculum")
    for case in asked:
        if engine.covers(case.operation):
            try:
                answer = Answer(End.RETURNED, engine.answer(case.operation))
            except (VinculumError, ArithmeticError, TypeError) as error:
                answer = Answer(End.REFUSED, words=str(error))
            verdict = judge(case.operation, case.expectation, answer)
            if verdict.kind.deviates:
                yield f"{case.id}: {verdict}"


class TestOurOwnEngine:
    """It passes every case."""

    def test_at_the_default_level(self) -> None:
        """All quick cases and every tenth of the others are run; the test of the last level runs all."""
        asked = [c for number, c in enumerate(cases(Level.DEFAULT)) if c.level is Level.QUICK or number % 10 == 0]
        assert list(failures(asked)) == []

    @pytest.mark.exhaustive
    def test_at_the_last_level(self) -> None:
        assert list(failures(cases(Level.FULL))) == []


class TestIds:
    """Ids have five parts in plain characters, and are unique."""

    def test_five_parts_without_reserved_characters(self) -> None:
        for words in ids(Level.DEFAULT):
            parts = words.split("/")
            assert len(parts) == 5, words
            assert all(part and part == part.strip() and part.isascii() and not RESERVED & set(part) for part in parts)

    @pytest.mark.exhaustive
    def test_no_two_are_the_same_at_the_last_level(self) -> None:
        assert len(ids(Level.FULL)) > len(ids(Level.DEFAULT))


class TestLevels:
    """Each level includes the levels before it."""

    def test_each_holds_those_before(self) -> None:
        quick = [words for words, level in ids(Level.DEFAULT).items() if level <= Level.QUICK]
        assert quick == list(ids(Level.QUICK))

    def test_the_quick_level_is_small(self) -> None:
        cells = Counter(tuple(words.split("/")[:2]) for words in ids(Level.QUICK))
        assert max(cells.values()) <= 30
        assert len(ids(Level.QUICK)) <= 600
        assert max(case.operation.operands[-1].size for case in cases(Level.QUICK)) <= 10_000


class TestTheMatrix:
    """Every operator version, element type and clause has cases."""

    @pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
    @pytest.mark.parametrize("level", [Level.QUICK, Level.DEFAULT], ids=lambda level: level.name)
    def test_every_element_type_of_every_row(self, row: OperatorSpec, level: Level) -> None:
        asked = {words.split("/")[1] for words in ids(level) if words.startswith((f"{row.title}/", f"{row.title} "))}
        assert {t.name for t in row.element_types} <= asked

    @pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
    def test_every_clause_that_a_division_can_show(self, row: OperatorSpec) -> None:
        assert {clause.tag for clause in row.clauses} - set(NOT_SHOWN) == clauses()[row.title]


RECORDED = Path(__file__).with_name("recorded.txt")


def families(row: OperatorSpec) -> list[str]:
    """Return a line for each element type of a version: how many cases it has, and a digest of them all.

    Of cases of the last level only ids, clauses and levels count: their operands take seconds to make.
    """
    counts, digests = Counter[str](), defaultdict[str, Any](sha256)
    for case in cases(Level.FULL, [row]):
        family = f"{row.title}, {case.element_type}"
        counts[family] += 1
        of_numbers = digest(case) if case.level <= Level.DEFAULT else ""
        digests[family].update(f"{case.id} {case.clause} {case.level.value} {of_numbers}\n".encode())
    return [f"{family}: {count} cases, {digests[family].hexdigest()[:16]}" for family, count in counts.items()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_as_recorded(row: OperatorSpec) -> None:
    values._made.cache_clear()  # The operands are made anew, whatever other tests have asked for.
    recorded = [line for line in RECORDED.read_text("utf-8").splitlines() if line.startswith(f"{row.title}, ")]
    assert families(row) == recorded


if __name__ == "__main__":
    RECORDED.write_text("".join(f"{line}\n" for row in ROWS for line in families(row)), "utf-8")
