"""What others own: never read unless it is named, never written, never deleted."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr

from tests.stored import killed
from tests.stored.stores import Array, put, taken
from tests.stored.test_job import operands, stopped_job
from vinculum.errors import ModelError
from vinculum.stored import divide

__all__ = ["operands"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")

Operands = tuple[str, str, Array]


class TestRead:
    """Only the files that are named are read; what leads to others is refused, and leaves nothing."""

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
            file["in/near"] = h5py.SoftLink("../nowhere")
            file["near"] = h5py.SoftLink("in/deep/../here")
            file["in/soft"] = h5py.SoftLink("/here")
            file["in/more"] = h5py.SoftLink("soft")
        return tmp_path / "f.h5"

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("link", "is behind a link to another file, and only the file that is named is read"),
            ("pipe", "is behind a link to another file"),
            ("soft", "is behind a link to another file"),
            ("in/group/x", "is behind a link to another file"),
            ("circle", "is behind too many links"),
            ("storage", "is stored in other files"),
            ("virtual", "is a virtual dataset"),
            ("own", "is a virtual dataset"),
            ("in/near", "has no dataset '/in/near'"),
            ("near", "has no dataset '/near'"),
            ("here/x", "has no dataset '/here/x'"),
        ],
    )
    def test_hdf5(self, name: str, words: str, foreign: Path) -> None:
        before = sorted(foreign.parent.iterdir())
        ones = put(foreign.parent, "ones", np.ones(16, "i4"), "npy")
        with pytest.raises(ModelError, match=words):
            divide(f"{foreign}:/{name}", ones, foreign.parent / "c.npy")
        assert sorted(foreign.parent.iterdir()) == sorted([*before, Path(ones)])

    def test_links_within_a_file(self, foreign: Path) -> None:
        ones = put(foreign.parent, "ones", np.ones(16, "i4"), "npy")
        divide(f"{foreign}:/in/more", ones, foreign.parent / "c.npy")
        assert np.load(foreign.parent / "c.npy").tolist() == list(range(16))

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
    """Files in the way of a job are left as they are, whatever they are."""

    def test_an_empty_journal_gives_no_leave(self, tmp_path: Path, operands: Operands) -> None:
        (tmp_path / "c.npy.journal").touch()
        (tmp_path / "c.npy.partial").write_bytes(b"mine")
        with pytest.raises(ModelError, match=r"c\.npy\.partial' exists; delete it"):
            divide(*operands[:2], tmp_path / "c.npy")
        assert (tmp_path / "c.npy.partial").read_bytes() == b"mine"

    @pytest.mark.parametrize("there", [False, True])
    def test_a_journal_that_is_a_link(self, there: bool, tmp_path: Path, operands: Operands) -> None:
        other = tmp_path / "other"
        if there:
            other.touch()
        (tmp_path / "c.npy.journal").symlink_to(other)
        with pytest.raises(ModelError, match=r"c\.npy\.journal' is a link, not a job's journal; move it away"):
            divide(*operands[:2], tmp_path / "c.npy")
        assert other.exists() == there
        assert not there or not other.read_bytes()

    def test_a_journal_that_is_a_pipe(self, tmp_path: Path, operands: Operands) -> None:
        os.mkfifo(tmp_path / "c.npy.journal")
        with pytest.raises(ModelError, match=r"is not a job's journal"):
            divide(*operands[:2], tmp_path / "c.npy")

    @pytest.mark.parametrize("kind", ["link", "hard link", "file", "folder"])
    @pytest.mark.parametrize("name", ["c.npy", "c.zarr"])
    def test_another_in_the_place_of_what_was_made(
        self, name: str, kind: str, tmp_path: Path, operands: Operands
    ) -> None:
        a, b, quotients = operands
        out = tmp_path / name
        partial, _ = stopped_job(a, b, out)
        kept = tmp_path / "kept"
        partial.rename(kept)
        mine = tmp_path / "mine"
        if kind == "folder":
            partial.mkdir()
            (partial / "mine").write_bytes(b"mine")
        elif kind == "link":
            shutil.copytree(kept, mine) if kept.is_dir() else shutil.copy(kept, mine)
            partial.symlink_to(mine)
        else:
            mine.write_bytes(b"mine")
            os.link(mine, partial) if kind == "hard link" else shutil.move(mine, partial)
        before = sorted(path for path in tmp_path.rglob("*")), os.lstat(partial)
        with pytest.raises(ModelError, match=r"\.partial' exists, and is not what the job of .* made; move it away"):
            divide(a, b, out, task_bytes=killed.TASK_BYTES)
        assert (sorted(path for path in tmp_path.rglob("*")), os.lstat(partial)) == before
        shutil.rmtree(partial) if kind == "folder" else partial.unlink()
        kept.rename(partial)
        assert divide(a, b, out, task_bytes=killed.TASK_BYTES).resumed >= (20 if name == "c.npy" else 1)
        assert taken(str(out)).tobytes() == quotients.tobytes()

    def test_a_result_that_comes_at_the_last_moment(
        self, tmp_path: Path, operands: Operands, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out, link = tmp_path / "c.npy", os.link

        def linked(source: Path, target: Path) -> None:
            out.write_bytes(b"mine")
            link(source, target)

        monkeypatch.setattr(os, "link", linked)
        with pytest.raises(ModelError, match=r"c\.npy' exists; delete it"):
            divide(*operands[:2], out)
        assert out.read_bytes() == b"mine"


class TestNothingLeft:
    """What cannot be divided is refused before anything is made."""

    def test_too_many_axes(self, tmp_path: Path) -> None:
        header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({'1, ' * 200})}}".encode()
        (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(4))
        with pytest.raises(ModelError, match="has 200 axes; allowed: up to 64"):
            divide(tmp_path / "a.npy", tmp_path / "a.npy", tmp_path / "c.npy")
        assert len(list(tmp_path.iterdir())) == 1

    @pytest.mark.parametrize("descr", ["('<i4', (2,))", "[('a', '<i4')]"])
    def test_several_numbers_each(self, descr: str, tmp_path: Path) -> None:
        header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': (3,)}}".encode()
        (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(24))
        with pytest.raises(ModelError, match="holds elements of several numbers each"):
            divide(tmp_path / "a.npy", tmp_path / "a.npy", tmp_path / "c.npy")
        assert len(list(tmp_path.iterdir())) == 1

    def test_a_chunk_that_no_memory_holds(self, tmp_path: Path) -> None:
        zarr.create_array(tmp_path / "a.zarr", shape=(1 << 42,), chunks=(1 << 42,), dtype="u1")
        with pytest.raises(ModelError, match=r"a block of .* takes 4398046511104 bytes of memory"):
            divide(tmp_path / "a.zarr", tmp_path / "a.zarr", tmp_path / "c.zarr")
        assert len(list(tmp_path.iterdir())) == 1
