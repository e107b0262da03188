"""Other files are never read unless they are named, never written, and never deleted."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr

from tests.stored.stores import put
from tests.stored.test_job import Job, job
from vinculum.errors import ModelError
from vinculum.stored import divide

__all__ = ["job"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")


class TestRead:
    """Links to other files are refused, and nothing is left."""

    @pytest.fixture
    def foreign(self, tmp_path: Path) -> Path:
        """Return a file with many ways to read others."""
        secret = tmp_path / "secret"
        secret.write_bytes(bytes(range(64)))
        with h5py.File(tmp_path / "other.h5", "w") as other:
            other["x"] = np.ones(16, "i4")
        os.mkfifo(tmp_path / "pipe.h5")
        layout = h5py.VirtualLayout((16,), "i4")
        layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "x", (16,))
        with h5py.File(tmp_path / "f.h5", "w", libver="latest") as file:
            file["link"] = h5py.ExternalLink("other.h5", "/x")
            file["pipe"] = h5py.ExternalLink("pipe.h5", "/x")
            file["soft"] = h5py.SoftLink("/link")
            file["in/group"] = h5py.ExternalLink("other.h5", "/")
            file["circle"] = h5py.SoftLink("circle")
            file.create_dataset("storage", (16,), "i4", external=[(str(secret), 0, 64)])
            file.create_virtual_dataset("virtual", layout)
            own = h5py.VirtualLayout((16,), "i4")
            file["here"] = np.arange(16, dtype="i4")
            own[:] = h5py.VirtualSource(file["here"])
            file.create_virtual_dataset("own", own)
            file["in/soft"] = h5py.SoftLink("/here")
        return tmp_path / "f.h5"

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("link", "is behind a link to another file, and only the file that is named is read"),
            ("pipe", "is behind a link to another file"),
            ("soft", "is behind a link, and only the file that is named is read"),
            ("in/soft", "is behind a link"),
            ("circle", "is behind a link"),
            ("in/group/x", "is behind a link to another file"),
            ("storage", "is stored in other files"),
            ("virtual", "is a virtual dataset"),
            ("own", "is a virtual dataset"),
            ("in/near", "has no dataset '/in/near'"),
            ("here/x", "has no dataset '/here/x'"),
        ],
    )
    def test_hdf5(self, name: str, words: str, foreign: Path) -> None:
        before = sorted(foreign.parent.iterdir())
        ones = put(foreign.parent, "ones", np.ones(16, "i4"), "npy")
        with pytest.raises(ModelError, match=words):
            divide(f"{foreign}:/{name}", ones, foreign.parent / "c.npy")
        assert sorted(foreign.parent.iterdir()) == sorted([*before, Path(ones)])

    @pytest.mark.parametrize("link", ["c/0", "c"])
    def test_links_out_of_a_folder_of_zarr(self, link: str, tmp_path: Path) -> None:
        made = zarr.create_array(tmp_path / "a.zarr", shape=(64,), chunks=(64,), dtype="u1", compressors=None)
        made[...] = 1
        secret = tmp_path / "secret"
        shutil.move(tmp_path / "a.zarr" / link, secret)
        (tmp_path / "a.zarr" / link).symlink_to(secret)
        ones = put(tmp_path, "ones", np.ones(64, "u1"), "npy")
        with pytest.raises(ModelError, match="is a link that leads out of"):
            divide(tmp_path / "a.zarr", ones, tmp_path / "c.npy")
        assert not (tmp_path / "c.npy.journal").exists()


class TestWritten:
    """Files in the way of a job are left unchanged."""

    def test_an_empty_journal_gives_no_leave(self, job: Job) -> None:
        job.notes.touch()
        job.partial.write_bytes(b"mine")
        job.refuse("c.npy.partial' exists; delete it")

    @pytest.mark.parametrize("there", [False, True])
    def test_a_journal_that_is_a_link(self, there: bool, job: Job, tmp_path: Path) -> None:
        other = tmp_path / "other"
        if there:
            other.touch()
        job.notes.symlink_to(other)
        job.refuse("c.npy.journal' is a link, not a job's journal; move it away")
        assert other.exists() == there

    def test_a_journal_that_is_a_pipe(self, job: Job) -> None:
        os.mkfifo(job.notes)
        job.refuse("is not a job's journal")

    @pytest.mark.parametrize("kind", ["link", "hard link", "file", "folder"])
    @pytest.mark.parametrize("name", ["c.npy", "c.zarr"])
    def test_another_in_the_place_of_what_was_made(self, name: str, kind: str, job: Job, tmp_path: Path) -> None:
        job = replace(job, out=tmp_path / name)
        job.stop()
        kept, mine = tmp_path / "kept", tmp_path / "mine"
        job.partial.rename(kept)
        if kind == "folder":
            job.partial.mkdir()
            (job.partial / "mine").write_bytes(b"mine")
        elif kind == "link":
            shutil.copytree(kept, mine) if kept.is_dir() else shutil.copy(kept, mine)
            job.partial.symlink_to(mine)
        else:
            mine.write_bytes(b"mine")
            os.link(mine, job.partial) if kind == "hard link" else shutil.move(mine, job.partial)
        before = sorted(path for path in tmp_path.rglob("*")), os.lstat(job.partial)
        job.refuse(f".partial' exists, and is not what the job of {str(job.notes)!r} made; move it away")
        assert (sorted(path for path in tmp_path.rglob("*")), os.lstat(job.partial)) == before
        shutil.rmtree(job.partial) if kind == "folder" else job.partial.unlink()
        kept.rename(job.partial)
        assert job.run() >= (20 if name == "c.npy" else 1)
        job.check()

    def test_a_result_that_comes_at_the_last_moment(self, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
        link = os.link

        def linked(source: Path, target: Path) -> None:
            job.out.write_bytes(b"mine")
            link(source, target)

        monkeypatch.setattr(os, "link", linked)
        with pytest.raises(ModelError, match=r"c\.npy' exists; delete it"):
            job.run()
        assert job.out.read_bytes() == b"mine"


class TestNothingLeft:
    """Operands that cannot be divided are refused before any file is made."""

    @pytest.mark.parametrize(
        ("descr", "shape", "words"),
        [
            ("'<i4'", f"({'1, ' * 200})", "has 200 axes; allowed: up to 64"),
            ("'|O'", "(3,)", "never unpickled"),
            ("('<i4', (2,))", "(3,)", "holds elements of several numbers each"),
            ("[('a', '<i4')]", "(3,)", "holds elements of several numbers each"),
        ],
    )
    def test_headers_of_npy(self, descr: str, shape: str, words: str, tmp_path: Path) -> None:
        header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}".encode()
        (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(24))
        with pytest.raises(ModelError, match=words):
            divide(tmp_path / "a.npy", tmp_path / "a.npy", tmp_path / "c.npy")
        assert len(list(tmp_path.iterdir())) == 1

    def test_as_many_axes_as_numpy_has(self, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", np.full((1,) * 64, 6, np.int32))
        divide(tmp_path / "a.npy", tmp_path / "a.npy", tmp_path / "c.npy")
        assert np.load(tmp_path / "c.npy").shape == (1,) * 64

    def test_a_chunk_that_no_memory_holds(self, tmp_path: Path) -> None:
        zarr.create_array(tmp_path / "a.zarr", shape=(1 << 42,), chunks=(1 << 42,), dtype="u1")
        with pytest.raises(ModelError, match=r"a block of .* takes 4398046511104 bytes of memory"):
            divide(tmp_path / "a.zarr", tmp_path / "a.zarr", tmp_path / "c.zarr")
        assert len(list(tmp_path.iterdir())) == 1
