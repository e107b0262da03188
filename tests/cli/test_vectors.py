"""``vinculum vectors``: what is written, what is printed, and the exit code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.cases import case
from tests.conformance.vectors.exports import lines
from tests.conformance.vectors.test_answers import right, write

Vectors = Callable[..., int]
FEW = ("--quick", "--only", "Div-14/int8/*", "--only", "Div-14/float/*")


@pytest.fixture
def vectors(here: Callable[..., int]) -> Vectors:
    """Return a function that runs the command in this process and returns its exit code."""
    return partial(here, "vectors")


@pytest.fixture
def folder(vectors: Vectors, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return an export of a few cases."""
    assert vectors("export", tmp_path / "few", "--format", "jsonl", *FEW) == 0
    capsys.readouterr()
    return tmp_path / "few"


class TestExport:
    """A folder, and one line that says what is in it."""

    @pytest.mark.parametrize("form", ["onnx", "jsonl", "testfloat", "npy"])
    def test_each_format(self, vectors: Vectors, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
        only = ("--quick", "--only", "Div-14/float/*")
        assert vectors("export", tmp_path / "new", "--format", form, *only) == 0
        (line,) = capsys.readouterr().out.splitlines()
        count = len([line for line in lines(tmp_path / "new") if line.standing.value == "exact"])
        assert line.startswith(f"{tmp_path / 'new'}: {count} exact")
        files = sum(path.is_file() for path in (tmp_path / "new").rglob("*"))
        assert f"; {files:,} files, " in line
        assert line.endswith((" kB", " MB"))

    def test_wrong_usage(self, vectors: Vectors, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for arguments, words in (
            (("--format", "npy", "--quick", "--full"), "--quick and --full exclude each other"),
            (("--format", "xml"), "Invalid value for '--format': 'xml' is not one of 'onnx', 'jsonl', "),
            ((), "--format"),
            (("--format", "onnx", "--quick", "--only", "x"), "no case of this level that onnx can hold matches 'x'"),
        ):
            with case(*arguments):
                assert vectors("export", tmp_path / "new", *arguments) == 2
                out, error = capsys.readouterr()
                assert (out, len(error.splitlines())) == ("", 1)
                assert words in error
                assert not list(tmp_path.iterdir())

    def test_a_folder_that_is_not_empty(
        self, vectors: Vectors, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = sorted(folder.rglob("*"))
        assert vectors("export", folder, "--format", "jsonl", *FEW) == 2
        assert "is not empty" in capsys.readouterr().err
        assert sorted(folder.rglob("*")) == before


class TestAnswers:
    """`conform answers:DIR`: 0 if all is right, 1 if an answer is wrong, 2 if one is missing or cannot be read."""

    def test_right(self, here: Vectors, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write(folder / "answers.jsonl", [right(line) for line in lines(folder)])
        assert here("conform", f"answers:{folder}") == 0
        assert f"{len(list(lines(folder)))} cases in " in capsys.readouterr().out

    def test_wrong(self, here: Vectors, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        first, second, *others = [right(line) for line in lines(folder)]
        first["elements"] = " ".join(["00000001", *first["elements"].split()[1:]])
        write(tmp_path / "mine.jsonl", [first, {"id": second["id"], "crashed": "SIGFPE"}, *others])
        backend, saved = f"answers:{folder}[from={tmp_path / 'mine.jsonl'}]", tmp_path / "run.json"
        assert here("conform", backend, "--verbose", "--save", saved, "--record", tmp_path / "known.toml") == 1
        out = " ".join(capsys.readouterr().out.split())
        assert f"wrong value {first['id']}" in out
        assert " gave 1e-45 (0x00000001), expected " in out
        assert f"crashed {second['id']}" in out
        assert here("conform", backend, "--expect", tmp_path / "known.toml") == 0
        assert here("report", saved) == 1

    def test_only(self, here: Vectors, folder: Path) -> None:
        first, *_ = [right(line) for line in lines(folder)]
        write(folder / "answers.jsonl", [first])
        assert here("conform", f"answers:{folder}", "--only", first["id"]) == 0

    def test_what_cannot_be_judged(self, here: Vectors, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        _, *others = [right(line) for line in lines(folder)]
        for rows, words in ((None, "there are no answers"), (others, "has no answer to 1 cases, such as 'Div-14/")):
            if rows is not None:
                write(folder / "answers.jsonl", rows)
            assert here("conform", f"answers:{folder}") == 2
            error = capsys.readouterr().err
            assert words in error
            assert error.count("\n") == 1
