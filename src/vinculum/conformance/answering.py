"""The runtime in the process that answers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.conformance.runtimes.registry import runtime


def answering(backend: str, packages: Sequence[str]) -> Runtime:
    """Return a runtime, what it needs already imported, so that no case's time is spent on that.

    Parameters
    ----------
    backend : str
        As `runtime` takes it.
    packages : sequence of str
        The distributions that its answers depend on; those that are not imported by that name are passed over.
    """
    made = runtime(backend)
    for package in packages:
        with suppress(Exception):  # Whatever is wrong with it, the first case will tell.
            import_module(package)
    return made
