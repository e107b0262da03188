"""The replay fails on goals that are not proved, changed theories, forged sessions and wrong scripts."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from proofs.checking import gappa, mutants
from proofs.checking.contradictions import require_none
from proofs.checking.jobs import failures
from proofs.checking.provers import ProofError
from proofs.checking.recorded import digests, record
from proofs.checking.replay import replay
from proofs.checking.sessions import Session
from tests.processes import run
from tests.proofs.small_proofs import MANIPULATIONS, TRUE, VARIANT, Row, ToldBy, change

FALSE = TRUE.replace("= 2 * a", "= 3 * a")


def assert_fails(told_by: ToldBy, name: str, words: str) -> None:
    """Fail unless the replay of a theory fails with these words."""
    failed, told = told_by(name)
    assert failed == 1
    assert words in told


class TestWhatHolds:
    """A whole folder is replayed, and nothing in it is written."""

    def test_proved_theories_are_replayed(self, proofs: Path, told_by: ToldBy) -> None:
        before = {path: path.read_bytes() for path in proofs.rglob("*") if path.is_file()}
        failed, told = told_by()
        assert failed == 0
        assert re.search(r"^proved  sums +2 goals", told, re.MULTILINE)
        assert re.search(r"^proved  sums +no false, 1 modules", told, re.MULTILINE)
        assert "refused  sums.Sums.doubled: 2 is not 3" in told
        assert {path: path.read_bytes() for path in proofs.rglob("*") if path.is_file()} == before

    def test_nothing_is_left_elsewhere(self, told_by: ToldBy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))  # Why3 would write the files for provers there
        assert told_by("sums")[0] == 0

    def test_removed_goals_are_not_counted(self, proofs: Path, told_by: ToldBy) -> None:
        change(proofs, TRUE.replace("  lemma halved: 1 + 1 = 2\n", ""))
        failed, told = told_by("sums")
        assert failed == 0
        assert " 1 goals" in told


class TestWhatFails:
    """Each reason why a proof does not hold is reported in one line."""

    @pytest.mark.parametrize("row", MANIPULATIONS["replay"], ids=lambda row: row["what"])
    def test_additional_assumptions(self, proofs: Path, told_by: ToldBy, row: Row) -> None:
        abstract = "module Abstract\n  use int.Int\n  constant c: int\n  axiom positive: c > 0\nend\n"
        change(proofs, abstract + TRUE.replace("\nend", f"\n  {row['declaration']}\nend"))
        trusted = "| `sums.Abstract.positive` | axiom | clones prove it |\n"
        (proofs / "README.md").write_text(trusted, encoding="utf-8")
        assert_fails(told_by, "sums", row["told"])

    def test_a_goal_that_nobody_proved(self, proofs: Path, two_provers: Path, told_by: ToldBy) -> None:
        change(proofs, TRUE.replace("\nend", "\n  lemma tripled: 1 + 1 + 1 = 3\nend"))
        theory = proofs / "theories" / "sums.mlw"
        session = Session(theory, two_provers)
        session.read()
        session.run()
        command = ["why3", "replay", f"--config={two_provers}", str(theory.with_suffix(""))]
        assert run(command).returncode == 0, "why3 itself is content"
        assert_fails(told_by, "sums", "not proved: sums.Sums.tripled")

    def test_a_theory_without_a_goal(self, proofs: Path, told_by: ToldBy) -> None:
        change(proofs, "module Sums\n  use int.Int\nend\n")
        assert "has no goal at all" in told_by("sums")[1]


class TestSessions:
    """The claims of a session file are not trusted but replayed."""

    @pytest.mark.parametrize("claim", ["", '<transf name="destruct_term" arg1="y" proved="true"></transf>'])
    def test_a_goal_without_its_attempt(self, proofs: Path, told_by: ToldBy, claim: str) -> None:
        """Not even if the session claims that a transformation without parts proves it."""
        session = proofs / "theories/sums/why3session.xml"
        text = session.read_text(encoding="utf-8")
        forged, count = re.subn('(<goal name="halved"[^>]*>).*?(</goal>)', rf"\1{claim}\2", text, flags=re.DOTALL)
        assert count
        session.write_text(forged, encoding="utf-8")
        assert_fails(told_by, "sums", "not proved: sums.Sums.halved")

    @pytest.mark.parametrize("name", ["sums", "other"])
    def test_a_false_theorem(self, proofs: Path, told_by: ToldBy, name: str) -> None:
        """Not even with a copy of another theory's session."""
        (proofs / "theories" / f"{name}.mlw").write_text(FALSE, encoding="utf-8")
        if name != "sums":
            shutil.copytree(proofs / "theories" / "sums", proofs / "theories" / name)
        assert_fails(told_by, name, f"not proved: {name}.Sums.doubled")

    def test_why3_that_does_not_finish(
        self, proofs: Path, told_by: ToldBy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first call, which lists the goals, succeeds; the second, which tries them, ends at once."""
        why3 = tmp_path / "path" / "why3"
        why3.parent.mkdir()
        why3.write_text(
            f'#!/bin/sh\n[ "$1" = replay ] && ! mkdir {tmp_path}/once 2>/dev/null && exit 9\n'
            f'exec {shutil.which("why3")} "$@"\n'
        )
        why3.chmod(0o755)
        monkeypatch.setenv("PATH", str(why3.parent), prepend=":")
        change(proofs, FALSE)
        failed, told = told_by("sums")
        assert (tmp_path / "once").exists()
        assert failed == 1
        assert "sums.mlw: why3 ended with exit code 9" in told

    @pytest.mark.parametrize(
        ("session", "complaint"),
        [
            ("", "has no readable session"),
            ("<why3session></why3session>", "names no file"),
            ('<why3session><file><theory><goal><proof prover="7"/></goal></theory></file></why3session>', "not ours"),
        ],
    )
    def test_a_file_that_is_no_session(self, proofs: Path, told_by: ToldBy, session: str, complaint: str) -> None:
        (proofs / "theories/sums/why3session.xml").write_text(session, encoding="utf-8")
        assert_fails(told_by, "sums", complaint)

    def test_a_record_that_was_made_for_them(
        self, proofs: Path, two_provers: Path, told_by: ToldBy, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Digests are trusted, as the output says; a replay of everything finds the forgery."""
        change(proofs, FALSE)
        variant = VARIANT.replace("3 * a", "4 * a").replace("2 * a", "3 * a")
        (proofs / "mutants" / "sums.toml").write_text(variant, encoding="utf-8")
        record(proofs, digests(proofs))
        assert replay(proofs, two_provers) == 0
        assert "known by digest, not replayed: theories 1;" in capsys.readouterr().out
        failed, told = told_by()
        assert failed == 2
        assert "sums.mlw, with what it uses, contradicts itself" in told
        assert "not proved: sums.Sums.doubled" in told


class TestContradictions:
    """Listed axioms that contradict each other are found."""

    @pytest.mark.parametrize("relation", [">", "<"])
    def test_false_is_tried(self, proofs: Path, provers_or_skip: Path, relation: str) -> None:
        """In all modules together, with those of a used theory, even if each alone is consistent."""
        used = "module First\n  use int.Int\n  constant c: int\nend\n"
        used += "module Second\n  use int.Int\n  use First\n  axiom positive: c > 0\nend\n"
        (proofs / "theories" / "used.mlw").write_text(used, encoding="utf-8")
        change(proofs, f"module Third\n  use int.Int\n  use used.First\n  axiom negative: c {relation} 0\nend\n")
        theory = proofs / "theories" / "sums.mlw"
        if relation == ">":
            assert require_none(theory, provers_or_skip) == "no false, 3 modules"
        else:
            with pytest.raises(
                ProofError, match=r"^sums\.mlw, with what it uses, contradicts itself: false is proved$"
            ):
                require_none(theory, provers_or_skip)


@pytest.mark.parametrize(
    ("variant", "complaint"),
    [
        (VARIANT.replace("3 * a", "a * 2"), "PROVED, THOUGH FALSE sums.Sums.doubled"),
        (VARIANT.replace("replace = ", "replace = 'not there' #"), "stands 0 times in the text"),
        (VARIANT.replace("Sums.doubled", "Sums.tripled"), "has no goal Sums.tripled"),
        (VARIANT.replace("3 * a }", "3 *"), "sums.mlw: "),  # not WhyML
    ],
)
def test_a_variant_that_is_true_or_invalid(
    proofs: Path, two_provers: Path, capsys: pytest.CaptureFixture[str], variant: str, complaint: str
) -> None:
    (proofs / "mutants" / "sums.toml").write_text(variant, encoding="utf-8")
    assert failures(mutants.jobs(list(mutants.mutants(proofs)), two_provers)) == 1
    assert complaint in capsys.readouterr().out


@pytest.mark.usefixtures("provers_or_skip")
class TestGappa:
    """A script is proved, refused or wrong; one that relies on unproved hints is wrong."""

    def test_scripts_are_replayed_and_varied(self, proofs: Path, told_by: ToldBy) -> None:
        (proofs / "gappa" / "wrong.gappa").write_text("{ x in [0, 1] -> x * x in [0, 0.5] }\n", encoding="utf-8")
        (proofs / "gappa" / "right.gappa").write_text("{ x in [0, 1] -> x * x in [0, 1] }\n", encoding="utf-8")
        listed = (
            '[[mutant]]\nscript = "right.gappa"\nreplace = "x * x in [0, 1]"\nby = "x * x in [0, {}]"\n'
            'false_because = "1 * 1 is 1"\n'
        )
        variants = listed.replace("{}", "2") + listed.replace("{}", "0.5")
        (proofs / "mutants" / "gappa.toml").write_text(variants, encoding="utf-8")
        record(proofs, digests(proofs))
        failed, told = told_by()
        assert failed == 2
        for line in ("proved  right", "FAILED  wrong", "PROVED, THOUGH FALSE right.gappa", "refused  right.gappa"):
            assert line in told

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
