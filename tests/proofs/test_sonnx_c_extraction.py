"""``python -m proofs.checking.extraction`` makes the library, or says in one line why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.checking.extraction import FLAGS, build, extract
from proofs.checking.provers import ProofError


class TestCompiler:
    """The library is C11, and no warning is let through."""

    def test_a_compiler_that_is_not_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CC", "no-such-gcc -O1")
        with pytest.raises(ProofError, match="not installed: no-such-gcc;"):
            build(tmp_path, [])

    def test_what_is_promised_of_the_flags(self) -> None:
        assert {"-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffreestanding"} <= set(FLAGS)

    def test_without_a_compiler(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(ProofError, match="not installed: gcc"):
            build(tmp_path, [])
        with pytest.raises(ProofError, match="not installed: why3"):
            extract(tmp_path)
