"""A running Dask cluster, for the duration of a job."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vinculum.errors import ModelError
from vinculum.text import one_line, pip_install

_PATIENCE = 30  # Seconds within which a scheduler must answer, and within which it must then have a worker.


@contextmanager
def client_of(address: str | None) -> Iterator[Any]:
    """Yield a `distributed.Client` of the scheduler at an address; None without one.

    Raises
    ------
    ModelError
        If Dask is not installed, no scheduler answers, or it has no worker.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise ModelError(f"a cluster needs the package {error.name}: {pip_install(str(error.name))}") from None
    # A failed worker is tried again or ends the job with one line, which Dask's own log would only repeat.
    for name in ("distributed", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
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
