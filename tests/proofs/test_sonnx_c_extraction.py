"""What is missing to make the C library is named in one line; tests/machine/proofs makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.checking.extraction import build
from proofs.checking.provers import ProofError


class TestMissing:
    """Neither Why3 nor a compiler is taken for granted."""

    @pytest.mark.parametrize(
        ("named", "said"),
        [
            ("", "not installed: gcc;"),
            ("no-such-gcc -O1", "not installed: no-such-gcc;"),
            ("gcc '", "CC=gcc ' is no command: no closing quotation"),
        ],
    )
    def test_a_compiler(self, named: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("CC", named)
        with pytest.raises(ProofError, match=said):
            build(tmp_path, [])
