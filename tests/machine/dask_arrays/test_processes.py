"""Dask arrays in processes and threads of their own, and on a cluster of which one process is killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest

from tests.dask_arrays.test_division import computed, div
from tests.machine.dask_arrays import on_a_cluster
from tests.processes import importing, output_of, python

QUICKLY = "import sys; sys.modules['scipy'] = sys.modules['xarray'] = None\n"  # Dask imports these where they are


def test_equal_divisions_have_equal_keys_in_every_process() -> None:
    program = (
        "import dask.array as da, numpy as np, vinculum\n"
        "x = da.from_array(np.arange(1, 40, dtype='i4'), chunks=7); name = vinculum.div(x, x.rechunk(5)).name"
    )
    here: dict[str, Any] = {}
    exec(program, here)
    assert output_of(python(f"{QUICKLY}{program}; print(name)")) == f"{here['name']}\n"


def test_query_planning() -> None:
    program = (
        "import dask; dask.config.set({'array.query-planning': True}); import dask.array as da, vinculum\n"
        "try: vinculum.div(da.ones(3), da.ones(3))\nexcept vinculum.ElementTypeError as error: print(error)"
    )
    said = output_of(python(QUICKLY + program))
    assert said.startswith("A is a Dask array with query planning, which is experimental")


def test_on_threads() -> None:
    a, b = np.arange(10**6, dtype=np.int32), np.arange(1, 10**6 + 1, dtype=np.int32)[::-1]
    lazy = div(da.from_array(a, chunks=10**5), da.from_array(b, chunks=70_000))
    assert computed(lazy, "threads").tobytes() == div(a, b).tobytes()


@pytest.mark.skipif(os.name == "nt", reason="workers are killed by SIGKILL")
def test_three_processes_of_which_one_is_killed_each_time(tmp_path: Path) -> None:
    settings = {
        "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver",  # so that Dask is imported once
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s",  # instead of 30 s, for which a worker that is gone is called
    }
    said = output_of([sys.executable, on_a_cluster.__file__, str(tmp_path)], env={**importing(), **settings})
    assert said.startswith("3; (99, 399); 3 of 120000 divisors of Div-14 are zero, the first at index (99, 399)")
