"""The replay can fail: on a goal that nobody proved, a changed text, an axiom, a false theorem, a wrong script."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from proofs.checking import gappa, mutants
from proofs.checking.contradictions import require_none
from proofs.checking.jobs import failures
from proofs.checking.provers import ProofError
from proofs.checking.recorded import digests, record
from proofs.checking.sessions import Session, copied
from tests.processes import run
from tests.proofs.small_proofs import TRUE, VARIANT, ToldBy, change


class TestWhatHolds:
    """A whole folder is replayed, and nothing in it is written, not even where nothing may be."""

    def test_what_is_proved_is_replayed(self, proofs: Path, told_by: ToldBy) -> None:
        before = {path: path.read_bytes() for path in proofs.rglob("*") if path.is_file()}
        failed, told = told_by()
        assert failed == 0
        assert "proved  sums" in told
        assert "refused  sums.Sums.doubled: 2 is not 3" in told
        assert {path: path.read_bytes() for path in proofs.rglob("*") if path.is_file()} == before

    def test_nothing_is_left_outside_either(
        self, proofs: Path, told_by: ToldBy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))  # Why3 would put what provers read there
        assert told_by("sums")[0] == 0

    def test_copies_can_be_written_where_the_checkout_cannot(self, proofs: Path, tmp_path: Path) -> None:
        for path in proofs.rglob("*"):
            path.chmod(0o555 if path.is_dir() else 0o444)
        (tmp_path / "copy").mkdir()
        copied(proofs / "theories" / "sums.mlw", tmp_path / "copy")
        assert len(list((tmp_path / "copy").rglob("*"))) == 3
        assert all(path.stat().st_mode & stat.S_IWUSR for path in (tmp_path / "copy").rglob("*"))
        for path in proofs.rglob("*"):
            path.chmod(0o755)


class TestWhatFails:
    """Each way in which a proof may not hold is told in one line that names it."""

    def test_a_goal_that_nobody_proved(self, proofs: Path, two_provers: Path, told_by: ToldBy) -> None:
        change(proofs, TRUE.replace("\nend", "\n  lemma tripled: 1 + 1 + 1 = 3\nend"))
        theory = proofs / "theories" / "sums.mlw"
        session = Session(theory, two_provers)
        session.read()
        session.run()
        command = ["why3", "replay", f"--config={two_provers}", str(theory.with_suffix(""))]
        assert run(command).returncode == 0, "why3 itself is content"
        failed, told = told_by("sums")
        assert failed == 1
        assert "not proved: sums.Sums.tripled" in told

    def test_a_theory_without_a_goal(self, proofs: Path, told_by: ToldBy) -> None:
        change(proofs, "module Sums\n  use int.Int\nend\n")
        assert "has no goal at all" in told_by("sums")[1]

    def test_goals_that_are_gone_are_not_counted(self, proofs: Path, told_by: ToldBy) -> None:
        change(proofs, TRUE.replace("  lemma halved: 1 + 1 = 2\n", ""))
        failed, told = told_by("sums")
        assert failed == 0
        assert " 1 goals" in told

    def test_an_axiom_that_is_not_listed(self, proofs: Path, told_by: ToldBy) -> None:
        change(proofs, TRUE.replace("\nend", "\n  axiom odd: 1 = 2\nend"))
        with pytest.raises(ProofError, match=r"not listed .*: sums\.Sums\.odd axiom"):
            told_by("sums")

    def test_a_value_that_does_not_exist(self, proofs: Path, told_by: ToldBy) -> None:
        change(proofs, TRUE.replace("\nend", "\n  let f () : int ensures { false } = any int ensures { false }\nend"))
        assert "not proved: sums.Sums.f" in told_by("sums")[1]

    @pytest.mark.parametrize(
        ("manipulation", "complaint"),
        [
            (
                "type none = { x: int } invariant { x <> x }  lemma impossible: forall n: none. 1 = 2",
                "not proved: sums.Sums.none",
            ),
            (
                "let lemma none (a: int) ensures { false } = while true do invariant { a <> a } done",
                "may not terminate",
            ),
            ("let rec lemma none (a: int) ensures { false } = none a", "Cannot prove termination"),
            ("let rec lemma none (a: int) ensures { false } variant { 0 } = none a", "not proved: sums.Sums.none"),
            (
                "constant zero: int = 0  clone Abstract with constant c = zero",
                "not proved: sums.Sums.Abstract.positive",
            ),
            (
                "constant zero: int = 0  clone Abstract with constant c = zero, goal positive, axiom .",
                "not proved: sums.Sums.Abstract.positive",
            ),
            ("let none () : unit ensures { false } = any unit ensures { false }", "not proved: sums.Sums.none"),
            (
                "predicate none (a: int) = a <> a  let lemma impossible (a: int) ensures { none a } = ()",
                "not proved: sums.Sums.impossible",
            ),
        ],
    )
    def test_what_would_prove_anything(self, proofs: Path, told_by: ToldBy, manipulation: str, complaint: str) -> None:
        abstract = "module Abstract\n  use int.Int\n  constant c: int\n  axiom positive: c > 0\nend\n"
        change(proofs, abstract + TRUE.replace("\nend", f"\n  {manipulation}\nend"))
        row = "| `sums.Abstract.positive` | axiom | clones prove it |\n"
        (proofs / "README.md").write_text(row, encoding="utf-8")
        failed, told = told_by("sums")
        assert failed == 1
        assert complaint in told


class TestContradictions:
    """Axioms that somebody listed with a reason, and that contradict each other."""

    @pytest.mark.parametrize("holds", [True, False])
    def test_false_is_tried(self, proofs: Path, provers_or_skip: Path, holds: bool) -> None:
        """Of what the modules state together, even if each of them is possible."""
        first = "module First\n  use int.Int\n  constant c: int\n  axiom positive: c > 0\nend\n"
        relation = ">" if holds else "<"
        second = f"module Second\n  use int.Int\n  use First\n  axiom negative: c {relation} 0\nend\n"
        change(proofs, first + second)
        theory = proofs / "theories" / "sums.mlw"
        if holds:
            assert require_none(theory, provers_or_skip) == "no false"
        else:
            with pytest.raises(ProofError, match=r"^sums\.mlw contradicts itself: false is proved$"):
                require_none(theory, provers_or_skip)

    def test_a_theory_that_is_none(self, proofs: Path, two_provers: Path) -> None:
        change(proofs, "module First\n  use int.Int\n  axiom positive: d > 0\nend\n")
        with pytest.raises(ProofError, match=r"^contradiction\.mlw: "):
            require_none(proofs / "theories" / "sums.mlw", two_provers)

    def test_a_replay_of_everything_tries_it(self, told_by: ToldBy) -> None:
        failed, told = told_by()
        assert failed == 0
        assert re.search(r"^proved  sums +no false", told, re.MULTILINE)


class TestFalseVariants:
    """A variant that is proved, or that is none, is a failure; so is a file that is no list of variants."""

    @pytest.mark.parametrize(
        ("variant", "complaint"),
        [
            (VARIANT.replace("3 * a", "a * 2"), "PROVED, THOUGH FALSE sums.Sums.doubled"),
            (VARIANT.replace("replace = ", "replace = 'not there' #"), "stands 0 times in the text"),
            (VARIANT.replace("Sums.doubled", "Sums.tripled"), "has no goal Sums.tripled"),
            (VARIANT.replace("3 * a }", "3 *"), "sums.mlw: "),  # not WhyML
        ],
    )
    def test_a_variant_that_is_true_or_no_variant(
        self, proofs: Path, two_provers: Path, capsys: pytest.CaptureFixture[str], variant: str, complaint: str
    ) -> None:
        (proofs / "mutants" / "sums.toml").write_text(variant, encoding="utf-8")
        assert failures(mutants.jobs(list(mutants.mutants(proofs)), two_provers)) == 1
        assert complaint in capsys.readouterr().out


@pytest.mark.usefixtures("provers_or_skip")
class TestGappa:
    """A script is proved, refused or wrong; what Gappa only believes is wrong."""

    def test_scripts_are_replayed_and_varied(self, proofs: Path, told_by: ToldBy) -> None:
        (proofs / "gappa" / "wrong.gappa").write_text("{ x in [0, 1] -> x * x in [0, 0.5] }\n", encoding="utf-8")
        (proofs / "gappa" / "right.gappa").write_text("{ x in [0, 1] -> x * x in [0, 1] }\n", encoding="utf-8")
        listed = (
            '[[mutant]]\nscript = "right.gappa"\nreplace = "x * x in [0, 1]"\nby = "x * x in [0, {}]"\n'
            'false_because = "1 * 1 is 1"\n'
        )
        (proofs / "mutants" / "gappa.toml").write_text(
            listed.replace("{}", "2") + listed.replace("{}", "0.5"), encoding="utf-8"
        )
        record(proofs, digests(proofs))
        failed, told = told_by()
        assert failed == 2
        assert "proved  right" in told
        assert "FAILED  wrong" in told
        assert "PROVED, THOUGH FALSE right.gappa" in told
        assert "refused  right.gappa" in told

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("{ x in [0, 1] -> y in [0, 1] }\ny -> x;", "y and x are not trivially equal"),
            ("{ x in [0, 1] -> y in [0, 0.5] }\ny -> x;", "y and x are not trivially equal"),
            ("{ x in [0, 1] -> x * x in ? }", "Results"),
            ("@r = float<no_such_format>; { x in [0, 1] -> x in [0, 1] }", "invalid parameters"),
            ("{ x in [0, 1] -> ", "syntax error"),
        ],
    )
    def test_a_script_that_proves_nothing(self, tmp_path: Path, text: str, complaint: str) -> None:
        script = tmp_path / "script.gappa"
        script.write_text(text, encoding="utf-8")
        with pytest.raises(ProofError, match=complaint):
            gappa.proves(script)
