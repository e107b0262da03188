"""A delayed interruption is raised at the next check, or at the end of the block."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from threading import Thread

import pytest

from vinculum.interruption import Interruption

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@pytest.fixture(autouse=True)
def default_handlers() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, even in tests that run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class TestInterruption:
    """SIGINT during the block."""

    def test_at_the_next_check(self) -> None:
        reached = False
        with Interruption() as interruption:
            signal.raise_signal(signal.SIGINT)
            reached = True
            with pytest.raises(KeyboardInterrupt):
                interruption.check()
            interruption.check()  # once is enough
        assert reached

    def test_at_the_end(self) -> None:
        reached = []

        def interrupted() -> None:
            with Interruption():
                signal.raise_signal(signal.SIGINT)
                reached.append(True)

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert reached
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)  # as before

    def test_an_ignored_signal_stays_ignored(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with Interruption() as interruption:
            signal.raise_signal(signal.SIGINT)
            interruption.check()

    def test_a_handler_that_the_handler_sets_stays(self) -> None:
        signal.signal(signal.SIGINT, lambda *_: signal.signal(signal.SIGINT, signal.SIG_IGN))
        with Interruption() as interruption:
            signal.raise_signal(signal.SIGINT)
            interruption.check()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN

    def test_other_threads_change_no_handlers(self) -> None:
        found: list[object] = []

        def work() -> None:
            with Interruption():
                found.append(signal.getsignal(signal.SIGINT))

        thread = Thread(target=work)
        thread.start()
        thread.join()
        assert found == [signal.default_int_handler]
