"""The replay can fail: on a goal that nobody proved, a forged session, a changed text, an axiom, a false theorem."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proofs.checking import replay
from proofs.checking.mutants import check_all
from proofs.checking.prove import search
from proofs.checking.provers import ProofError
from proofs.checking.recorded import record
from proofs.checking.sessions import Session

TRUE = """module Sums
  use int.Int
  let lemma doubled (a: int)
    requires { a > 1 }
    ensures { a + a = 2 * a }
  = ()
  lemma halved: 1 + 1 = 2
end
"""
VARIANT = """[[mutant]]
theorem = "Sums.doubled"
replace = "ensures { a + a = 2 * a }"
by = "ensures { a + a = 3 * a }"
false_because = "2 is not 3"
"""


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory, provers_or_skip: Path) -> Path:
    """Return a folder of proofs that holds one small theory, proved."""
    folder = tmp_path_factory.mktemp("proved")
    for name in ("theories", "gappa", "mutants"):
        (folder / name).mkdir()
    (folder / "README.md").write_text("", encoding="utf-8")
    theory = folder / "theories" / "sums.mlw"
    theory.write_text(TRUE, encoding="utf-8")
    (folder / "mutants" / "sums.toml").write_text(VARIANT, encoding="utf-8")
    session = Session(theory, provers_or_skip)
    search(session, "z3:1")
    record(theory)
    return folder


@pytest.fixture
def proofs(proved: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder, to be damaged."""
    return Path(shutil.copytree(proved, tmp_path / "proofs"))


def working(folder: Path) -> Path:
    """Return a new empty folder beside the proofs."""
    empty = folder.parent / "working"
    empty.mkdir()
    return empty


def told_by(proofs: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Replay everything, and return how many failed and what was printed."""
    return replay.replay(proofs, working(proofs)), capsys.readouterr().out


def test_what_is_proved_is_replayed(proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failures, told = told_by(proofs, capsys)
    assert failures == 0
    assert "proved  sums" in told
    assert "refused  sums.Sums.doubled: 2 is not 3" in told


def test_nothing_is_written_under_the_proofs(proofs: Path) -> None:
    before = {path: path.read_bytes() for path in proofs.rglob("*") if path.is_file()}
    replay.replay(proofs, working(proofs))
    assert {path: path.read_bytes() for path in proofs.rglob("*") if path.is_file()} == before


class TestWhatFails:
    """Each way in which a proof may not hold is told in one line that names it."""

    def test_a_changed_text(self, proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (proofs / "theories" / "sums.mlw").write_text(TRUE + "(* a remark *)\n", encoding="utf-8")
        failures, told = told_by(proofs, capsys)
        assert failures == 1
        assert "sums.mlw changed after its session was recorded" in told

    def test_a_goal_that_nobody_proved(
        self, proofs: Path, provers_or_skip: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        theory = proofs / "theories" / "sums.mlw"
        theory.write_text(TRUE.replace("\nend", "\n  lemma tripled: 1 + 1 + 1 = 3\nend"), encoding="utf-8")
        record(theory)
        session = Session(theory, provers_or_skip)
        session.read()
        session.run()
        command = ["why3", "replay", f"--config={provers_or_skip}", str(theory.with_suffix(""))]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0, "why3 itself is content"
        failures, told = told_by(proofs, capsys)
        assert failures >= 1
        assert "not proved: sums.Sums.tripled" in told

    def test_a_goal_under_a_transformation_that_has_no_parts(
        self, proofs: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        session = proofs / "theories" / "sums" / "why3session.xml"
        proof = re.compile(r'(<goal name="halved"[^>]*>).*?(</goal>)', re.DOTALL)
        text = proof.sub(r'\1<transf name="destruct_term" arg1="y" proved="true"></transf>\2', session.read_text())
        session.write_text(text, encoding="utf-8")
        failures, told = told_by(proofs, capsys)
        assert failures == 1
        assert "not proved: sums.Sums.halved" in told

    def test_a_forged_session(self, proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        theory = proofs / "theories" / "sums.mlw"
        theory.write_text(TRUE.replace("doubled", "tripled").replace("= 2 * a", "= 3 * a"), encoding="utf-8")
        session = theory.with_suffix("") / "why3session.xml"
        session.write_text(session.read_text(encoding="utf-8").replace("doubled", "tripled"), encoding="utf-8")
        (proofs / "mutants" / "sums.toml").unlink()
        record(theory)
        failures, told = told_by(proofs, capsys)
        assert failures == 1
        assert "not proved: sums.Sums.tripled" in told

    def test_a_theory_without_a_goal(self, proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        theory = proofs / "theories" / "sums.mlw"
        theory.write_text("module Sums\n  use int.Int\nend\n", encoding="utf-8")
        (proofs / "mutants" / "sums.toml").unlink()
        record(theory)
        assert "has no goal at all" in told_by(proofs, capsys)[1]

    def test_goals_that_are_gone_are_not_counted(self, proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        theory = proofs / "theories" / "sums.mlw"
        theory.write_text(TRUE.replace("  lemma halved: 1 + 1 = 2\n", ""), encoding="utf-8")
        record(theory)
        failures, told = told_by(proofs, capsys)
        assert failures == 0
        assert " 1 goals" in told

    def test_an_axiom_that_is_not_listed(self, proofs: Path) -> None:
        theory = proofs / "theories" / "sums.mlw"
        theory.write_text(TRUE.replace("\nend", "\n  axiom odd: 1 = 2\nend"), encoding="utf-8")
        with pytest.raises(ProofError, match=r"not listed .*: sums\.Sums\.odd axiom"):
            replay.replay(proofs, working(proofs))

    def test_a_value_that_does_not_exist(self, proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        theory = proofs / "theories" / "sums.mlw"
        text = TRUE.replace("\nend", "\n  let f () : int ensures { false } = any int ensures { false }\nend")
        theory.write_text(text, encoding="utf-8")
        record(theory)
        assert "not proved: sums.Sums.f" in told_by(proofs, capsys)[1]

    def test_a_script_that_gappa_refuses(self, proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (proofs / "gappa" / "wrong.gappa").write_text("{ x in [0, 1] -> x * x in [0, 0.5] }\n", encoding="utf-8")
        (proofs / "gappa" / "right.gappa").write_text("{ x in [0, 1] -> x * x in [0, 1] }\n", encoding="utf-8")
        failures, told = told_by(proofs, capsys)
        assert failures == 1
        assert "proved  right" in told
        assert "FAILED  wrong" in told

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
        self, proofs: Path, capsys: pytest.CaptureFixture[str], variant: str, complaint: str
    ) -> None:
        (proofs / "mutants" / "sums.toml").write_text(variant, encoding="utf-8")
        failures, told = told_by(proofs, capsys)
        assert failures == 1
        assert complaint in told

    def test_a_file_that_is_no_list_of_variants(self, proofs: Path, provers_or_skip: Path) -> None:
        (proofs / "mutants" / "sums.toml").write_text("[[mutant]]\ntheorem = 1", encoding="utf-8")
        with pytest.raises(ProofError, match=r"sums\.toml is no list of mutants"):
            check_all(proofs, provers_or_skip)

    def test_a_gappa_variant_that_holds(self, proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (proofs / "gappa" / "right.gappa").write_text("{ x in [0, 1] -> x * x in [0, 1] }\n", encoding="utf-8")
        listed = (
            '[[mutant]]\nscript = "right.gappa"\nreplace = "x * x in [0, 1]"\nby = "x * x in [0, {}]"\n'
            'false_because = "1 * 1 is 1"\n'
        )
        (proofs / "mutants" / "gappa.toml").write_text(
            listed.replace("{}", "2") + listed.replace("{}", "0.5"), encoding="utf-8"
        )
        failures, told = told_by(proofs, capsys)
        assert failures == 1
        assert "PROVED, THOUGH FALSE right.gappa" in told
        assert "refused  right.gappa" in told


class TestOnTheCommandLine:
    """Wrong usage and missing provers are one line each."""

    ROOT = Path(__file__).parents[2]

    def run(self, *words: str, path: str = os.environ["PATH"]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "proofs.checking.replay", *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.ROOT,
            env={**os.environ, "PATH": path},
        )

    def test_an_unknown_theory(self) -> None:
        told = self.run("divisoin")
        assert told.returncode == 2
        assert told.stderr.startswith("error: no theory is called divisoin; there are: ")
        assert len(told.stderr.splitlines()) == 1

    def test_no_provers(self, tmp_path: Path) -> None:
        told = self.run("tensor", path=str(tmp_path))
        expected = "not installed: why3, z3, cvc4, cvc5, gappa; on Debian 12: apt install why3 z3 cvc4 cvc5 gappa"
        assert (told.returncode, told.stderr) == (2, f"error: {expected}\n")
