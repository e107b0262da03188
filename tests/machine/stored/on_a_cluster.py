"""Divides on two processes of a Dask cluster, and prints what came of it: ``python on_a_cluster.py A B OUT...``.

Dask arrays and a model's batches first, then stored arrays, into each OUT while a worker is killed, and into the last
one once more while all workers go.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

if __name__ in ("__main__", "__mp_main__"):  # the second in a worker
    for slow in ("scipy", "xarray", "pandas"):  # which Dask imports where they are
        sys.modules[slow] = None  # type: ignore[assignment]

EXAMPLE = Path(__file__).parents[3] / "examples" / "layer_norm" / "model.onnx"


def divide_dask_arrays(client: Any) -> None:
    """Print the first division that fails."""
    import dask.array as da
    import numpy as np

    import vinculum

    a = np.random.default_rng(0).integers(-99, 99, (300, 400)).astype("i4")
    b = np.random.default_rng(1).integers(1, 99, (300, 400)).astype("i4")
    x, y = da.from_array(a, chunks=100), da.from_array(b, chunks=(60, 200))
    divide: Any = vinculum.div  # typed as for NumPy arrays
    assert divide(x, y).compute().tobytes() == vinculum.div(a, b).tobytes()
    kept = client.persist(y)
    assert divide(x, kept).compute().tobytes() == vinculum.div(a, b).tobytes()
    model = vinculum.load(EXAMPLE)
    rows = np.random.default_rng(2).standard_normal((10, 4, 16), np.float32)
    lazy = da.from_array(rows, chunks=(3, 4, 16)).map_blocks(lambda x: model.run({"x": x})["y"], dtype="f4")
    assert lazy.compute().tobytes() == model.run({"x": rows})["y"].tobytes()
    b[299, 0] = b[99, 399] = b[100, 0] = 0
    try:
        divide(x, da.from_array(b, chunks=(60, 200))).compute()
    except vinculum.DivisionByZeroError as error:
        print(error.count, error.first_index, error, sep="; ")


def two_processes(client: Any) -> list[int]:
    """Return the numbers of the workers when there are two that answer; one that was killed may still be counted."""
    while len(found := client.run(os.getpid, on_error="ignore")) < 2:
        sleep(0.01)
    return sorted(found.values())


def divide_stored_arrays(client: Any, a: str, b: str, outs: list[str]) -> None:
    """Print of each result whether the job was resumed and a worker killed, and the error of swapped operands."""
    from vinculum.stored import divide

    for out in outs:
        left = two_processes(client)[:1]

        def advance(done: int, size: int, left: list[int] = left) -> None:
            if done > size // 4 and left:
                os.kill(left.pop(), signal.SIGKILL)

        report = divide(a, b, out, task_bytes=40_000, client=client, advance=advance)
        print(report.resumed, not left, sep=";")
    two_processes(client)
    try:
        divide(b, a, outs[0] + ".npy", task_bytes=40_000, client=client)
    except ZeroDivisionError as error:
        print(error)


def lose_all_workers(cluster: Any, client: Any, a: str, b: str, out: str) -> None:
    """Print how a job ends that loses its workers, and whether it goes on with others."""
    from vinculum.stored import divide

    cluster.scale(2)
    two_processes(client)
    lost: list[float] = []

    def advance(done: int, size: int) -> None:
        if done > size // 4 and not lost:
            cluster.scale(0)
            while client.nthreads():  # The blocks that are left must not be done by workers that are about to go.
                sleep(0.01)
            lost.append(monotonic())

    try:
        divide(a, b, out, task_bytes=4_000, client=client, advance=advance)
    except OSError as error:
        print(error.strerror, f"after {monotonic() - lost[0]:.1f} s")
    cluster.scale(1)
    client.wait_for_workers(1)
    print(divide(a, b, out, task_bytes=4_000, client=client).resumed > 0)


if __name__ == "__main__":
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as two,
    ):
        assert len({*two_processes(two), os.getpid()}) == 3
        divide_dask_arrays(two)
        divide_stored_arrays(two, sys.argv[1], sys.argv[2], sys.argv[3:])
        lose_all_workers(cluster, two, sys.argv[1], sys.argv[2], sys.argv[3] + ".again.npy")
