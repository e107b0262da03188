"""The stored proofs are complete, which needs no prover to check; `make proofs` replays them."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.checking import upstream
from proofs.checking.mutants import mutants
from proofs.checking.provers import ProofError
from proofs.checking.recorded import changes, digests, require_whole
from proofs.checking.replay import read_theory
from proofs.checking.trusted import trusted
from tests.proofs.small_proofs import VARIANT

CLONED = """
module Abstract constant c: int axiom bounds: c > 0 axiom more: c > 1 val f (x: int) : int end
module Instance clone export Abstract with constant c = one, val f = g, goal bounds, goal more, axiom . end
module Library clone export mach.int.Bounded_int with type t = t, axiom . end
"""
PROOFS = Path(__file__).parents[2] / "proofs"
THEORIES = sorted((PROOFS / "theories").glob("*.mlw"))


@pytest.mark.parametrize("theory", THEORIES, ids=lambda theory: theory.stem)
class TestEachTheory:
    """Each theory has a session in which every goal is proved, and false variants."""

    def test_its_session_proves_every_goal(self, theory: Path) -> None:
        assert read_theory(theory).endswith(" goals")

    def test_false_variants_of_it_are_tried(self, theory: Path) -> None:
        tried = list(mutants(PROOFS, [theory.stem]))
        assert tried
        assert all(mutant.text() != theory.read_text(encoding="utf-8") for mutant in tried)


def test_every_false_variant_says_why_it_is_false() -> None:
    assert [mutant.title for mutant in mutants(PROOFS) if len(mutant.false_because) < 10] == []


def test_each_theory_has_its_session_and_nothing_else_is_there() -> None:
    require_whole(PROOFS / "theories")


def test_everything_is_as_it_was_last_replayed() -> None:
    # Why3's own files are compared only where it is installed.
    changed = [name for name in changes(PROOFS, digests(PROOFS)) if not name.startswith("/")]
    assert changed == [], "recorded.txt is not up to date: `make proofs-all RECORD=--record`"


class TestWhatIsTrusted:
    """Each axiom, assumption, admitted goal and contract without a body is found, to be listed with its reason."""

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("axiom bad: 1 = 2", ["t.M.bad axiom"]),
            ("let f () = assume { false }", ["t.M.? assume"]),
            ("let f () : int = admit { false }; 1", ["t.M.? admit"]),
            ("val f (x: int) : int ensures { result = x + 1 }", ["t.M.f val"]),
            ("val ghost function f int : int", ["t.M.f val"]),
            ("val ([]) (x: int) : int", ["t.M.([]) val"]),
            ("let f () : int = any int ensures { false }", []),  # Why3 asks for a witness
            ("(* axiom in a comment: 1 = 2 *) let f (x: int) = x (* axiom *)", []),
            ("clone mach.int.Bounded_int with type t = t, axiom .", ["t.M.mach.int.Bounded_int clone"]),
            (
                "clone export ieee_float.GenericFloat with\n    type t = t,\n    axiom .\n  axiom more: true",
                ["t.M.ieee_float.GenericFloat clone", "t.M.more axiom"],
            ),
            ("clone export ours.Abstract with val f", []),  # Why3 asks for proofs of the axioms
            ("clone ours.Abstract with val f, goal bounds, lemma more, axiom .", []),
            ("clone ours.Abstract as A with val (+) = add, val f = g\n  axiom more: true", ["t.M.more axiom"]),
            (
                "clone export ours.Abstract with constant c = c, val f, axiom .",
                ["t.M.ours.Abstract.bounds axiom", "t.M.ours.Abstract.more axiom"],
            ),
            ("clone ours.Abstract with goal bounds, val f, axiom .", ["t.M.ours.Abstract.more axiom"]),
            ("clone ours.Abstract with val f, axiom bounds, goal more", ["t.M.ours.Abstract.bounds axiom"]),
            ("clone ours.Abstract with constant c = c", ["t.M.ours.Abstract.f val"]),
            ("clone ours.Abstract with type t = list int, axiom .", ["t.M.ours.Abstract.f val", "t.M.? axiom"]),
            ("clone ours.Instance with axiom .", []),
            ("clone ours.Library with axiom .", ["t.M.ours.Library.mach.int.Bounded_int clone"]),
            ("clone ours.Gone with axiom .", ["t.M.ours.Gone clone"]),
            ("clone [@odd] ours.Instance", ["t.M.? clone"]),
            ("let lemma axiomatic (valid: int) = ()", []),
            ("let rec f () diverges = f ()", ["t.M.? diverges"]),
            ("let rec f [@vc:divergent] () = f ()", ["t.M.? divergent"]),
            ("axiom(* *)bad: 1 = 2", ["t.M.bad axiom"]),
            ("lemma a [@(*]: true  axiom bad: 1 = 2  lemma b [@*)]: true", ["t.M.bad axiom"]),
            ('let a = "\\"(*"  axiom bad: 1 = 2  let b = "*)"', ["t.M.bad axiom"]),
            ('(* (* *) " *)  axiom bad: 1 = 2  (* " *)', ["t.M.bad axiom"]),
            ("(* (* *) axiom in the outer comment *)", []),
            ("let (*) (a: int) = a  axiom bad: 1 = 2  (* (*) *)", ["t.M.bad axiom"]),
        ],
    )
    def test_each_way_to_assume_is_seen(self, tmp_path: Path, text: str, found: list[str]) -> None:
        (tmp_path / "ours.mlw").write_text(CLONED, encoding="utf-8")
        theory = tmp_path / "t.mlw"
        theory.write_text(f"module M\n  {text}\nend\n", encoding="utf-8")
        assert trusted(theory) == found

    def test_a_module_that_clones_itself(self, tmp_path: Path) -> None:
        theory = tmp_path / "t.mlw"
        theory.write_text("module M clone N with axiom . end\nmodule N clone t.M with axiom . end\n", encoding="utf-8")
        with pytest.raises(ProofError, match=r"t\.M clones itself"):
            trusted(theory)

    def test_outside_a_module_too(self, tmp_path: Path) -> None:
        theory = tmp_path / "t.mlw"
        theory.write_text("axiom top: 1 = 2  module M axiom bad: 1 = 2 end\n  module N axiom bad: 1 = 2 end\n")
        assert trusted(theory) == ["t.Top.top axiom", "t.M.bad axiom", "t.N.bad axiom"]


class TestFalseVariants:
    """A file that is no list of variants is refused; tests/machine/proofs tries the variants."""

    @pytest.mark.parametrize(
        ("listed", "complaint"),
        [
            ("[[mutant]", "sums.toml is no list of mutants"),
            ("[[mutants]]", "'mutant'"),
            ("[[mutant]]\ntheorem = 'Sums.doubled'", "missing"),
            (VARIANT + "why = 'so'", "unexpected keyword argument 'why'"),
            (VARIANT.replace('"ensures { a + a = 3 * a }"', "3"), "every value is a string"),
            (VARIANT.replace("theorem", "script"), "a theorem of sums.mlw or a script in gappa"),
            (VARIANT.replace('theorem = "Sums.doubled"', ""), "a theorem of sums.mlw or a script in gappa"),
        ],
    )
    def test_a_file_that_is_no_list_of_variants(self, tmp_path: Path, listed: str, complaint: str) -> None:
        (tmp_path / "theories").mkdir()
        (tmp_path / "theories" / "sums.mlw").touch()
        (tmp_path / "mutants").mkdir()
        (tmp_path / "mutants" / "sums.toml").write_text(listed, encoding="utf-8")
        with pytest.raises(ProofError, match=r"sums\.toml is no list of mutants") as raised:
            list(mutants(tmp_path))
        assert complaint in str(raised.value)

    def test_a_theory_that_has_none(self, tmp_path: Path) -> None:
        with pytest.raises(ProofError, match="no false variants of sums are listed"):
            list(mutants(tmp_path, ["sums"]))


def test_every_goal_on_sonnx_s_libraries_has_a_stored_proof() -> None:
    assert read_theory(upstream.OURS) == "27 goals"


def test_no_arithmetic_of_integers_is_assumed() -> None:
    """The one `val` is a parameter, for which each clone gives a proved program, or `/` of the processor."""
    text = upstream.OURS.read_text(encoding="utf-8")
    assert text.count("val divide = quotient_") == 8
    assert text.count("val divide = Float.divide") == 2


def test_a_checkout_of_another_commit_is_refused(tmp_path: Path) -> None:
    libraries = tmp_path / upstream.LIBRARIES
    libraries.mkdir(parents=True)
    (libraries / "std.mlw").write_text("module Int end\n", encoding="utf-8")
    (tmp_path / "library").mkdir()
    with pytest.raises(ProofError, match=r"std\.mlw is not that of commit 652b76b8"):
        upstream.laid_out(tmp_path, tmp_path / "library")
