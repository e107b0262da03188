"""Operands that are others than when the job began: refused in one line that says what changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h5py
import numpy as np
import pytest

from tests.stored import killed
from tests.stored.stores import Array, content, put, taken
from tests.stored.test_job import StoppedError, after, stop
from vinculum import Operator, div
from vinculum.errors import ModelError
from vinculum.stored import divide, identity
from vinculum.stored.arrays import UNNAMED, Place, open_stored

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")

Change = Callable[[], object]


@pytest.fixture
def two(tmp_path: Path) -> tuple[Array, Array, str]:
    """Return two arrays of one type and shape, and the name of a stored divisor of 40 blocks."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-99, 99, (40, 1024)).astype("i4") for _ in range(2))
    return x, y, put(tmp_path, "b", rng.integers(1, 9, (40, 1024)).astype("i4"), "npy")


def half(a: str, b: str, out: Path, **options: Any) -> None:
    """Do half of a job."""
    with pytest.raises(StoppedError):
        divide(a, b, out, task_bytes=killed.TASK_BYTES, advance=after(20, stop), **options)


def refused(a: str, b: str, out: Path, words: str, **options: Any) -> None:
    """Run it again, with what is another job; what the first one left stays as it is."""
    before = content(out.parent)
    with pytest.raises(ModelError, match=words) as error:
        divide(a, b, out, task_bytes=killed.TASK_BYTES, **options)
    assert "\n" not in str(error.value)
    assert content(out.parent) == before


def with_times_of(path: Path, change: Change) -> None:
    """Do something to a file, and set its time of modification to what it was."""
    before = path.stat()
    change()
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


class TestBetweenTwoRuns:
    """What is read when a job goes on must be what it began with."""

    @pytest.mark.parametrize("chunks", [None, (8, 128)])
    def test_another_dataset(
        self, chunks: tuple[int, int] | None, tmp_path: Path, two: tuple[Array, Array, str]
    ) -> None:
        with h5py.File(tmp_path / "i.h5", "w") as file:
            for name, array in zip("xy", two[:2], strict=True):
                file.create_dataset(name, data=array, chunks=chunks)
        half(f"{tmp_path}/i.h5:/x", two[2], tmp_path / "c.npy")
        refused(f"{tmp_path}/i.h5:/y", two[2], tmp_path / "c.npy", "dataset of A was 'x', now 'y'")
        relative = os.path.relpath(tmp_path / "i.h5")
        assert divide(f"{relative}:/x", two[2], tmp_path / "c.npy", task_bytes=killed.TASK_BYTES).resumed >= 20
        assert taken(f"{tmp_path}/c.npy").tobytes() == div(two[0], taken(two[2])).tobytes()

    @pytest.mark.parametrize("kind", ["npy", "zarr"])
    def test_another_folder(self, kind: str, tmp_path: Path, two: tuple[Array, Array, str]) -> None:
        names = []
        for folder, array in zip(("r1", "r2"), two[:2], strict=True):
            (tmp_path / folder).mkdir()
            names.append(put(tmp_path / folder, "a", array, kind, 64))
            for path in (tmp_path / folder).rglob("*"):
                os.utime(path, (0, 0))
        half(names[0], two[2], tmp_path / "c.npy")
        refused(names[1], two[2], tmp_path / "c.npy", r"path of A was '.*/r1/a\.\w+', now '.*/r2/a\.\w+'")

    @pytest.mark.parametrize("kind", ["npy", "hdf5", "hdf5, chunks", "zarr"])
    @pytest.mark.parametrize("how", ["in place", "by another file"])
    def test_other_content_of_the_same_name_size_and_time(
        self, kind: str, how: str, tmp_path: Path, two: tuple[Array, Array, str]
    ) -> None:
        a, other = (
            put(tmp_path, "a", two[0], kind, 64),
            Path(put(tmp_path, "other", two[1], kind, 64).partition(":")[0]),
        )
        half(a, two[2], tmp_path / "c.npy")
        path = Path(a.partition(":")[0])
        if kind == "zarr":
            path, other = path / "c" / "0" / "3", other / "c" / "0" / "3"
        change = os.replace if how == "by another file" else shutil.copyfile
        with_times_of(path, lambda: change(other, path))
        refused(a, two[2], tmp_path / "c.npy", "(inode|digest) of A was|time of change of A was")

    def test_a_link_to_another(self, tmp_path: Path, two: tuple[Array, Array, str]) -> None:
        names = [put(tmp_path, name, array, "npy") for name, array in zip("xy", two[:2], strict=True)]
        link = tmp_path / "a.npy"
        link.symlink_to(names[0])
        half(str(link), two[2], tmp_path / "c.npy")
        link.unlink()
        link.symlink_to(names[1])
        refused(str(link), two[2], tmp_path / "c.npy", r"path of A was '.*/x\.npy', now '.*/y\.npy'")

    def test_another_type_of_raw_elements(self, tmp_path: Path) -> None:
        first, second = (t for t in UNNAMED if t.name.lower().startswith("float8"))
        raw = np.random.default_rng(0).integers(0, 256, (40, 4096), np.uint8).view("V1")
        a, b = (put(tmp_path, name, raw, "npy") for name in "ab")
        half(a, b, tmp_path / "c.npy", operator=Operator("Divide"), element_type=first)
        refused(
            a,
            b,
            tmp_path / "c.npy",
            "element_type was 'float8_.*', now",
            operator=Operator("Divide"),
            element_type=second,
        )

    @pytest.mark.parametrize(
        ("first", "second", "words"),
        [
            (Operator("Div"), Operator("Div", opset=7), "operator was 'Div-14', now 'Div-7'"),
            (Operator("Div"), Operator("Div", overflow="saturate"), "overflow was 'wrap', now 'saturate'"),
            (Operator("Div"), Operator("Div", zero_divisor="zero"), "zero_divisor was 'raise', now 'zero'"),
            (
                Operator("Divide"),
                Operator("Divide", m_pythondiv=False),
                "m_pythondiv of attributes was None, now False",
            ),
        ],
    )
    def test_another_operator(
        self, first: Operator, second: Operator, words: str, tmp_path: Path, two: tuple[Array, Array, str]
    ) -> None:
        a = put(tmp_path, "a", two[0], "npy")
        half(a, two[2], tmp_path / "c.npy", operator=first)
        refused(a, two[2], tmp_path / "c.npy", words, operator=second)

    def test_operands_that_change_places(self, tmp_path: Path, two: tuple[Array, Array, str]) -> None:
        a, b = put(tmp_path, "a", np.abs(two[0]) + 1, "npy"), two[2]
        half(a, b, tmp_path / "c.npy")
        refused(b, a, tmp_path / "c.npy", r"path of A was '.*/a\.npy', now '.*/b\.npy'")


class TestDuringARun:
    """What is swapped while a job runs is noticed even if it is back before the end."""

    @pytest.mark.parametrize("kind", ["npy", "hdf5", "hdf5, chunks", "zarr"])
    def test_there_and_back(self, kind: str, tmp_path: Path, two: tuple[Array, Array, str]) -> None:
        names = [put(tmp_path, name, array, kind, 64) for name, array in zip("xy", two[:2], strict=True)]
        x, y = (Path(name.partition(":")[0]) for name in names)
        link = tmp_path / f"a{x.suffix}"
        link.symlink_to(x)

        def to(target: Path) -> Change:
            def change() -> None:
                (tmp_path / "new").symlink_to(target)
                (tmp_path / "new").replace(link)

            return change

        swaps = [after(5, to(y)), after(30, to(x))]

        def advance(done: int, size: int) -> None:
            for swap in swaps:
                swap(done, size)

        # A thread may also be opening the file at the moment of a swap, which HDF5's reader sees at once.
        with pytest.raises(ModelError, match=r"changed while it was read: inode was|was replaced while it was opened"):
            divide(
                names[0].replace(str(x), str(link)),
                two[2],
                tmp_path / "c.npy",
                task_bytes=killed.TASK_BYTES,
                advance=advance,
            )
        assert not (tmp_path / "c.npy").exists()

    def test_a_change_just_before_the_job(self, tmp_path: Path, two: tuple[Array, Array, str]) -> None:
        """A clock of a file system may not tell it from a change just after its beginning."""
        path = Path(put(tmp_path, "a", two[0], "npy"))
        for _ in range(20):
            path.write_bytes(path.read_bytes())

            def change() -> None:
                before = path.stat()
                with path.open("r+b") as file:
                    file.seek(-4096, os.SEEK_END)
                    file.write(bytes(4096))
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

            with pytest.raises(ModelError, match="changed while it was read: time of change was"):
                divide(path, two[2], tmp_path / "c.npy", task_bytes=4 * killed.TASK_BYTES, advance=after(0, change))
            for name in ("c.npy.partial", "c.npy.journal"):
                (tmp_path / name).unlink()


@pytest.mark.parametrize(("now", "slept"), [(9.99, []), (10.0, [0.02]), (10.015, [0.005]), (10.03, [])])
def test_what_has_just_changed_is_waited_for(now: float, slept: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the next change has another time, on a clock that moves every 20 ms."""
    naps: list[float] = []
    monkeypatch.setattr(identity, "time", SimpleNamespace(time=lambda: now, sleep=naps.append))
    identity.settle([{"time of change": 3 * 10**9}, {"time of change": 10 * 10**9}])
    assert naps == pytest.approx(slept)


def test_the_digest_of_a_folder_is_of_every_file(tmp_path: Path, two: tuple[Array, Array, str]) -> None:
    place = Place.parse(put(tmp_path, "a", two[0], "zarr", 64))
    with open_stored(place) as array:
        found = [identity.identity(place, array)["digest"]]
        for path in sorted(path for path in place.path.rglob("*") if path.is_file())[:3]:
            path.rename(path.with_name(f"{path.name}.other"))
            found.append(identity.identity(place, array)["digest"])
    assert len(set(found)) == 4
