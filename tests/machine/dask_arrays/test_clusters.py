"""Chains of Dask arrays on the processes of a cluster: the same bits and errors, also when one is killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.machine.dask_arrays import on_a_cluster
from tests.processes import importing, output_of


@pytest.mark.skipif(os.name == "nt", reason="workers are killed by SIGKILL")
def test_three_processes_of_which_one_is_killed_each_time(tmp_path: Path) -> None:
    settings = {
        "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver",  # so that Dask is imported once
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s",  # instead of 30 s, for which a worker that is gone is called
    }
    said = output_of([sys.executable, on_a_cluster.__file__, str(tmp_path)], env={**importing(), **settings})
    assert said.startswith("3; (99, 399); 3 of 120000 divisors of Div-14 are zero, the first at index (99, 399)")
