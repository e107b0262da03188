"""A session that claims more than Why3 finds proves nothing."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from proofs.checking.recorded import digests, record
from proofs.checking.replay import replay
from tests.proofs.small_proofs import TRUE, VARIANT, ToldBy, change

FALSE = TRUE.replace("= 2 * a", "= 3 * a")


def rewrite(session: Path, pattern: str, text: str) -> None:
    """Rewrite what the pattern matches in a session file, which must be there."""
    rewritten, count = re.subn(pattern, text, session.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert count
    session.write_text(rewritten, encoding="utf-8")


class TestSessions:
    """What a session file says of proofs is tried, not believed."""

    def test_a_goal_under_a_transformation_that_has_no_parts(self, proofs: Path, told_by: ToldBy) -> None:
        forged = r'\1<transf name="destruct_term" arg1="y" proved="true"></transf>\2'
        rewrite(proofs / "theories/sums/why3session.xml", '(<goal name="halved"[^>]*>).*?(</goal>)', forged)
        failures, told = told_by("sums")
        assert failures == 1
        assert "not proved: sums.Sums.halved" in told

    def test_a_goal_without_its_attempt(self, proofs: Path, told_by: ToldBy) -> None:
        rewrite(proofs / "theories/sums/why3session.xml", '(<goal name="halved"[^>]*>).*?(</goal>)', r"\1\2")
        assert "not proved: sums.Sums.halved" in told_by("sums")[1]

    def test_a_false_theorem(self, proofs: Path, told_by: ToldBy) -> None:
        change(proofs, FALSE)
        failures, told = told_by("sums")
        assert failures == 1
        assert "not proved: sums.Sums.doubled" in told

    def test_the_session_of_another_theory(self, proofs: Path, told_by: ToldBy) -> None:
        other = proofs / "theories" / "other.mlw"
        other.write_text(FALSE, encoding="utf-8")
        shutil.copytree(proofs / "theories" / "sums", proofs / "theories" / "other")  # it names sums.mlw
        failures, told = told_by("other")
        assert failures == 1
        assert "not proved: other.Sums.doubled" in told

    def test_why3_that_does_not_finish(
        self, proofs: Path, told_by: ToldBy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
        failures, told = told_by("sums")
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
    def test_a_file_that_is_no_session(self, proofs: Path, told_by: ToldBy, session: str, complaint: str) -> None:
        (proofs / "theories/sums/why3session.xml").write_text(session, encoding="utf-8")
        failures, told = told_by("sums")
        assert failures == 1
        assert complaint in told

    def test_a_record_that_was_made_for_them(
        self, proofs: Path, two_provers: Path, told_by: ToldBy, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """What is known by digest is believed, as is told; whoever replays everything finds out."""
        change(proofs, FALSE)
        variant = VARIANT.replace("3 * a", "4 * a").replace("2 * a", "3 * a")
        (proofs / "mutants" / "sums.toml").write_text(variant, encoding="utf-8")
        record(proofs, digests(proofs))
        assert replay(proofs, two_provers) == 0
        assert "known by digest, not replayed: theories 1;" in capsys.readouterr().out
        failures, told = told_by()
        assert failures == 2
        assert "sums.mlw contradicts itself" in told
        assert "not proved: sums.Sums.doubled" in told
