"""The runtime in the process that answers."""

from __future__ import annotations

from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.conformance.runtimes.registry import runtime


def answering(backend: str) -> Runtime:
    """Return a runtime that has been started, so that no case's time is spent on that.

    Parameters
    ----------
    backend : str
        As `runtime` takes it.
    """
    made = runtime(backend)
    made.start()
    return made
