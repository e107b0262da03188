"""``--output FOLDER``: one file for each output, inside the folder, all of them or none."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import case
from vinculum.cli.outputs import output_paths, write_outputs

ODD_NAMES = (
    "a/b", "../../a", "..", ".", "", "a\0b", "a\nb", "CON", "C:\\a", "a" * 5000, "𠀀" * 500, "~", "-rf", "*", "{a}",
)  # fmt: skip


class TestNames:
    """Whatever its name, the file of an output is in the folder, and no two outputs share one."""

    def test_odd_names_can_be_written(self, tmp_path: Path) -> None:
        for number, name in enumerate(ODD_NAMES):
            with case(name[:20]):
                folder = tmp_path / str(number) / "out"
                folder.parent.mkdir()
                written = write_outputs({name: np.arange(3)}, output_paths(folder, [name], []))
                assert list(folder.iterdir()) == [written[name].path]
                assert list(folder.parent.iterdir()) == [folder]
                np.testing.assert_array_equal(np.load(written[name].path), np.arange(3))

    @given(st.lists(st.text(max_size=60), max_size=4, unique=True))
    def test_any_names(self, names: list[str]) -> None:
        folder = Path("no such folder")
        paths = list(output_paths(folder, names, []).values())
        assert all(path.parent == folder and path.suffix == ".npy" for path in paths)
        assert all(len(os.fsencode(path.name)) < 230 and not path.name.startswith(".") for path in paths)
        assert len({path.name.casefold() for path in paths}) == len(names)

    def test_plain_names_stay(self) -> None:
        names = ["y", "node_div.1", "logits+mask", "Größe", "a-2"]
        assert [path.stem for path in output_paths(Path(), names, []).values()] == names

    def test_names_that_collide_get_numbers(self) -> None:
        names = ["a/b", "a:b", "A_b", "a_b-2"]
        assert [p.stem for p in output_paths(Path(), names, []).values()] == ["a_b", "a_b-2", "A_b-3", "a_b-2-2"]


class TestWriting:
    """All outputs are written, or none."""

    def test_a_failure_leaves_what_was_there(self, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", np.zeros(1))
        with pytest.raises(KeyError):
            write_outputs({"a": np.arange(3)}, output_paths(tmp_path, ["a", "b"], []))
        assert [p.name for p in tmp_path.iterdir()] == ["a.npy"]
        assert np.load(tmp_path / "a.npy").size == 1

    def test_no_outputs_need_no_folder(self, tmp_path: Path) -> None:
        assert write_outputs({}, output_paths(tmp_path / "out", [], [])) == {}
        assert list(tmp_path.iterdir()) == []

    def test_types_that_npy_has_no_name_for(self, tmp_path: Path) -> None:
        names = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4", "float4_e2m1fn")
        shapes: list[tuple[int, ...]] = [(), (0,), (3,), (3, 1)]
        for name, shape in product(names, shapes):
            with case(name, shape):
                array = np.ones(shape).astype(getattr(ml_dtypes, name))
                written = write_outputs({"y": array}, output_paths(tmp_path, ["y"], []))["y"]
                assert written.stored_as == f"V{array.dtype.itemsize}"
                np.testing.assert_array_equal(np.load(written.path).view(array.dtype), array, strict=True)

    def test_strings(self, tmp_path: Path) -> None:
        array = np.array(["a", "bcd"], object)
        written = write_outputs({"y": array}, output_paths(tmp_path, ["y"], []))["y"]
        np.testing.assert_array_equal(np.load(written.path), array.astype(str), strict=True)
        assert written.stored_as is None
