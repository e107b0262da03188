"""Divides on two processes of a Dask cluster, and prints what came of it: ``python on_a_cluster.py A B OUT...``.

Stored arrays, into each OUT while a worker is killed, and into the last one once more while all workers go.
"""

from __future__ import annotations

import os
import signal
import sys
from time import monotonic, sleep
from typing import Any

if __name__ in ("__main__", "__mp_main__"):  # the second in a worker
    for slow in ("scipy", "xarray", "pandas"):  # which Dask imports where they are
        sys.modules[slow] = None  # type: ignore[assignment]


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
        divide_stored_arrays(two, sys.argv[1], sys.argv[2], sys.argv[3:])
        lose_all_workers(cluster, two, sys.argv[1], sys.argv[2], sys.argv[3] + ".again.npy")
