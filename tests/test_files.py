"""A file and those that belong to it are written as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vinculum.errors import ModelError
from vinculum.files import atomic_write


def _write(target: Path, names: tuple[str, ...], text: str = "new") -> None:
    with atomic_write(target) as folder:
        for name in names:
            (folder / name).write_text(text, encoding="utf-8")


def _fail(target: Path, error: type[BaseException], beside: Path | None = None) -> None:
    with atomic_write(target, make_folder=True) as folder:
        (folder / target.name).write_text("half", encoding="utf-8")
        if beside is not None:
            beside.write_text("", encoding="utf-8")
        raise error


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no devices in folders")
class TestDevices:
    """Only regular files are replaced: /dev/null must not become one."""

    def test_refused(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ModelError, match=r"'.*pipe' is not a regular file; give the name of a file to write"):
            _write(tmp_path / "pipe", ("pipe",))
        assert (tmp_path / "pipe").is_fifo()
        assert _names(tmp_path) == ["pipe"]


class TestWhole:
    """The files are moved into place when all are complete."""

    def test_a_folder_is_made_if_asked_for(self, tmp_path: Path) -> None:
        with atomic_write(tmp_path / "a" / "m.onnx", make_folder=True) as folder:
            (folder / "m.onnx").write_text("new", encoding="utf-8")
        assert _names(tmp_path / "a") == ["m.onnx"]
        for target, make_folder in ((tmp_path / "b" / "m", False), (tmp_path / "b" / "c" / "m", True)):
            with (
                pytest.raises(ModelError, match=r"cannot be written: there is no folder '.*b'; make it$"),
                atomic_write(target, make_folder=make_folder),
            ):
                pass

    def test_nothing_is_in_place_before_the_end(self, tmp_path: Path) -> None:
        (tmp_path / "m.onnx").write_text("old", encoding="utf-8")
        with atomic_write(tmp_path / "m.onnx") as folder:
            (folder / "m.onnx").write_text("new", encoding="utf-8")
            assert (tmp_path / "m.onnx").read_text(encoding="utf-8") == "old"
        assert (tmp_path / "m.onnx").read_text(encoding="utf-8") == "new"

    def test_the_file_comes_last(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        order: list[str] = []
        replace = Path.replace

        def noted(self: Path, target: Path) -> Path:
            order.append(target.name)
            return replace(self, target)

        monkeypatch.setattr(Path, "replace", noted)
        _write(tmp_path / "a.xml", ("a.xml", "b.bin", "c.bin"))
        assert order == ["b.bin", "c.bin", "a.xml"]
        assert _names(tmp_path) == ["a.xml", "b.bin", "c.bin"]

    def test_links_are_replaced_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").write_text("old", encoding="utf-8")
        (tmp_path / "m.onnx").symlink_to(tmp_path / "elsewhere")
        _write(tmp_path / "m.onnx", ("m.onnx",))
        assert not (tmp_path / "m.onnx").is_symlink()
        assert (tmp_path / "elsewhere").read_text(encoding="utf-8") == "old"


class TestNotAtAll:
    """A failure leaves no new file, and keeps the old ones."""

    @pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
    def test_a_failure_leaves_nothing(self, tmp_path: Path, error: type[BaseException]) -> None:
        with pytest.raises(error):
            _fail(tmp_path / "a" / "m.onnx", error)
        assert _names(tmp_path) == []

    def test_a_failure_leaves_what_was_there(self, tmp_path: Path) -> None:
        (tmp_path / "m.onnx").write_text("old", encoding="utf-8")
        with pytest.raises(KeyboardInterrupt):
            _fail(tmp_path / "m.onnx", KeyboardInterrupt)
        assert _names(tmp_path) == ["m.onnx"]
        assert (tmp_path / "m.onnx").read_text(encoding="utf-8") == "old"

    def test_a_folder_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "m.xml").mkdir()
        with pytest.raises(ModelError, match=r"^[^\n]* is a folder; give the name of a file to write$"):
            _write(tmp_path / "m.xml", ("m.xml", "m.bin"))
        assert _names(tmp_path) == ["m.xml"]

    def test_a_folder_that_others_use_stays(self, tmp_path: Path) -> None:
        with pytest.raises(KeyError):
            _fail(tmp_path / "new" / "m.onnx", KeyError, tmp_path / "new" / "other")
        assert _names(tmp_path / "new") == ["other"]

    def test_a_file_where_a_folder_should_be(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("", encoding="utf-8")
        with pytest.raises(ModelError, match="there is no folder"):
            _write(tmp_path / "a" / "m.onnx", ("m.onnx",))
        assert _names(tmp_path) == ["a"]
