"""Each theorem that is linked to a clause is about it, and no link is made or unmade by one table alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proofs.checking.linked import irrelevant, linked, require_linked, vocabulary
from proofs.checking.provers import ProofError
from tests.copies import copied

PROOFS = Path(__file__).parents[2] / "proofs"
DOMAIN = 'theorems = ["real_division.RealDivision.quotient_unique"]'


@pytest.fixture
def proofs(tmp_path: Path) -> Path:
    """Return a copy of what is compared."""
    folder = tmp_path / "proofs"
    folder.mkdir()
    for name in ("theories", "gappa"):
        copied(PROOFS / name, folder / name)
    for name in ("traceability.toml", "vocabulary.toml", "statements.txt"):
        copied(PROOFS / name, folder)
    return folder


def replace(file: Path, old: str, new: str) -> None:
    """Replace what stands in a file."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_ours_are_as_they_must_be() -> None:
    require_linked(PROOFS)


def test_every_clause_with_theorems_has_its_words_once() -> None:
    tags = [tag for words in vocabulary((PROOFS / "vocabulary.toml").read_text("utf-8")) for tag in words.clauses]
    assert len(tags) == len(set(tags))
    assert set(tags) == {tag for clauses in linked(PROOFS).values() for tag in clauses}


class TestLinks:
    """What is changed in one table differs from the other."""

    def test_a_theorem_about_something_else(self, proofs: Path) -> None:
        replace(proofs / "traceability.toml", DOMAIN, 'theorems = ["tensor.RowMajor.ravel_in_bounds"]')
        with pytest.raises(ProofError, match=r"ravel_in_bounds is linked to \[C2\] and is not stated in its words"):
            require_linked(proofs)

    def test_one_more_theorem_in_the_same_words(self, proofs: Path) -> None:
        """Words alone would let it pass."""
        more = DOMAIN.replace("]", ', "integer_division.MachineInteger.exact_in_domain"]')
        replace(proofs / "traceability.toml", DOMAIN, more)
        with pytest.raises(ProofError, match=r"\[C2\]: 2 theorems are linked, and vocabulary.toml knows of 1"):
            require_linked(proofs)

    def test_a_link_that_is_gone(self, proofs: Path) -> None:
        replace(proofs / "traceability.toml", DOMAIN, "theorems = []")
        with pytest.raises(ProofError, match=r"\[C2\]: 0 theorems are linked"):
            require_linked(proofs)

    def test_words_that_are_gone(self, proofs: Path) -> None:
        file = proofs / "vocabulary.toml"
        text = file.read_text("utf-8")
        cut = re.sub(r'\[\[clause\]\]\nclauses = \["\[C2\]"\]\n.*\n.*\n', "", text)
        assert cut != text
        file.write_text(cut, encoding="utf-8")
        assert list(irrelevant(proofs)) == [
            "[C2]: 0 entries in vocabulary.toml; a clause that a theorem is linked to has one"
        ]

    @pytest.mark.parametrize("words", ["[]", "[[]]"])
    def test_no_words_at_all(self, proofs: Path, words: str) -> None:
        replace(proofs / "vocabulary.toml", 'words = [["in_domain"]]', f"words = {words}")
        with pytest.raises(ProofError, match="each with clauses, theorems and words"):
            require_linked(proofs)

    @pytest.mark.parametrize("text", ["[[clause]", "[[clauses]]\n", "[[clause]]\nclauses = []\n", "clause = 3\n"])
    def test_what_is_no_such_table(self, text: str) -> None:
        with pytest.raises(ProofError, match=r"vocabulary\.toml"):
            vocabulary(text)


class TestStatements:
    """The statements that are kept are those of what is linked, extracted or trusted."""

    @pytest.mark.parametrize(
        "theorem", ["two_step_kernels.Quotients.floor_i64", "c_loops.Result.([]<-)", "tensor.RowMajor.ravel_in_bounds"]
    )
    def test_a_line_that_is_gone(self, proofs: Path, theorem: str) -> None:
        file = proofs / "statements.txt"
        lines = file.read_text("utf-8").splitlines(keepends=True)
        kept = [line for line in lines if not line.endswith(f"  {theorem}\n")]
        assert len(kept) == len(lines) - 1
        file.write_text("".join(kept), encoding="utf-8")
        with pytest.raises(ProofError, match=f"and nothing else: {re.escape(theorem)};"):
            require_linked(proofs)
