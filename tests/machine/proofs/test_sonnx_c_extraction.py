"""``python -m proofs.checking.extraction`` makes the library, or says in one line why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.checking import extraction
from proofs.checking.extraction import CFile, build, extract, main
from proofs.checking.provers import ProofError
from tests.machine.proofs.sonnx_c_targets import require_compiler
from tests.processes import output_of, run


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
        made = tmp_path / "made"
        said = capsys.readouterr().out
        assert said.startswith(f"made {made}/libsonnx_div.a; to use it: gcc PROGRAM.c -I {made} {made}/libsonnx_div.a")
        program = tmp_path / "program.c"
        program.write_text(
            '#include "sonnx_div.h"\n'
            "int main(void) { int8_t a = 7, b = -2, c; sonnx_div_int8(&a, &b, &c, 1); return c + 3; }\n"
        )
        use = said.partition("to use it: ")[2].partition(",")[0].replace("PROGRAM.c", str(program)).split()
        output_of([*use, "-o", str(tmp_path / "program")])
        assert run([str(tmp_path / "program")]).returncode == 0
        header = made / "sonnx_div.h"
        header.write_text(f"{header.read_text().splitlines()[0]}\n/* of an older version */\n")
        assert main([str(made)]) == 0, "over its own files"
        assert "older version" not in header.read_text()

    @pytest.mark.parametrize("name", ["contract.h", "sonnx_div.h", "int8.c"])
    def test_a_file_of_somebody_else_stays(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text("/*\n * mine\n */")
        with pytest.raises(ProofError, match=f"{name} is not ours"):
            extract(tmp_path)
        assert (tmp_path / name).read_text() == "/*\n * mine\n */"

    def test_a_theory_that_is_not_there(self, tmp_path: Path) -> None:
        (tmp_path / "old.c").write_text("/* Extracted by Why3 on another day */")
        with pytest.raises(ProofError, match="not found: nowhere") as raised:
            extract(tmp_path, [CFile("old.c", ("nowhere.Module",), "sonnx_div.drv")])
        assert "\n" not in str(raised.value)
        assert not (tmp_path / "old.c").exists()


class TestCompiler:
    """The library is C11, and no warning is let through."""

    def test_the_environment_names_compiler_and_archiver(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
    ) -> None:
        require_compiler(request)
        for variable, program in (("CC", "gcc"), ("AR", "ar")):
            cross = tmp_path / f"cross-{program}"
            cross.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/{variable}\nshift\nexec {program} "$@"\n')
            cross.chmod(0o755)
            monkeypatch.setenv(variable, f"{cross} first")
        source = tmp_path / "right.c"
        source.write_text("int right(void);\nint right(void) { return 1; }\n")
        build(tmp_path, [source])
        assert (tmp_path / "CC").read_text() == (tmp_path / "AR").read_text() == "first\n"

    def test_a_warning_is_an_error(self, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        require_compiler(request)
        source = tmp_path / "wrong.c"
        source.write_text("static int unused(int x) { return x; }\n")
        (tmp_path / "libsonnx_div.a").touch()
        with pytest.raises(ProofError, match="unused") as raised:
            build(tmp_path, [source])
        assert not (tmp_path / "libsonnx_div.a").exists()
        assert "\n" not in str(raised.value)
