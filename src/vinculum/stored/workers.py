"""The workers of a job: threads of this process, or processes of a Dask cluster. No array is sent to them."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from time import monotonic, sleep
from typing import Any

from vinculum.errors import MissingPackageError, ModelError
from vinculum.interruption import Interruption
from vinculum.kernels.threads import get_threads
from vinculum.text import one_line, pip_install
from vinculum.version import __version__

_QUEUED = 2  # Tasks submitted per worker, so that none waits for its next task.
_LOOK = 0.1  # Seconds between two checks for interruptions.
_ALONE = 2.5  # Seconds without a worker after which a job ends; another may come until then.
_END = 5.0  # Seconds to wait for what a cluster is doing when a job ends early.
_ANSWER = 5  # Seconds within which a scheduler must answer.
_PATIENCE = 30  # Seconds within which it must then have a worker.

Call = tuple[Any, ...]


@dataclass(frozen=True)
class Workers:
    """Workers for calls, which are tuples of a function and its arguments."""

    executor: Executor
    interruption: Interruption  # It delays interruptions until no lock is held.
    number: int  # How many tasks run at once.
    task_bytes: int  # The size of the results of a task.
    client: Any = None  # The `distributed.Client` of a cluster; None for threads.

    def results(self, calls: Iterable[Call]) -> Iterator[Any]:
        """Yield the results of the calls as they finish; calls are taken from the iterable just before they run.

        OSError if no worker is left.
        """
        left = iter(calls)
        running: dict[Future[Any], Call] = {}
        lost: list[Call] = []
        ended_well = False
        met = looked = monotonic()
        try:
            while True:
                wanted = _QUEUED * self.number - len(running)
                running |= {self.executor.submit(*call): call for call in islice(left, wanted)}
                if not running:
                    ended_well = True
                    return
                ended, _ = wait(running, _LOOK, FIRST_COMPLETED)
                self.interruption.check()
                for future in ended:
                    call = running.pop(future)
                    if _is_lost(future) and call not in lost:
                        lost.append(call)
                        running[self.executor.submit(*call)] = call
                    else:
                        yield future.result()
                if ended or self.client is None:
                    met = looked = monotonic()
                elif monotonic() - looked > _ALONE / 3:
                    alive = _alive(self.client)
                    looked = monotonic()
                    met = looked if alive else met
                    if looked - met > _ALONE:
                        raise OSError(errno.EIO, "no worker is left", "the cluster")
        except Exception as error:
            if isinstance(error, CancelledError) or type(error).__module__.startswith(("distributed", "dask")):
                raise OSError(errno.EIO, f"the workers are lost ({one_line(error)})", "the cluster") from None
            raise
        finally:
            if not ended_well:
                self._end(running)

    def _end(self, running: Iterable[Future[Any]]) -> None:
        """Cancel calls that have not begun, and wait for the others, which may still write."""
        for future in running:
            future.cancel()
        if self.client is None:
            wait(running)
            return
        if not _alive(self.client):
            return
        deadline = monotonic() + _END
        with suppress(Exception):  # Any error of Dask: then nothing can be waited for.
            while monotonic() < deadline and any(self.client.run(_is_busy, on_error="return").values()):
                sleep(_LOOK)


def _alive(client: Any) -> bool:
    """Tell whether a cluster has a worker."""
    try:
        return bool(client.sync(client.scheduler.ncores, callback_timeout=_ALONE / 3))
    except Exception:  # Any error of Dask: nobody answers.
        return False


def _is_busy(dask_worker: Any) -> bool:
    """Tell whether a worker, which passes itself, is dividing."""
    return bool(dask_worker.state.executing_count)


def _is_lost(future: Future[Any]) -> bool:
    """Tell whether the executor of `distributed` failed itself: a worker died just after it had finished a task.

    The executor then takes the result for an error, and cannot unpack it.
    """
    error = None if future.cancelled() else future.exception()
    frame = error.__traceback__ if isinstance(error, TypeError) else None
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame is not None and frame.tb_frame.f_globals.get("__name__") == "distributed.cfexecutor"


@contextmanager
def workers(client: Any = None) -> Iterator[Workers]:
    """Yield the workers of a `distributed.Client`, or as many threads as a division may use.

    ModelError if processes of the cluster have another version of this package, or none.
    """
    with Interruption() as interruption:
        if client is not None:
            _check_versions(client)
            number = max(1, sum(client.nthreads().values()))
            yield Workers(client.get_executor(pure=False), interruption, number, 256 << 20, client)
            return
        number = get_threads()
        with ThreadPoolExecutor(number, "vinculum") as executor:
            yield Workers(executor, interruption, number, 32 << 20)


def version() -> str:
    """Return the version of this package, in any process."""
    return __version__


def _check_versions(client: Any) -> None:
    here = version()
    try:
        found = client.run(version)
    except Exception as error:  # Any error of an import on a worker, or of Dask itself.
        raise ModelError(f"the workers cannot import vinculum; install {here} there: {one_line(error)}") from None
    for address, there in found.items():
        if there != here:
            raise ModelError(f"the worker at {address} has vinculum {there}, and this process {here}; install one")


@contextmanager
def client_of(address: str | None) -> Iterator[Any]:
    """Yield a `distributed.Client` of the scheduler at an address; None without one.

    ModelError if Dask is not installed, no scheduler answers, or it has no worker.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise MissingPackageError(f"a cluster needs the package {error.name}: {pip_install(str(error.name))}") from None
    # A failed worker is tried again or ends the job with one line, which Dask's own log would only repeat.
    for name in ("distributed", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    before = _default_client()
    try:
        client = Client(address, timeout=_ANSWER)
    except (OSError, ValueError, TypeError, ImportError) as error:
        failed = _default_client()
        if failed is not None and failed is not before:
            failed.close()  # Else Dask would use it for all later computations of this process, and hang.
        raise ModelError(f"no scheduler answers at {address!r}: {one_line(error)}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise ModelError(f"the cluster at {address!r} has had no worker for {_PATIENCE} seconds") from None
        yield client


def _default_client() -> Any:
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None
