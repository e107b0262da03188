"""A session that claims more than Why3 finds proves nothing, and neither does a folder that holds more or less."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from proofs.checking.provers import ProofError
from proofs.checking.recorded import FILE, record, recorded
from tests.proofs.small_proofs import TRUE, change, told_by

FALSE = TRUE.replace("= 2 * a", "= 3 * a")


def rewrite(session: Path, pattern: str, text: str) -> None:
    """Rewrite what the pattern matches in a session file, which must be there."""
    rewritten, count = re.subn(pattern, text, session.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert count
    session.write_text(rewritten, encoding="utf-8")


class TestSessions:
    """What a session file says of proofs is tried, not believed."""

    def test_a_goal_under_a_transformation_that_has_no_parts(
        self, proofs: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        forged = r'\1<transf name="destruct_term" arg1="y" proved="true"></transf>\2'
        rewrite(proofs / "theories/sums/why3session.xml", '(<goal name="halved"[^>]*>).*?(</goal>)', forged)
        failures, told = told_by(proofs, capsys, "sums")
        assert failures == 1
        assert "not proved: sums.Sums.halved" in told

    def test_a_goal_without_its_attempt(self, proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rewrite(proofs / "theories/sums/why3session.xml", '(<goal name="halved"[^>]*>).*?(</goal>)', r"\1\2")
        assert "not proved: sums.Sums.halved" in told_by(proofs, capsys, "sums")[1]

    def test_a_false_theorem(self, proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        change(proofs, FALSE)
        failures, told = told_by(proofs, capsys, "sums")
        assert failures == 1
        assert "not proved: sums.Sums.doubled" in told

    def test_the_session_of_another_theory(self, proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        other = proofs / "theories" / "other.mlw"
        other.write_text(FALSE, encoding="utf-8")
        shutil.copytree(proofs / "theories" / "sums", proofs / "theories" / "other")  # it names sums.mlw
        record(other)
        failures, told = told_by(proofs, capsys, "other")
        assert failures == 1
        assert "not proved: other.Sums.doubled" in told

    def test_why3_that_does_not_finish(
        self, proofs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first call, which lists the goals, is answered; the second, which tries them, ends at once."""
        why3 = tmp_path / "path" / "why3"
        why3.parent.mkdir()
        why3.write_text(
            f'#!/bin/sh\n[ "$1" = replay ] && ! mkdir {tmp_path}/once 2>/dev/null && exit 9\n'
            f'exec {shutil.which("why3")} "$@"\n'
        )
        why3.chmod(0o755)
        monkeypatch.setenv("PATH", str(why3.parent), prepend=":")
        change(proofs, FALSE)
        failures, told = told_by(proofs, capsys, "sums")
        assert (tmp_path / "once").exists()
        assert failures == 1
        assert "sums.mlw: why3 ended with exit code 9" in told

    @pytest.mark.parametrize(
        ("session", "complaint"),
        [
            ("", "has no readable session"),
            ("<why3session></why3session>", "names no file"),
            ('<why3session><file><theory><goal><proof prover="7"/></goal></theory></file></why3session>', "not ours"),
        ],
    )
    def test_a_file_that_is_no_session(
        self, proofs: Path, capsys: pytest.CaptureFixture[str], session: str, complaint: str
    ) -> None:
        (proofs / "theories/sums/why3session.xml").write_text(session, encoding="utf-8")
        failures, told = told_by(proofs, capsys, "sums")
        assert failures == 1
        assert complaint in told


def _delete_theory(theories: Path) -> None:
    (theories / "sums.mlw").unlink()


def _delete_session(theories: Path) -> None:
    shutil.rmtree(theories / "sums")


def _add_theory(theories: Path) -> None:
    (theories / "more.mlw").touch()


def _add_session(theories: Path) -> None:
    (theories / "gone").mkdir()


def _forget_all(theories: Path) -> None:
    (theories / FILE).write_text("")


class TestTheories:
    """Everything that is recorded is there, and nothing is there that nobody would replay."""

    @pytest.mark.parametrize(
        ("damage", "complaint"),
        [
            (_delete_theory, "theories lacks what recorded.txt records: sums.mlw"),
            (_delete_session, "theories lacks what recorded.txt records: sums"),
            (_add_theory, "theories holds what recorded.txt does not record: more.mlw"),
            (_add_session, "theories holds what recorded.txt does not record: gone"),
            (_forget_all, "recorded.txt records no theory"),
        ],
    )
    def test_a_folder_with_more_or_less(
        self, proofs: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[Path], None], complaint: str
    ) -> None:
        damage(proofs / "theories")
        with pytest.raises(ProofError, match=re.escape(complaint)):
            told_by(proofs, capsys)

    @pytest.mark.parametrize(
        "line",
        ["", "sums.mlw", f"{'0' * 64} sums.mlw", f"{'0' * 64}  two words.mlw", f"{'0' * 64}  ../up.mlw"],
    )
    def test_a_line_that_records_nothing(self, tmp_path: Path, line: str) -> None:
        (tmp_path / FILE).write_text(f"{line}\n", encoding="utf-8")
        with pytest.raises(ProofError, match=r"recorded\.txt records each theory once") as raised:
            recorded(tmp_path)
        assert "\n" not in str(raised.value)

    def test_a_theory_that_is_recorded_twice(self, tmp_path: Path) -> None:
        (tmp_path / FILE).write_text(f"{'0' * 64}  sums.mlw\n" * 2, encoding="utf-8")
        with pytest.raises(ProofError, match="once"):
            recorded(tmp_path)
