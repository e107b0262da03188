"""``python -m proofs.checking.extraction`` makes the library, or says in one line why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.checking import extraction
from proofs.checking.extraction import FLAGS, CFile, build, extract, main
from proofs.checking.provers import ProofError
from tests.proofs.sonnx_c_library import require_compiler


@pytest.mark.usefixtures("provers_or_skip")
class TestExtraction:
    """What Why3 and the compiler refuse is an error, and leaves no old file that could pass for the new one."""

    def test_the_command_makes_library_and_header(
        self,
        request: pytest.FixtureRequest,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        require_compiler(request)
        monkeypatch.setattr(extraction, "C_FILES", extraction.C_FILES[:1])
        assert main([str(tmp_path / "made"), "--flag=-O1"]) == 0
        assert {path.name for path in (tmp_path / "made").iterdir()} >= {"libsonnx_div.a", "sonnx_div.h", "int8.c"}
        assert "libsonnx_div.a" in capsys.readouterr().out

    def test_a_theory_that_is_not_there(self, tmp_path: Path) -> None:
        (tmp_path / "old.c").write_text("from another day")
        with pytest.raises(ProofError, match="not found: nowhere") as raised:
            extract(tmp_path, [CFile("old.c", ("nowhere.Module",))])
        assert "\n" not in str(raised.value)
        assert not (tmp_path / "old.c").exists()


class TestCompiler:
    """The library is C11, and no warning is let through."""

    def test_what_is_promised_of_the_flags(self) -> None:
        assert {"-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffreestanding"} <= set(FLAGS)

    def test_a_warning_is_an_error(self, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        require_compiler(request)
        source = tmp_path / "wrong.c"
        source.write_text("static int unused(int x) { return x; }\n")
        with pytest.raises(ProofError, match="unused") as raised:
            build(tmp_path, [source])
        assert "\n" not in str(raised.value)

    def test_without_a_compiler(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(ProofError, match="not installed: gcc"):
            build(tmp_path, [])
        with pytest.raises(ProofError, match="not installed: why3"):
            extract(tmp_path)

    def test_the_command_says_so_in_one_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert main([str(tmp_path)]) == 1
        said = capsys.readouterr().err
        assert said.startswith("error: not installed: why3")
        assert said.count("\n") == 1
