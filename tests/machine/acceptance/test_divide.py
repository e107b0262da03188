"""``vinculum divide`` ended by a signal, and run again to continue."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from tests.acceptance.conftest import Vinculum
from tests.processes import python, started

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")

# The first blocks are divided at once; the others wait for the file "go", so that the command can be ended.
WAITING = """
import sys, time
from pathlib import Path
from vinculum.__main__ import main
from vinculum.stored.work import Division

def run(division, start, stop, write, run=Division.run):
    while start > 8 and not Path("go").exists():
        time.sleep(0.01)
    return run(division, start, stop, write)

Division.run = run
sys.exit(main())
"""


def test_ended_and_run_again(environment: dict[str, str], vinculum: Vinculum, tmp_path: Path) -> None:
    for name in "ab":
        with (tmp_path / f"{name}.npy").open("wb") as file:  # sparse: 0/0, and so NaN
            header = {"descr": "<f4", "fortran_order": False, "shape": (1 << 26,)}
            np.lib.format.write_array_header_1_0(file, header)
            file.truncate(file.tell() + (1 << 28))
    command = ("divide", "a.npy", "b.npy", "-o", "c.npy", "--task-size", "1")
    with started([*python(WAITING), *command], cwd=tmp_path, env=environment, stderr=-1) as process:
        journal = tmp_path / "c.npy.journal"
        while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > 5):
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        (tmp_path / "go").touch()
        _, said = process.communicate()
    assert (process.returncode, said) == (143, b"vinculum: interrupted\n")
    done = vinculum(*command, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "of them by an earlier run" in done.stdout
    assert np.isnan(np.load(tmp_path / "c.npy", mmap_mode="r")[:: 1 << 16]).all()
    for name in "abc":
        (tmp_path / f"{name}.npy").unlink()
