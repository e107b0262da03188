"""Shapes and files that a model declares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.models.built_models import one_line
from vinculum.errors import ModelError
from vinculum.files import regular_size
from vinculum.models.declared_data import check_size, data_file, element_count, read_slice


class TestShapes:
    """A shape's elements are counted without being allocated; one whose size overflows is refused."""

    def test_counts(self) -> None:
        assert [element_count(shape, 32, "x") for shape in ((), (2, 3), (2**40, 0))] == [1, 6, 0]
        check_size((2**60, 7), 8, "x")
        check_size((2**61, 3, "N", None), 4, "x")
        check_size((1,) * 64, 8, "x")

    @pytest.mark.parametrize(
        ("shape", "parts"),
        [
            ((2, -1), ("tensor 'w'", "(2, -1)", "negative")),
            ((2**40, 2**23), ("2**63 - 1",)),
            ((2**62, 2**62, 0), ("2**63 - 1",)),  # A dimension of zero hides nothing.
            ((1,) * 65, ("65 dimensions", "at most 64")),
        ],
    )
    def test_refused(self, shape: tuple[int, ...], parts: tuple[str, ...]) -> None:
        with one_line(ModelError, *parts):
            element_count(shape, 8, "tensor 'w'")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a model's folder with a data file in it and a secret beside it."""
    (tmp_path / "secret.bin").write_bytes(b"secret")
    inside = tmp_path / "model"
    inside.mkdir()
    (inside / "data.bin").write_bytes(bytes(range(16)))
    return inside


class TestDataFile:
    """Bad input: external data pointing outside the model's folder."""

    def test_a_file_in_the_folder_or_below(self, folder: Path) -> None:
        (folder / "below").mkdir()
        (folder / "below" / "data.bin").touch()
        assert data_file(folder, "data.bin", "x") == (folder / "data.bin").resolve()
        assert data_file(folder, "below/data.bin", "x") == (folder / "below/data.bin").resolve()

    @pytest.mark.parametrize(
        "location",
        [
            "",
            "../secret.bin",
            "below/../data.bin",
            "/etc/passwd",
            "C:\\data.bin",
            "..\\secret.bin",
            "\\\\host\\share\\x",
        ],
    )
    def test_every_way_out(self, folder: Path, location: str) -> None:
        with one_line(ModelError, "external data of tensor 'w'", repr(location), "relative to the model's folder"):
            data_file(folder, location, "tensor 'w'")

    def test_a_link_out(self, folder: Path) -> None:
        (folder / "link.bin").symlink_to(folder.parent / "secret.bin")
        with one_line(ModelError, "leads outside the model's folder"):
            data_file(folder, "link.bin", "x")

    def test_a_folder_that_is_a_link_out(self, folder: Path) -> None:
        (folder / "linked").symlink_to(folder.parent)
        with one_line(ModelError, "leads outside the model's folder"):
            data_file(folder, "linked/secret.bin", "x")

    def test_a_link_within(self, folder: Path) -> None:
        (folder / "link.bin").symlink_to("data.bin")
        assert data_file(folder, "link.bin", "x") == (folder / "data.bin").resolve()

    @pytest.mark.parametrize("location", ["absent.bin", "nul\0byte", "x" * 5000])
    def test_a_file_that_is_not_there(self, folder: Path, location: str) -> None:
        with one_line(ModelError, "cannot be read"):
            data_file(folder, location, "x")


class TestReadSlice:
    """Bad input: an offset beyond the file."""

    def test_a_slice(self, folder: Path) -> None:
        assert read_slice(folder / "data.bin", 4, 3, "x").tolist() == [4, 5, 6]
        assert read_slice(folder / "data.bin", 16, 0, "x").tolist() == []

    @pytest.mark.parametrize(("offset", "size"), [(0, 17), (16, 1), (17, 0), (2**62, 4), (0, 2**62)])
    def test_beyond_the_file(self, folder: Path, offset: int, size: int) -> None:
        with one_line(ModelError, f"{size} bytes at offset {offset}", "has only 16"):
            read_slice(folder / "data.bin", offset, size, "x")

    def test_a_directory(self, folder: Path) -> None:
        with one_line(ModelError, "is a directory"):
            read_slice(folder, 0, 1, "x")


def test_regular_size_a_pipe(folder: Path) -> None:
    """A pipe or a device could go on for ever."""
    os.mkfifo(folder / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        regular_size(folder / "pipe")
