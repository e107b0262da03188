"""Stored arrays divided by a cluster: the same bytes, even if a worker is killed or all are lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster

from tests.stored.stores import put, taken
from vinculum import DivisionByZeroError, div
from vinculum.stored import divide

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")


def processes(client: Any) -> list[int]:
    """Return the process ids of the workers that answer; a killed one may still be registered."""
    return sorted(client.run(os.getpid, on_error="ignore").values())


def after_a_quarter(do: Callable[[], object]) -> Callable[[int, int], None]:
    """Return a progress callback that calls `do` once, when a quarter of the job is done."""
    left = [do]

    def advance(done: int, size: int) -> None:
        if done > size // 4 and left:
            left.pop()()

    return advance


def test_two_processes_of_which_one_is_killed(tmp_path: Path) -> None:
    """One cluster is used for everything, because each process takes a second to start, even forked."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-99, 99, (2000, 300)).astype("i4"), rng.integers(1, 99, (2000, 300)).astype("i4")
    a[1999, 7] = 0
    a[a == 0] = 1
    a[1000, 7] = a[1999, 299] = 0
    names = put(tmp_path, "a", a, "npy"), put(tmp_path, "b", b, "zarr", 100)
    outs = [str(tmp_path / name) for name in ("c.npy", "c.zarr", "again.npy")]
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),  # so that Dask is imported once
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        for out in outs[:2]:
            while len(alive := processes(client)) < 2:
                sleep(0.01)
            killed = after_a_quarter(partial(os.kill, alive[0], signal.SIGKILL))
            assert divide(*names, out, task_bytes=40_000, client=client, advance=killed).resumed == 0
            assert alive[0] not in processes(client)
        words = r"^2 of 600000 divisors of Div-14 are zero, the first at index \(1000, 7\);"
        with pytest.raises(DivisionByZeroError, match=words):
            divide(*names[::-1], tmp_path / "wrong.npy", task_bytes=40_000, client=client)

        def lose_all() -> None:
            cluster.scale(0)
            while client.nthreads():  # The blocks that are left must not be done by workers that are about to go.
                sleep(0.01)

        with pytest.raises(OSError, match="no worker is left; finished blocks are kept: run the same command again to"):
            divide(*names, outs[2], task_bytes=4_000, client=client, advance=after_a_quarter(lose_all))
        cluster.scale(1)
        client.wait_for_workers(1)
        assert divide(*names, outs[2], task_bytes=4_000, client=client).resumed > 0
    for out in outs:
        assert taken(out).tobytes() == div(a, b).tobytes()
    assert len(list(tmp_path.iterdir())) == 5
