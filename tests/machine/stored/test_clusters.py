"""Stored arrays divided by processes of a cluster: the same bytes, also when one of them is killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.machine.stored import on_a_cluster
from tests.processes import importing, output_of
from tests.stored.stores import put, taken
from vinculum import div

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")


def test_two_processes_of_which_one_is_killed(tmp_path: Path) -> None:
    """One cluster divides everything, because its processes take a second each to start, even forked."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-99, 99, (2000, 300)).astype("i4"), rng.integers(1, 99, (2000, 300)).astype("i4")
    a[1999, 7] = 0
    a[a == 0] = 1
    a[1000, 7] = a[1999, 299] = 0
    names = put(tmp_path, "a", a, "npy"), put(tmp_path, "b", b, "zarr", 100)
    outs = [str(tmp_path / "c.npy"), str(tmp_path / "c.zarr")]
    program = [sys.executable, on_a_cluster.__file__, *names, *outs]
    forking = {"DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver"}  # so that Dask is imported once
    *killed, wrong, alone, resumed = output_of(program, limit=250, env={**importing(), **forking}).splitlines()
    assert killed == ["0;True", "0;True"]
    assert wrong.startswith("2 of 600000 divisors of Div-14 are zero, the first at index (1000, 7);")
    assert alone.startswith("no worker is left; finished blocks are kept: run the same command again to continue")
    assert resumed == "True"
    for out in (*outs, f"{outs[0]}.again.npy"):
        assert taken(out).tobytes() == div(a, b).tobytes()
    assert len(list(tmp_path.iterdir())) == 5
