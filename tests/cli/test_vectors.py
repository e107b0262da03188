"""``vinculum vectors``: what is written, what is printed, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.conformance.vectors.exports import lines
from tests.conformance.vectors.test_judge import right

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
        assert line.endswith(" MB")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--format", "npy", "--quick", "--full"), "--quick and --full exclude each other"),
            (("--format", "xml"), "Invalid value for '--format': 'xml' is not one of 'onnx', 'jsonl', "),
            ((), "--format"),
            (("--format", "onnx", "--quick", "--only", "x"), "no case of this level that onnx can hold matches 'x'"),
        ],
    )
    def test_wrong_usage(
        self,
        vectors: Vectors,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        arguments: tuple[str, ...],
        words: str,
    ) -> None:
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


class TestJudge:
    """0 if all is right, 1 if an answer is wrong or missing, 2 if it cannot be read."""

    def test_right(self, vectors: Vectors, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.write(tmp_path, [right(line) for line in lines(folder)])
        assert vectors("judge", folder, tmp_path / "answers.jsonl") == 0
        (line,) = capsys.readouterr().out.splitlines()
        assert line.startswith(f"{len(list(lines(folder)))} cases: ")
        assert line.endswith("; 0 fail")

    def test_wrong(self, vectors: Vectors, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        first, second, *others = [right(line) for line in lines(folder)]
        assert isinstance(first["elements"], str)
        first["elements"] = " ".join(["00000001", *first["elements"].split()[1:]])
        self.write(tmp_path, [first, {"id": second["id"], "crashed": "SIGFPE"}, *others[1:]])
        assert vectors("judge", folder, tmp_path / "answers.jsonl") == 1
        wrong, crashed, missing, summary = capsys.readouterr().out.splitlines()
        assert wrong.startswith(f"{first['id']}: wrong value: ")
        assert " gave 1e-45 (0x00000001), expected " in wrong
        assert crashed == f"{second['id']}: crashed: SIGFPE"
        assert missing == f"{others[0]['id']}: not answered"
        assert summary.endswith("; 3 fail")

    def test_only(self, vectors: Vectors, folder: Path, tmp_path: Path) -> None:
        first, *_ = [right(line) for line in lines(folder)]
        self.write(tmp_path, [first])
        assert vectors("judge", folder, tmp_path / "answers.jsonl", "--only", first["id"]) == 0

    def test_many(self, vectors: Vectors, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rows = [{"id": line.id, "hung": "\x1b[31m"} for line in lines(folder)]
        self.write(tmp_path, rows)
        assert vectors("judge", folder, tmp_path / "answers.jsonl") == 1
        out = capsys.readouterr().out
        assert f"and {len(rows) - 20} more, which --verbose names" in out
        assert "\x1b" not in out
        assert vectors("judge", folder, tmp_path / "answers.jsonl", "--verbose") == 1
        assert len(capsys.readouterr().out.splitlines()) == len(rows) + 1

    def test_json(self, vectors: Vectors, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        first, *others = [right(line) for line in lines(folder)]
        self.write(tmp_path, others)
        assert vectors("judge", folder, tmp_path / "answers.jsonl", "--json") == 1
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert rows[0] == {"id": first["id"], "verdict": "not answered", "message": "", "fails": True}
        assert [row["id"] for row in rows[1:]] == [row["id"] for row in others]
        assert not any(row["fails"] for row in rows[1:])

    def test_what_cannot_be_read(
        self, vectors: Vectors, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert vectors("judge", folder, tmp_path / "gone.jsonl") == 2
        assert "there are no answers" in capsys.readouterr().err

    @staticmethod
    def write(folder: Path, rows: Sequence[Mapping[str, object]]) -> None:
        (folder / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
