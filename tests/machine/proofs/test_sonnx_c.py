"""The extracted C library: how it is made, and what its header promises; `test_sonnx_c_program` divides by it."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path

import pytest

from proofs.checking import extraction
from proofs.checking.extraction import C_FILES, COMPILER, PROOFS, CFile, build, extract, main
from proofs.checking.provers import ProofError
from tests.machine.proofs.sonnx_c_program import C_NAMES, NAMES
from tests.optional import program_or_skip
from tests.processes import output_of, run

MANUAL = PROOFS.parent / "docs" / "reference" / "safety-manual.md"
VERSION = "Cppcheck 2.10"
CHECKS = ("--enable=warning,style,performance,portability", "--addon=misra", "--inconclusive", "--quiet")
READING = ("--std=c11", "--platform=unix32", "--template={id} {file}")
# Macros of <float.h>, which cppcheck does not read.
FLOATS = (
    *("FLT_EVAL_METHOD=0", "FLT_RADIX=2", "FLT_MANT_DIG=24", "FLT_MIN_EXP=-125", "FLT_MAX_EXP=128"),
    *("DBL_MANT_DIG=53", "DBL_MIN_EXP=-1021", "DBL_MAX_EXP=1024"),
)


@pytest.fixture(scope="module")
def static(sources: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library, built once."""
    return build(tmp_path_factory.mktemp("sonnx-c-native"), sources, ["-fPIC"])


class TestLibrary:
    """The promises of the header about the library."""

    def test_it_needs_no_other_library(self, static: Path) -> None:
        told = output_of(["nm", str(static)])
        symbols = [line.split()[-2:] for line in told.splitlines() if line.strip() and not line.endswith(":")]
        kinds = {kind for kind, _ in symbols}
        assert kinds <= {"T", "t"}, "undefined symbols, or memory of its own"
        exported = {name for kind, name in symbols if kind == "T"}
        families = {"sonnx_div": 10, "sonnx_div_in_place": 10, "sonnx_div_first_violation": 8, "vinculum_first_zero": 8}
        families |= {"sonnx_div_checked": 8}
        families |= {"vinculum_floor_div": 8, "vinculum_div_broadcast": 10, "vinculum_floor_div_broadcast": 8}
        types = [C_NAMES.get(name, name) for name in NAMES]
        assert exported == {f"{family}_{name}" for family, count in families.items() for name in types[:count]}

    def test_no_function_calls_itself_or_allocates(self, sources: list[Path]) -> None:
        # In the extracted text every function is defined before its callers.
        for source in sources:
            text = source.read_text()
            assert "alloc" not in text
            assert [line for line in text.splitlines() if line.endswith(");") and line.startswith("static")] == []
        assert len(sources) == len(C_FILES)

    def test_its_digests_are_the_stored_ones(self, sources: list[Path]) -> None:
        """After a change: make rules."""
        stored = (PROOFS / "c" / "extracted.sha256").read_text("utf-8").split()
        made = {path.name: sha256(path.read_bytes()).hexdigest() for path in sources[0].parent.glob("*.[ch]")}
        assert dict(zip(stored[1::2], stored[::2], strict=True)) == made

    def test_excess_precision_is_refused_where_there_are_floats(self, sources: list[Path]) -> None:
        flags = ["-m32", "-mno-sse", "-mfpmath=387", "-std=c11", "-fsyntax-only", "-ffreestanding"]
        for source in sources:
            told = run([COMPILER, *flags, str(source)])
            floats = source.stem in ("float", "double")
            assert ("no excess precision" in told.stderr) == floats
            assert (told.returncode != 0) == floats

    def test_operations_of_float16_are_accepted_and_change_nothing(self, sources: list[Path]) -> None:
        """GCC's dialects then set FLT_EVAL_METHOD to 16 for the same evaluation that ``-std=c11`` calls 0."""
        command = [COMPILER, "-march=sapphirerapids", "-ffreestanding", "-O2"]
        method = run([*command, "-std=gnu11", "-E", "-"], input="#include <float.h>\nFLT_EVAL_METHOD").stdout
        assert method.split()[-1] == "16"
        for source in sources:
            dialect, standard = (
                output_of([*command, f"-std={name}", "-S", "-o", "-", source]) for name in ("gnu11", "c11")
            )
            assert dialect == standard

    def test_pkg_config_finds_it(self, request: pytest.FixtureRequest, static: Path) -> None:
        program_or_skip(request, "pkg-config")
        folder = str(static.parent)
        ask = ["pkg-config", "sonnx_div"]
        environment = {**os.environ, "PKG_CONFIG_PATH": folder}
        flags = output_of([*ask, "--cflags", "--libs"], env=environment)
        assert flags.split() == [f"-I{folder}", f"-L{folder}", "-lsonnx_div"]
        assert output_of([*ask, "--modversion"], env=environment).strip() == "2.0"

    def test_cpp_takes_the_header(self) -> None:
        command = ["g++", "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
        done = run([*command, "-I", PROOFS / "c", "-"], input='#include "sonnx_div.h"\n' * 2)
        assert (done.returncode, done.stderr) == (0, "")


def test_each_deviation_of_misra_is_explained(request: pytest.FixtureRequest, sources: list[Path]) -> None:
    """The safety manual explains what cppcheck, with its add-on for MISRA C:2012, says of the library."""
    program_or_skip(request, "cppcheck")
    if output_of(["cppcheck", "--version"]).strip() != VERSION:
        pytest.skip(f"optional everywhere: the manual has what {VERSION} says")
    defined = (f"-D{macro}" for macro in FLOATS)
    names = (path.name for path in sources)
    told = run(["cppcheck", *CHECKS, *READING, *defined, *names], cwd=sources[0].parent)
    said = {tuple(line.split()) for line in told.stderr.splitlines()}
    rows = re.findall(r"^\| `([\w.-]+)` \| `([\w.*]+)` \| .{30}", MANUAL.read_text("utf-8"), re.MULTILINE)
    explained = {(rule, file): {(r, f) for r, f in said if r == rule and fnmatch(f, file)} for rule, file in rows}
    assert all(explained.values()), "explained, but not said"
    assert said == set().union(*explained.values()), "said, but not explained"


@pytest.mark.usefixtures("provers_or_skip")
class TestExtraction:
    """An error of Why3 or of the compiler leaves no old file that could be taken for a new one."""

    def test_the_command_makes_library_and_header(
        self,
        request: pytest.FixtureRequest,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        program_or_skip(request, COMPILER)
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
    def test_a_file_that_is_not_ours_stays(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text("/*\n * mine\n */")
        with pytest.raises(ProofError, match=f"{name} is not ours"):
            extract(tmp_path)
        assert (tmp_path / name).read_text() == "/*\n * mine\n */"

    def test_a_missing_theory(self, tmp_path: Path) -> None:
        (tmp_path / "old.c").write_text("/* Extracted by Why3 on another day */")
        with pytest.raises(ProofError, match="not found: nowhere") as raised:
            extract(tmp_path, [CFile("old.c", ("nowhere.Module",), "sonnx_div.drv")])
        assert "\n" not in str(raised.value)
        assert not (tmp_path / "old.c").exists()


class TestCompiler:
    """The library is compiled as C11, and each warning is an error."""

    def test_the_environment_names_compiler_and_archiver(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
    ) -> None:
        program_or_skip(request, COMPILER)
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
        program_or_skip(request, COMPILER)
        source = tmp_path / "wrong.c"
        source.write_text("static int unused(int x) { return x; }\n")
        (tmp_path / "libsonnx_div.a").touch()
        with pytest.raises(ProofError, match="unused") as raised:
            build(tmp_path, [source])
        assert not (tmp_path / "libsonnx_div.a").exists()
        assert "\n" not in str(raised.value)
