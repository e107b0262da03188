"""Each part of a false variant is tried by all provers of the true theorem."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from proofs.checking.jobs import AT_ONCE
from proofs.checking.mutants import Mutant, is_refuted, mutants, survives
from proofs.checking.prove import attempt
from proofs.checking.provers import ProofError
from proofs.checking.sessions import Session, leaves
from tests.proofs.small_proofs import PROVERS

PROOFS = Path(__file__).parents[3] / "proofs"
CVC4, CVC5 = PROVERS
THEORY = """module Pairs
  use int.Int
  predicate first (x: int) = x + 1 > x
  predicate second (x: int) = x - 1 < x
  lemma both: (forall x. first x) /\\ (forall x. second x)
  lemma other: 1 + 1 = 2
end
"""


@pytest.fixture(scope="module")
def theory(two_provers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a theory whose first theorem is proved in two parts, one by CVC4 and one by CVC5."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.mlw"
    path.write_text(THEORY, encoding="utf-8")
    session = Session(path, two_provers)
    session.run()
    attempt(session, [goal for _, goal in session.goals()][:1], "split_vc")
    for part, prover in enumerate((CVC4, CVC5)):
        both, _ = (goal for _, goal in session.goals())
        attempt(session, [leaves(both)[part]], f"{prover}:5")
    attempt(session, [goal for _, goal in session.goals()][1:], f"{CVC4}:5")
    assert all(theorem.proved for theorem in session.theorems())
    assert len(leaves(next(session.goals())[1])) == 2
    return path


def variant(theory: Path, old: str, new: str, theorem: str = "Pairs.both") -> Mutant:
    return Mutant("pairs.toml", theory, theorem, old, new, "so it is")


BOTH = "(forall x. first x) /\\ (forall x. second x)"
PREDICATES = "x + 1 > x\n  predicate second (x: int) = x - 1 < x"


@pytest.mark.parametrize(
    ("old", "new", "cvc4", "is_proved"),
    [
        ("x + 1 > x", "x + 1 > 2 * x", "", False),  # no prover proves one part
        ("x + 1 > x", "x + 2 > x", "", True),
        ("x + 1 > x", "x + 2 > x", "echo unknown", True),  # another prover proves it
        (PREDICATES, PREDICATES.replace("x - 1", "2 * x"), "echo unknown", False),  # it does not prove the next part
        (BOTH, f"{BOTH} /\\ (forall x. first (2 * x) -> x > 0)", "", False),  # a part is added
        # A part that is removed counts neither as proved nor as open.
        *((BOTH, f"(forall x. {left} x)", "", True) for left in ("first", "second")),
        *((BOTH, f"(forall x. {left} x && x > 0)", "", False) for left in ("first", "second")),
        # Processor time is limited, not wall time, so that a busy machine refuses no variant.
        ("1 + 1 = 2", "1 + 1 = 3", "sleep 3; echo unsat", True),
        ("1 + 1 = 2", "1 + 1 = 3", "while :; do :; done; echo unsat", False),
    ],
)
def test_parts(
    theory: Path,
    two_provers: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    old: str,
    new: str,
    cvc4: str,
    is_proved: bool,
) -> None:
    if cvc4:  # a shell script takes its place
        (tmp_path / "cvc4").write_text(f"#!/bin/sh\n{cvc4}\n")
        (tmp_path / "cvc4").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    theorem = "Pairs.other" if old == "1 + 1 = 2" else "Pairs.both"
    assert survives(variant(theory, old, new, theorem), two_provers) == is_proved


@pytest.mark.parametrize("new", ["", "  lemma renamed: 1 + 1 = 3\n", "  axiom other: 1 + 1 = 3\n"])
def test_a_removed_theorem(theory: Path, two_provers: Path, new: str) -> None:
    with pytest.raises(ProofError, match=r"pairs\.mlw has no goal Pairs\.other"):
        survives(variant(theory, "  lemma other: 1 + 1 = 2\n", new, "Pairs.other"), two_provers)


EVALUATED = """module Division
  use int.Int
  use int.ComputerDivision
  use list.List
  constant least: int
  axiom least_is_negative: least < 0
  function double (x: int) : int = 2 * x
  lemma untrue: forall x. double x < x
  predicate in_range (x: int) = least <= x <= - least - 1
  let rec function sum (s: list int) : int = match s with Nil -> 0 | Cons x rest -> x + sum rest end
  let lemma remainder (a b: int) (_: unit)
    requires { b > 0 }
    ensures { a - b * div a b < b (* as large as b: no *) }
  = ()
  let lemma fits (x: int)
    requires { in_range x /\\ x <> least }
    ensures { in_range (- x) }
  = ()
  lemma longer: forall s: list int, x: int. x > 0 -> sum (Cons x s) > sum s
  lemma bounded: forall n: int. n > 0 -> exists i. 0 <= i < n
  let twice (x: int) : int
    ensures { result = double x }
  = x + x
end
"""


class TestWitnesses:
    """A variant is evaluated at the values of its witness, which must refute it."""

    @pytest.mark.parametrize(
        ("theorem", "old", "new", "witness", "refuted"),
        [
            ("remainder", "div a b < b", "div a b < b - 1", "a = 5, b = 3", True),
            ("remainder", "div a b < b", "div a b < b - 1", "a = 6, b = 3", False),
            ("remainder", "div a b < b", "div a b <= b", "a = 5, b = 3", False),  # the variant is true
            ("remainder", "div a b < b", "div a b < b - 1", "a = 5, b = -3", False),  # it violates the precondition
            ("fits", "x <> least", "true", "least = -128, x = -128", True),
            ("fits", "x <> least", "true", "least = 0, x = 0", False),  # it violates the axiom
            ("fits", "<= - least - 1", "<= - least - 2", "least = -128, x = -127", True),
            ("longer", "x > 0 ->", "x >= 0 ->", "s = (Cons 1 (Cons 2 Nil)), x = 0", True),
            ("longer", "function double", "function  double", "s = Nil, x = 1", False),  # `untrue` is not used
            ("bounded", "n > 0 ->", "n >= 0 ->", "n = 0", False),  # Why3 cannot compute it
        ],
    )
    def test_a_witness_refutes_the_variant_only(
        self, two_provers: Path, tmp_path: Path, theorem: str, old: str, new: str, witness: str, refuted: bool
    ) -> None:
        mutant = self._variant(tmp_path, theorem, old, new, witness)
        assert is_refuted(mutant, two_provers) == refuted

    @pytest.mark.parametrize(
        ("theorem", "witness", "complaint"),
        [
            ("remainder", "a = 5", "a witness of remainder has values of a, b, not of a"),
            ("gone", "a = 5", r"division\.mlw has no theorem Division\.gone"),
            ("twice", "x = 1", "twice is about what a program gives"),
        ],
    )
    def test_invalid_witnesses(
        self, two_provers: Path, tmp_path: Path, theorem: str, witness: str, complaint: str
    ) -> None:
        with pytest.raises(ProofError, match=complaint):
            is_refuted(self._variant(tmp_path, theorem, "2 * x", "3 * x", witness), two_provers)

    def _variant(self, folder: Path, theorem: str, old: str, new: str, witness: str) -> Mutant:
        path = folder / "division.mlw"
        path.write_text(EVALUATED, encoding="utf-8")
        return replace(variant(path, old, new, f"Division.{theorem}"), witness=witness)


@pytest.mark.exhaustive
def test_the_true_theorems_survive(provers_or_skip: Path) -> None:
    unchanged = {mutant.title: replace(mutant, new=mutant.old) for mutant in mutants(PROOFS)}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        proved = pool.map(lambda mutant: survives(mutant, provers_or_skip), unchanged.values())
        assert [title for title, is_proved in zip(unchanged, proved, strict=True) if not is_proved] == []
