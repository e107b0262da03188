"""Divides a chain of Dask arrays on three processes, one of which is killed: ``python on_a_cluster.py FOLDER``.

It prints the error of a chain that fails.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from time import sleep
from typing import Any

if __name__ in ("__main__", "__mp_main__"):  # the second in a worker
    for slow in ("scipy", "xarray", "pandas"):  # which Dask imports where they are
        sys.modules[slow] = None  # type: ignore[assignment]


def divided(div: Any, a: Any, b: Any) -> Any:
    """Return a chain of three divisions with shared operands, over NumPy's or Dask's arrays."""
    quotient = div(div(a, b, overflow="raise"), b) + 100
    return div(quotient, div(a + 1000, quotient) + b[:1])


def main() -> None:
    """Divide while a worker is killed, then divide by zeros."""
    import dask.array as da
    import numpy as np
    from distributed import Client, LocalCluster, wait

    import vinculum

    a = np.random.default_rng(0).integers(-99, 99, (300, 400)).astype("i4")
    b = np.random.default_rng(1).integers(1, 9, (300, 400)).astype("i4")
    wrong = b.copy()
    wrong[299, 0] = wrong[99, 399] = wrong[100, 0] = 0

    folder = Path(sys.argv[1])

    def waiting(block: Any) -> Any:
        folder.joinpath(str(os.getpid())).touch()
        while not folder.joinpath("go").exists():
            sleep(0.01)
        return block

    def lazy(array: Any, chunks: Any) -> Any:
        return da.from_array(array, chunks=chunks).map_blocks(waiting, dtype="i4", meta=np.empty((0, 0), "i4"))

    def with_a_worker_killed(client: Any, compute: Any) -> Any:
        """Return what is computed; of three workers, one is killed while all compute blocks of the source."""
        while len(client.run(os.getpid, on_error="ignore")) < 3:  # One that was killed may still be counted.
            sleep(0.01)
        for file in folder.iterdir():
            file.unlink()
        future = compute()
        while len(begun := sorted(folder.iterdir())) < 3:
            sleep(0.01)
        os.kill(int(begun[0].name), signal.SIGKILL)
        folder.joinpath("go").touch()
        return future.result()

    with LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        div: Any = vinculum.div  # typed as for NumPy arrays
        x, y = lazy(a, 100), lazy(b, (60, 200))
        expected = divided(div, a, b)
        got = with_a_worker_killed(client, lambda: client.compute(divided(div, x, y)))
        assert got.dtype == expected.dtype
        assert got.tobytes() == expected.tobytes()
        kept = client.persist(divided(div, x, y))  # "go" is still there
        wait(kept)
        later = with_a_worker_killed(client, lambda: client.compute(div(kept, y)))
        assert later.tobytes() == div(expected, b).tobytes()
        try:
            with_a_worker_killed(client, lambda: client.compute(divided(div, x, lazy(wrong, 120))))
        except vinculum.DivisionByZeroError as error:
            print(error.count, error.first_index, error, sep="; ")


if __name__ == "__main__":
    main()
