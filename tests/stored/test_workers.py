"""Workers of a job: an interruption ends what they do, soon and for good."""

from __future__ import annotations

import signal
import sys

import pytest

from vinculum.stored.workers import workers


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
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
