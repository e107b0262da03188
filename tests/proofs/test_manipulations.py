"""A change that makes a theorem say less, or a proof prove nothing, is noticed: each row of ``manipulations.toml``.

Only those that `replay` notices need provers; tests/machine/proofs has them, and forged sessions.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proofs.checking import rules, upstream
from proofs.checking.linked import linked, require_linked, vocabulary
from proofs.checking.provers import ProofError
from proofs.checking.recorded import changes, digests, record
from proofs.checking.statements import TRACED, Statements, require_traced
from proofs.checking.trusted import require_listed, require_read
from tests.copies import copied
from tests.proofs.small_proofs import MANIPULATIONS, Row

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "proofs"
MODULE = {"file": "theories/real_division.mlw", "replace": "module RealDivision\n"}


def require_recorded(proofs: Path) -> None:
    """Check that everything is as recorded."""
    if changed := changes(proofs, digests(proofs)):
        raise ProofError(", ".join(changed))


def require_extracted(proofs: Path) -> None:
    """Check that the headers and their sources are as they were at the extraction."""
    now, then = (set(text.splitlines()) for text in (rules.digests(), rules.RECORD.read_text(encoding="utf-8")))
    if changed := sorted({line.split()[1] for line in now ^ then}):
        raise ProofError(", ".join(changed))


def require_stated(proofs: Path) -> None:
    """Check that the file about Div on SONNX's libraries states what was proved."""
    upstream.require_stated(proofs / "sonnx_upstream" / "div.mlw")


CHECKS = {
    "trusted": require_listed,
    "statements": require_traced,
    "links": require_linked,
    "by_hand": require_read,
    "extracted": require_extracted,
    "record": require_recorded,
    "upstream": require_stated,
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recorded copy of the proofs, with the extracted headers beside it."""
    root = tmp_path_factory.mktemp("manipulated")
    for name in ("proofs", "src/vinculum/kernels/core/rules"):
        copied(ROOT / name, root / name, ignore=shutil.ignore_patterns("why3shapes*", "__pycache__"))
    record(root / "proofs", digests(root / "proofs"))
    return root / "proofs"


@pytest.fixture
def proofs(copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the copy, which the extraction reads as well."""
    monkeypatch.setattr(rules, "PROOFS", copy)
    monkeypatch.setattr(rules, "FOLDER", copy.parent / "src" / "vinculum" / "kernels" / "core" / "rules")
    monkeypatch.setattr(rules, "LIBRARY_RECORD", copy / "c" / rules.LIBRARY_RECORD.name)
    return copy


@contextmanager
def manipulated(file: Path, old: str, new: str) -> Iterator[None]:
    """Replace a text in a file within the block."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("check", CHECKS)
def test_an_unchanged_copy_passes(proofs: Path, check: str) -> None:
    CHECKS[check](proofs)


@pytest.mark.parametrize(
    ("check", "row"),
    [pytest.param(check, row, id=f"{check}-{row['what']}") for check in CHECKS for row in MANIPULATIONS[check]],
)
def test_a_manipulation_is_noticed(proofs: Path, check: str, row: Row) -> None:
    if module := row.get("module"):
        told = "not listed with a reason in proofs/README.md: real_division.Impossible."
        row = {"told": told, "by": f"module Impossible\n  use int.Int\n  {module}\nend\n{MODULE['replace']}", **MODULE}
    if theorem := row.get("theorem", ""):
        lines = (PROOFS / TRACED).read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if line.endswith(f"  {theorem}\n")]
        assert kept, "the statement is one of those that are kept"
        (proofs / TRACED).write_text(kept[0], encoding="utf-8")  # the others need not be looked at
    try:
        with manipulated(proofs / row["file"], row["replace"], row["by"]), pytest.raises(ProofError) as raised:
            CHECKS[check](proofs)
    finally:
        copied(PROOFS / TRACED, proofs)
    assert row.get("told", theorem) in str(raised.value)


def test_the_page_for_reviewers_says_how_many() -> None:
    count, static = (sum(len(MANIPULATIONS[name]) for name in names) for names in (MANIPULATIONS, CHECKS))
    page = " ".join((ROOT / "docs" / "how-to" / "review.md").read_text(encoding="utf-8").split())
    assert f"lists {count} changes in full, by what notices them; `make test` makes the {static} that need no" in page


def test_the_proof_is_no_part_of_the_statement(proofs: Path) -> None:
    theorem = "integer_division.Truncation.only_overflow"
    with manipulated(proofs / "theories" / "integer_division.mlw", "    quotient_magnitude a b;\n", "    ();\n"):
        assert Statements(proofs).digest(theorem) == Statements(PROOFS).digest(theorem)


def test_every_clause_with_theorems_has_its_words_once() -> None:
    tags = [tag for words in vocabulary((PROOFS / "vocabulary.toml").read_text("utf-8")) for tag in words.clauses]
    assert len(tags) == len(set(tags))
    assert set(tags) == {tag for clauses in linked(PROOFS).values() for tag in clauses}


@pytest.mark.parametrize("text", ["[[clause]", "[[clauses]]\n", "[[clause]]\nclauses = []\n", "clause = 3\n"])
def test_an_invalid_vocabulary(text: str) -> None:
    with pytest.raises(ProofError, match=r"vocabulary\.toml"):
        vocabulary(text)
