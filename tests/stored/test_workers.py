"""Workers of a job: interruptions, and clusters that cannot be used.

Those that can be used are in tests/machine.
"""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from time import sleep
from unittest.mock import Mock

import dask
import pytest
from distributed import default_client

from vinculum.errors import MissingPackageError, ModelError
from vinculum.stored import workers as stored_workers
from vinculum.stored.work import Division
from vinculum.stored.workers import client_of, workers
from vinculum.version import __version__

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")


def test_results_stop_soon() -> None:
    def interrupt(number: int) -> int:
        if number == 3:
            signal.raise_signal(signal.SIGINT)  # Python calls the handler in the main thread
        return number

    found: list[int] = []

    def run() -> None:
        with workers() as hands:
            found.extend(hands.results((interrupt, number) for number in range(10_000)))

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # tests may run with it ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(found) < 10_000


def test_what_has_begun_is_waited_for_and_may_still_write() -> None:
    begun, written = Event(), list[int]()

    def fail() -> None:
        assert begun.wait(60)
        raise ValueError("it fails")

    def write(number: int) -> None:
        begun.set()
        sleep(0.2)
        written.append(number)

    with workers() as threads, ThreadPoolExecutor(2) as two:
        results = replace(threads, executor=two, number=2).results([(fail,), (write, 1)])
        with pytest.raises(ValueError, match="it fails"):
            list(results)
        assert written == [1]


@pytest.mark.parametrize("alive", [True, False])
def test_a_job_ends_where_no_worker_is_left(alive: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_workers, "_LOOK", 0.01)
    monkeypatch.setattr(stored_workers, "_ALONE", 0.05)
    monkeypatch.setattr(stored_workers, "_alive", lambda client: alive)
    with workers() as threads:
        results = replace(threads, client=Mock()).results([(sleep, 0.5)])
        if alive:
            assert list(results) == [None]
        else:
            with pytest.raises(OSError, match="no worker is left"):
                list(results)


def test_no_scheduler() -> None:
    with pytest.raises(ModelError, match="no scheduler answers at 'nowhere at all'"), client_of("nowhere at all"):
        pass
    with pytest.raises(ValueError, match="No clients found"):  # for which Dask would wait without end
        default_client()
    assert dask.config.get("scheduler", None) is None


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            {"tcp://ours:1": __version__, "tcp://x:1": "0.0.1"},
            r"the worker at tcp://x:1 has vinculum 0\.0\.1, and this",
        ),
        (ImportError("no such module"), "the workers cannot import vinculum; install .* there: no such module"),
    ],
)
def test_workers_of_another_version(found: dict[str, str] | Exception, words: str) -> None:
    client = Mock(**{"run.side_effect": [found]})
    with pytest.raises(ModelError, match=words), workers(client):
        pass
    (asked,) = client.run.call_args.args
    assert asked() == __version__


def test_a_worker_of_another_version_that_joins_later() -> None:
    job = replace(Division(Mock(), (), {}, Mock(), None, *(Mock() for _ in range(5))), version="0.0.1")
    with pytest.raises(ModelError, match=r"a worker has vinculum .*, and the job 0\.0\.1; install one"):
        job.run(0, 1, True)


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(
            MissingPackageError, match=r"needs the package distributed: pip install 'dask\[array,distributed\]'"
        ),
        client_of("tcp://127.0.0.1:1"),
    ):
        pass
