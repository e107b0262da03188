"""Each clause rests on identified lines of an identified text, or is marked as derived."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from proofs.checking.baseline import FILE, Baseline, Document, Passage, differences, digest_of, problems, read
from proofs.checking.provers import ProofError
from vinculum.spec.rows import ROWS

TEXT = "Div\n\n  The quotient.  \nIts fraction is discarded.\n"


@pytest.fixture(scope="module")
def ours() -> Baseline:
    return read(FILE.read_text(encoding="utf-8"))


def test_every_clause_has_one_requirement(ours: Baseline) -> None:
    assert list(problems(ours, ROWS)) == []


class TestGaps:
    """Gaps are reported."""

    def test_a_clause_without_a_requirement_or_with_two(self, ours: Baseline) -> None:
        (first, *rest) = ours.requirements
        for changed, count in ((tuple(rest), 0), ((first, first, *rest), 2)):
            (told,) = problems(replace(ours, requirements=changed), ROWS)
            assert (
                told == f"SONNX Div (real), exact-quotient: {count} requirements in baseline.toml; each clause has one"
            )

    def test_a_derived_requirement_that_is_not_marked(self, ours: Baseline) -> None:
        changed = tuple(replace(each, derived="") for each in ours.requirements)
        told = list(problems(replace(ours, requirements=changed), ROWS))
        assert "SONNX Div (int), [V1]: the document is silent, and the requirement is not marked as derived" in told
        assert "[V1]: rests on no text and is not derived" in told

    def test_an_unknown_document_or_clause(self, ours: Baseline) -> None:
        (first, *rest) = ours.requirements
        (passage, *_) = first.on
        changed = replace(first, on=(replace(passage, document="other"),)), *rest
        assert list(problems(replace(ours, requirements=changed), ROWS)) == [
            "exact-quotient: no document is called other"
        ]
        changed = replace(first, clauses=(*first.clauses, "[C9]")), *rest
        assert list(problems(replace(ours, requirements=changed), ROWS)) == ["unused: no row named has the clause [C9]"]

    @pytest.mark.parametrize(
        "text", ["", "[document]", "[[requirement]]\non = 3", "[document]\n[[requirement]]\non = ['sonnx 3']", "x = 1"]
    )
    def test_an_invalid_baseline(self, text: str) -> None:
        with pytest.raises(ProofError, match=r"^baseline\.toml"):
            read(text)


class TestComparison:
    """The baseline is compared with copies of the documents."""

    @pytest.fixture
    def small(self, ours: Baseline, tmp_path: Path) -> Baseline:
        (tmp_path / "page.md").write_text(TEXT, encoding="utf-8")
        document = Document("A page", "page.md", sha256(TEXT.encode()).hexdigest(), "https://example.org")
        passage = Passage("page", "1,3-4", digest_of("Div\nThe quotient.\nIts fraction is discarded."))
        requirement = replace(ours.requirements[0], on=(passage,))
        return Baseline({"page": document}, (requirement,))

    def test_the_same_texts(self, small: Baseline, tmp_path: Path) -> None:
        assert list(differences(small, tmp_path)) == []

    def test_another_text(self, small: Baseline, tmp_path: Path) -> None:
        (tmp_path / "page.md").write_text(TEXT.replace("discarded", "rounded"), encoding="utf-8")
        whole, passage = differences(small, tmp_path)
        assert whole == "page.md: another text than that of the baseline"
        assert passage.startswith("exact-quotient: page 1,3-4 is now ")

    @pytest.mark.parametrize(
        ("changed", "told"),
        [
            ({"on": (Passage("page", "1", digest_of("Div"), "E_0010"),)}, ["exact-quotient: page 1 has no E_0010"]),
            ({"clauses": ("[C1]",)}, ["[C1]: none of the lines that it rests on has this tag"]),
            ({"clauses": ("[V1]",), "on": ()}, []),  # it is derived
            ({"clauses": ("[C1]",), "on": (Passage("absent", "1", ""), Passage("page", "1", digest_of("Div")))}, []),
        ],
    )
    def test_lines_without_their_tag(
        self, small: Baseline, tmp_path: Path, changed: dict[str, Any], told: list[str]
    ) -> None:
        requirement = replace(small.requirements[0], **changed)
        assert list(differences(replace(small, requirements=(requirement,)), tmp_path)) == told

    def test_no_text(self, small: Baseline, tmp_path: Path) -> None:
        (tmp_path / "page.md").unlink()
        assert list(differences(small, tmp_path)) == ["page.md: not there; A page, https://example.org"]
