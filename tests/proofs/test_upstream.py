"""Div on SONNX's own libraries: what a checkout must hold, and what is stored of the proofs."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.checking import upstream
from proofs.checking.provers import ProofError
from proofs.checking.replay import read_theory


def test_every_goal_has_a_stored_proof() -> None:
    assert read_theory(upstream.OURS) == "27 goals"


def test_no_arithmetic_of_integers_is_assumed() -> None:
    """The one `val` is a parameter: each clone fills in a program that is proved, or the processor's `/`."""
    text = upstream.OURS.read_text(encoding="utf-8")
    assert text.count("val divide = quotient_") == 8
    assert text.count("val divide = Float.divide") == 2


class TestCheckout:
    """It is used only if its libraries are those of the commit."""

    def test_another_commit(self, tmp_path: Path) -> None:
        libraries = tmp_path / upstream.LIBRARIES
        libraries.mkdir(parents=True)
        (libraries / "std.mlw").write_text("module Int end\n", encoding="utf-8")
        (tmp_path / "library").mkdir()
        with pytest.raises(ProofError, match=r"std\.mlw is not that of commit 652b76b8"):
            upstream.laid_out(tmp_path, tmp_path / "library")
