"""Operands that have changed since the job began are refused, and the message says what changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from tests.stored import killed
from tests.stored.stores import Array, put, taken
from tests.stored.test_job import Job, after, job
from vinculum import Operator
from vinculum.errors import ModelError
from vinculum.stored import identity
from vinculum.stored.arrays import UNNAMED, Place, open_stored

__all__ = ["job"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")

Change = Callable[[], object]


@pytest.fixture
def other(job: Job) -> Array:
    """Return another dividend of the same type and shape."""
    return np.flip(taken(job.a))


def with_times_of(path: Path, change: Change) -> None:
    """Change a file, and restore its time of modification."""
    before = path.stat()
    change()
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


class TestBetweenTwoRuns:
    """A resumed job must have the operands with which it began."""

    @pytest.mark.parametrize("chunks", [None, (8, 128)])
    def test_another_dataset(self, chunks: tuple[int, int] | None, tmp_path: Path, job: Job, other: Array) -> None:
        with h5py.File(tmp_path / "i.h5", "w") as file:
            for name, array in (("x", taken(job.a)), ("y", other)):
                file.create_dataset(name, data=array, chunks=chunks)
        replace(job, a=f"{tmp_path}/i.h5:/x").stop()
        replace(job, a=f"{tmp_path}/i.h5:/y").refuse("dataset of A was 'x', now 'y'")
        job = replace(job, a=f"{os.path.relpath(tmp_path / 'i.h5')}:/x")
        assert job.run() >= 20
        job.check()

    @pytest.mark.parametrize("kind", ["npy", "hdf5", "hdf5, chunks", "zarr"])
    @pytest.mark.parametrize("change", [os.replace, shutil.copyfile])
    def test_other_content_of_the_same_name_size_and_time(
        self, kind: str, change: Callable[[Path, Path], object], tmp_path: Path, job: Job, other: Array
    ) -> None:
        names = [put(tmp_path, name, array, kind, 64) for name, array in (("a", taken(job.a)), ("other", other))]
        job = replace(job, a=names[0])
        job.stop()
        path, new = (Path(name.partition(":")[0]) / ("c/0/3" if kind == "zarr" else "") for name in names)
        with_times_of(path, lambda: change(new, path))
        job.refuse(" of A was ")

    def test_a_link_to_another(self, tmp_path: Path, job: Job, other: Array) -> None:
        link = tmp_path / "link.npy"
        link.symlink_to(job.a)
        linked = replace(job, a=str(link))
        linked.stop()
        link.unlink()
        link.symlink_to(put(tmp_path, "y", other, "npy"))
        linked.refuse(f"path of A was '{job.a}', now '{tmp_path}/y.npy'")

    def test_another_type_of_raw_elements(self, tmp_path: Path, job: Job) -> None:
        first, second = (t for t in UNNAMED if t.name.lower().startswith("float8"))
        raw = np.random.default_rng(0).integers(0, 256, (40, 4096), np.uint8).view("V1")
        a, b = (put(tmp_path, name, raw, "npy") for name in "xy")
        job = replace(job, a=a, b=b, options={"operator": Operator("Divide"), "element_type": first})
        job.stop()
        options = {"operator": Operator("Divide"), "element_type": second}
        replace(job, options=options).refuse(f"element_type was '{first.numpy}', now '{second.numpy}'")

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
    def test_another_operator(self, first: Operator, second: Operator, words: str, job: Job) -> None:
        replace(job, options={"operator": first}).stop()
        words = f"c.npy.journal' belongs to another job: {words}; delete it and"
        replace(job, options={"operator": second}).refuse(words)

    def test_operands_that_change_places(self, tmp_path: Path, job: Job) -> None:
        job = replace(job, a=put(tmp_path, "y", np.abs(taken(job.a)) + 1, "npy"))
        job.stop()
        replace(job, a=job.b, b=job.a).refuse(f"path of A was '{job.a}', now '{job.b}'")


class TestDuringARun:
    """A swap during a job is noticed, even if it is undone before the end."""

    @pytest.mark.parametrize("kind", ["npy", "hdf5", "hdf5, chunks", "zarr"])
    def test_there_and_back(self, kind: str, tmp_path: Path, job: Job, other: Array) -> None:
        names = [put(tmp_path, name, array, kind, 64) for name, array in (("x", taken(job.a)), ("y", other))]
        x, y = (Path(name.partition(":")[0]) for name in names)
        link = tmp_path / f"link{x.suffix}"
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
            replace(job, a=names[0].replace(str(x), str(link))).run(advance)
        assert not job.out.exists()

    def test_a_change_just_before_the_job(self, job: Job) -> None:
        """The file system's clock may not tell it from a change just after the beginning."""
        path = Path(job.a)

        def change() -> None:
            with path.open("r+b") as file:
                file.seek(-4096, os.SEEK_END)
                file.write(bytes(4096))

        for _ in range(20):
            path.write_bytes(path.read_bytes())
            with pytest.raises(ModelError, match="changed while it was read: time of change was"):
                job.run(after(0, lambda: with_times_of(path, change)), 4 * killed.TASK_BYTES)
            job.partial.unlink()
            job.notes.unlink()


@pytest.mark.parametrize(("now", "slept"), [(9.99, []), (10.0, [0.02]), (10.015, [0.005]), (10.03, [])])
def test_what_has_just_changed_is_waited_for(now: float, slept: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits until the next change has another time, on a clock with ticks of 20 ms."""
    naps: list[float] = []
    monkeypatch.setattr(identity, "time", SimpleNamespace(time=lambda: now, sleep=naps.append))
    identity.settle([{"time of change": 3 * 10**9}, {"time of change": 10 * 10**9}])
    assert naps == pytest.approx(slept)


def test_the_digest_of_a_folder_is_of_every_file(tmp_path: Path, job: Job) -> None:
    place = Place.parse(put(tmp_path, "x", taken(job.a), "zarr", 64))
    with open_stored(place) as array:
        whole, entries = identity.identity(place, array), list(place.path.rglob("*"))
        assert whole["files"] == len(entries)
        assert whole["size"] == sum(entry.stat().st_size for entry in entries if entry.is_file())
        found = [whole["digest"]]
        for path in sorted(path for path in place.path.rglob("*") if path.is_file())[:3]:
            path.rename(path.with_name(f"{path.name}.other"))
            found.append(identity.identity(place, array)["digest"])
    assert len(set(found)) == 4
