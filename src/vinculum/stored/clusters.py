"""Dask clusters: a running one, or processes on this machine for the duration of a job."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vinculum.errors import AttributeValueError, ModelError
from vinculum.text import one_line, pip_install

_PATIENCE = 30  # Seconds within which a scheduler must answer, and within which it must then have a worker.


@contextmanager
def client_of(address: str | None, processes: int | None) -> Iterator[Any]:
    """Yield a `distributed.Client` of the scheduler at an address, or of new processes; None if neither is given.

    Raises
    ------
    AttributeValueError
        If both are given.
    ModelError
        If Dask is not installed, no scheduler answers, or it has no worker.
    """
    if address is None and processes is None:
        yield None
        return
    if address is not None and processes is not None:
        raise AttributeValueError("--workers starts processes here, --cluster takes those of a cluster; leave one out")
    try:
        from distributed import Client, LocalCluster
    except ModuleNotFoundError as error:
        raise ModelError(f"a cluster needs the package {error.name}: {pip_install(str(error.name))}") from None
    # A failed worker is tried again or ends the job with one line, which Dask's own log would only repeat.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if address is None:
        options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
        with LocalCluster(n_workers=processes, **options) as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise ModelError(f"no scheduler answers at {address!r}: {one_line(error)}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise ModelError(f"the cluster at {address!r} has had no worker for {_PATIENCE} seconds") from None
        yield client
