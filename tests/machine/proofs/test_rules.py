"""The core's rules are what Why3 extracts; they compile as C and C++ without a warning, and loops vectorise."""

from __future__ import annotations

import platform
import re
import shutil
from pathlib import Path

import pytest

from proofs.checking import rules as extraction_of_rules
from proofs.checking.extraction import extract
from proofs.checking.rules import FOLDER, LIBRARY_RECORD, RECORD, RULES, main, outdated
from tests.machine.proofs.compiled_rules import (
    BY_PREPARED,
    COMPILERS,
    DIRECT,
    OPTIMIZED,
    STANDARDS,
    STRICT,
    headers,
    loops,
)
from tests.optional import program_or_skip
from tests.processes import run

each_standard = pytest.mark.parametrize("standard", COMPILERS)


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory, provers_or_skip: Path) -> Path:
    """Return a folder with a new extraction, which takes a second."""
    folder = tmp_path_factory.mktemp("extracted")
    extract(folder, RULES)
    return folder


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, extracted: Path) -> None:
    """Let extractions copy that folder."""

    def extract_again(folder: Path, rules: object) -> None:
        assert rules is RULES
        shutil.copytree(extracted, folder, dirs_exist_ok=True)

    monkeypatch.setattr(extraction_of_rules, "extract", extract_again)
    monkeypatch.setattr(extraction_of_rules, "library_digests", lambda: LIBRARY_RECORD.read_text("utf-8"))


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: None) -> Path:
    """Return a copy of the committed headers, which the command uses instead."""
    folder = Path(shutil.copytree(FOLDER, tmp_path / "rules"))
    monkeypatch.setattr(extraction_of_rules, "FOLDER", folder)
    monkeypatch.setattr(extraction_of_rules, "RECORD", Path(shutil.copy(RECORD, tmp_path)))
    return folder


class TestCommittedHeaders:
    """The committed headers equal a new extraction, byte for byte."""

    def test_they_are_up_to_date(self, known: None) -> None:
        assert outdated() == []

    def test_a_header_that_was_edited_is_named(self, copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
        header = copy / "direct.h"
        header.write_text(header.read_text().replace("0x1.8p52", "0x1.8p51"))
        assert main(["--check"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "direct.h; `make rules`" in said
        assert main([]) == 0
        assert header.read_bytes() == (FOLDER / "direct.h").read_bytes()

    def test_missing_and_additional_headers_are_named(self, copy: Path) -> None:
        (copy / "two_step.h").unlink()
        (copy / "by_hand.h").touch()
        assert outdated(copy) == ["by_hand.h", "two_step.h"]

    def test_an_outdated_record(self, copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
        record = extraction_of_rules.RECORD
        before = record.read_text(encoding="utf-8")
        record.write_text(before.replace("two_step.drv", "one_step.drv"), encoding="utf-8")
        assert main(["--check"]) == 2
        assert "extraction.sha256 is not up to date" in capsys.readouterr().err
        assert main([]) == 0
        assert record.read_text(encoding="utf-8") == before


@each_standard
class TestCompilers:
    """The headers compile without a warning, alone and together."""

    def test_each_alone_and_all_together(self, request: pytest.FixtureRequest, standard: str) -> None:
        program_or_skip(request, COMPILERS[standard])
        for text in (*(f'#include "{name}"\n' for name in headers()), loops()[0]):
            assert compiled(standard, text) == ""


def compiled(standard: str, text: str, *flags: str) -> str:
    """Return the messages of the compiler about a program."""
    command = [COMPILERS[standard], *STANDARDS[standard], *STRICT, *flags, "-I", str(FOLDER), "-fsyntax-only", "-"]
    return str(run(command, input=text).stderr)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the levels of x86-64 are asked for")
@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_a_loop_of_each_rule_is_vectorised(request: pytest.FixtureRequest, tmp_path: Path, level: str) -> None:
    """Except rules in two steps and, without AVX2, those for prepared divisors."""
    program_or_skip(request, "g++")
    text, lines = loops()
    source = tmp_path / "loops.cpp"
    source.write_text(text, encoding="utf-8")
    flags = ("-std=c++20", *OPTIMIZED, f"-march={level}", "-fopt-info-vec-optimized", "-I", str(FOLDER))
    done = run(["g++", *flags, "-c", str(source), "-o", str(tmp_path / "loops.o")])
    assert done.returncode == 0, done.stderr
    found = {int(line) for line in re.findall(r"loops\.cpp:(\d+):\d+: optimized: loop vectorized", done.stderr)}
    expected = {*DIRECT, *(BY_PREPARED if level != "x86-64-v2" else ())}
    assert expected - {lines[line] for line in found if line in lines} == set()
