"""The workers of a job: threads of this process, or processes of a Dask cluster. No array is sent to them."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from vinculum.errors import ModelError
from vinculum.interruption import Interruption
from vinculum.kernels.threads import get_threads
from vinculum.text import one_line
from vinculum.version import __version__

_QUEUED = 2  # Tasks submitted per worker, so that none waits for its next task.
_LOOK = 0.1  # Seconds between two checks for interruptions.
_LONGEST_END = 60.0  # Seconds to wait for running tasks when a job fails.

Call = tuple[Any, ...]


@dataclass(frozen=True)
class Workers:
    """Workers for calls, which are tuples of a function and its arguments.

    Attributes
    ----------
    executor : Executor
        The executor of the tasks.
    interruption : Interruption
        Delays interruptions until no lock is held.
    number : int
        The number of tasks that run at once.
    task_bytes : int
        The size of the results of a task in bytes.
    """

    executor: Executor
    interruption: Interruption
    number: int
    task_bytes: int

    def results(self, calls: Iterable[Call]) -> Iterator[Any]:
        """Yield the results of the calls as they finish; calls are taken from the iterable just before they run.

        OSError if the workers are lost.
        """
        left = iter(calls)
        running: dict[Future[Any], Call] = {}
        lost: list[Call] = []
        try:
            while True:
                wanted = _QUEUED * self.number - len(running)
                running |= {self.executor.submit(*call): call for call in islice(left, wanted)}
                if not running:
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
        except Exception as error:
            if isinstance(error, CancelledError) or type(error).__module__.startswith(("distributed", "dask")):
                raise OSError(errno.EIO, f"the workers are lost ({one_line(error)})", "the cluster") from None
            raise
        finally:
            for future in running:
                future.cancel()
            wait(running, _LONGEST_END)


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
    """Yield the workers of a `distributed.Client`, or the threads of this process that a division may use.

    ModelError if processes of the cluster have another version of this package, or none.
    """
    with Interruption() as interruption:
        if client is not None:
            _check_versions(client)
            number = max(1, sum(client.nthreads().values()))
            yield Workers(client.get_executor(pure=False), interruption, number, 256 << 20)
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
