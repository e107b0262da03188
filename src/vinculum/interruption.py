"""Delaying interruptions of the main thread while it works with an executor."""

from __future__ import annotations

import signal
from collections.abc import Callable
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, Self

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP.


class Interruption:
    """Interruptions that wait until `check`, or the end of the block; a context manager.

    Python raises KeyboardInterrupt between any two steps of the main thread. Inside an executor that can be just after
    a lock is acquired and before its release is ensured: the executor's threads, and a join of them, would then hang.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._signal: int | None = None

    def __enter__(self) -> Self:
        if current_thread() is main_thread():  # In Python only the main thread can set and run signal handlers.
            for number in (getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            if signal.getsignal(number) == self._note:  # A handler called by `check` may have set another one.
                signal.signal(number, handler)
        self.check()

    def check(self) -> None:
        """Call the handler of the last interruption since the last check; by default it raises KeyboardInterrupt."""
        number, self._signal = self._signal, None
        if number is not None:
            self._handlers[number](number, None)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._signal = number
