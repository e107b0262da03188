"""The extracted C library under the address and undefined-behaviour sanitizers, and compiled for 32 bits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from proofs.checking.extraction import COMPILER, build
from tests.machine.proofs.sonnx_c_library import extracted, require_compiler
from tests.machine.proofs.sonnx_c_program import program
from tests.optional import skip_or_fail
from tests.processes import output_of, run

SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
# x87 computes in excess precision, which contract.h refuses.
BITS_32 = ("-m32", "-msse2", "-mfpmath=sse", "-fno-pic")
# Division of 64-bit integers, which a processor of 32 bits lacks and the compiler's own library adds.
LIBGCC = {f"__{name}" for name in ("divdi3", "moddi3", "divmoddi4", "udivdi3", "umoddi3", "udivmoddi4")}


def _program(folder: Path, sources: list[Path], *flags: str) -> Path:
    """Compile library and program with the flags, and return the program's path."""
    return _linked(folder, _compiled(folder, sources[0].parent, *flags), build(folder, sources, flags), flags=flags)


def _compiled(folder: Path, headers: Path, *flags: str) -> Path:
    """Compile the program without the library, and return the object's path."""
    text, made = folder / "main.c", folder / "main.o"
    text.write_text(program(), encoding="utf-8")
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(headers)]
    command = [COMPILER, *warnings, *flags, "-c", str(text), "-o", str(made)]
    output_of(command)
    return made


def _linked(folder: Path, *parts: Path, flags: Sequence[str] = ()) -> Path:
    """Link the program with libraries, of which the first one that has a function gives it; return its path."""
    made = folder / "program"
    link = ["-no-pie"] if "-fno-pic" in flags else []
    output_of([COMPILER, *flags, *link, *map(str, parts), "-o", str(made)])
    return made


@pytest.fixture(scope="session")
def sources(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the extracted C files; skip where they cannot be made."""
    request.getfixturevalue("provers_or_skip")
    require_compiler(request)
    return extracted(tmp_path_factory)


@pytest.fixture(scope="session")
def sanitized(sources: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program with both sanitizers."""
    return _program(tmp_path_factory.mktemp("sonnx-c-sanitized"), sources, *SANITIZERS)


class TestSanitizers:
    """No access out of bounds, no undefined operation; and the sanitizers would see them."""

    def test_they_have_nothing_to_report(self, sanitized: Path) -> None:
        told = run([str(sanitized)])
        assert told.stderr == ""
        assert told.returncode == 0

    @pytest.mark.parametrize(("planted", "report"), [("overrun", "heap-buffer-overflow"), ("zero", "division by zero")])
    def test_they_report_what_is_planted(self, sanitized: Path, planted: str, report: str) -> None:
        told = run([str(sanitized), planted])
        assert told.returncode != 0
        assert report in told.stderr


class TestProgram:
    """The program can fail: a wrong sign in one function is enough."""

    def test_a_wrong_quotient_is_noticed_and_a_right_one_is_not(self, sources: list[Path], tmp_path: Path) -> None:
        headers = sources[0].parent
        main, right = _compiled(tmp_path, headers), build(tmp_path, sources)
        (wrong,) = (source for source in sources if source.name == "int64.c")
        text = wrong.read_text(encoding="utf-8")
        assert text.count("return -a;") == 2
        folder = tmp_path / "wrong"
        folder.mkdir()
        (folder / wrong.name).write_text(text.replace("return -a;", "return a;"), encoding="utf-8")
        damaged = build(folder, [folder / wrong.name], ["-I", str(headers)])
        for libraries, expected in (((right,), 0), ((damaged, right), 1)):
            made = _linked(tmp_path, main, *libraries)
            assert run([str(made)]).returncode == expected


class Test32Bits:
    """Compiled for a 32-bit processor the library gives the same quotients."""

    def test_the_same_quotients(self, request: pytest.FixtureRequest, sources: list[Path], tmp_path: Path) -> None:
        empty = [COMPILER, "-m32", "-x", "c", "-", "-o", str(tmp_path / "empty")]
        if run(empty, input="int main(void) { return 0; }").returncode != 0:
            skip_or_fail(request, f"{COMPILER} that links for 32 bits: apt install gcc-multilib")
        made = _program(tmp_path, sources, *BITS_32)
        assert run([str(made)]).returncode == 0
        library = tmp_path / "libsonnx_div.a"
        told = output_of(["nm", "-u", str(library)])
        undefined = {line.split()[-1] for line in told.splitlines() if line.split()[:1] == ["U"]}
        assert undefined <= LIBGCC

    def test_excess_precision_is_refused_where_there_are_floats(self, sources: list[Path]) -> None:
        flags = ["-m32", "-mno-sse", "-mfpmath=387", "-std=c11", "-fsyntax-only", "-ffreestanding"]
        for source in sources:
            told = run([COMPILER, *flags, str(source)])
            floats = source.stem in ("float", "double")
            assert ("no excess precision" in told.stderr) == floats
            assert (told.returncode != 0) == floats
