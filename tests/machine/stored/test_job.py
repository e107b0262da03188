"""Jobs that run out of disk space, or divide arrays that are larger than the memory."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import zarr

from tests.processes import importing, output_of, python, run
from tests.stored.stores import put, taken
from tests.stored.test_job import Job, job
from vinculum.stored import divide

__all__ = ["job"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")

LIMITED = """
import resource, sys
from vinculum.cli.main import main
sys.dont_write_bytecode = True  # the limit would truncate the files
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
sys.exit(main())
"""
PEAK = """
import sys, vinculum
from vinculum.stored import divide
with vinculum.threads(2):  # each thread has buffers
    divide(*sys.argv[1:])
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) >> 10)
"""


class TestTrouble:
    """A file that cannot be written is reported in one line, and finished blocks are kept."""

    def test_a_full_disk_is_reported_at_once(self, tmp_path: Path, job: Job) -> None:
        before = set(tmp_path.iterdir())
        for out in ("c.npy", "c.h5:/q"):
            done = run([*python(LIMITED), "100000", "divide", job.a, job.b, "-o", str(tmp_path / out)], env=importing())
            assert done.returncode == 2
            assert done.stderr.startswith("vinculum: error: ")
            assert done.stderr.count("\n") == 1
            assert "cannot be read or written: " in done.stderr
            assert "File too large" in done.stderr
            assert set(tmp_path.iterdir()) == before

    def test_a_disk_that_becomes_full(self, tmp_path: Path) -> None:
        """The chunks of the first rows are small, as they compress well."""
        rng = np.random.default_rng(0)
        a = np.concatenate([np.ones((512, 64), "f4"), rng.standard_normal((512, 64)).astype("f4")])
        made = zarr.create_array(tmp_path / "a.zarr", shape=a.shape, chunks=(128, 64), dtype="f4")  # compressed
        made[...] = a
        b = put(tmp_path, "b", np.ones(64, "f4"), "npy")
        command = ["divide", str(tmp_path / "a.zarr"), b, "-o", str(tmp_path / "c.zarr")]
        done = run([*python(LIMITED), "20000", *command], env=importing())
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert (
            "File too large; finished blocks are kept: run the same command again to continue, or delete" in done.stderr
        )
        assert (tmp_path / "c.zarr.journal").exists()
        assert divide(tmp_path / "a.zarr", b, tmp_path / "c.zarr").operator == "Div-14"
        assert taken(str(tmp_path / "c.zarr")).tobytes() == a.tobytes()
        assert not list((tmp_path / "c.zarr").rglob("*.partial"))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the largest size of a process")
def test_memory_is_bounded_by_the_blocks(tmp_path: Path) -> None:
    """A GiB of quotients from a quarter of a GiB of dividends."""
    side, times = 8192, 4
    with (tmp_path / "a.npy").open("wb") as file:  # sparse: zeros
        header = {"descr": "<i4", "fortran_order": False, "shape": (side, side)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 4 * side * side)
    np.save(tmp_path / "b.npy", np.arange(1, times + 1, dtype="i4").reshape(times, 1, 1))
    files = [str(tmp_path / name) for name in ("a.npy", "b.npy", "c.npy")]
    assert int(output_of([*python(PEAK), *files], env=importing())) < 256  # MiB
    assert Path(files[2]).stat().st_size == 128 + 4 * times * side * side
    Path(files[2]).unlink()
