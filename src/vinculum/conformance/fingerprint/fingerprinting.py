"""The fingerprint of a runtime: every probe's questions asked in two other processes, then every answer explained."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from vinculum.conformance.fingerprint.arithmetic_probes import constants, division, one_divisor, reciprocals
from vinculum.conformance.fingerprint.asking import Asker
from vinculum.conformance.fingerprint.edge_probes import minimum_by_minus_one, zero_divisors
from vinculum.conformance.fingerprint.finding import Finding, Fingerprint
from vinculum.conformance.fingerprint.rule_probes import (
    axes,
    empty_tensors,
    illegal_operands,
    rounding_attributes,
    versions,
)
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.sandbox import Isolated, Limits

Probe = Callable[[Asker], Iterator[Finding]]
Advance = Callable[[int, str], None]

PROBES: tuple[Probe, ...] = (
    division,
    one_divisor,
    reciprocals,
    rounding_attributes,
    constants,
    axes,
    illegal_operands,
    empty_tensors,
    versions,
    # These may end the process, which must then be started again, unless nothing is left to ask.
    zero_divisors,
    minimum_by_minus_one,
)
"""Every probe: called, it asks; what it returns waits for the answers."""

_REGISTRY = "vinculum.conformance.runtimes.registry:runtime"
_PROCESSES = 2


def fingerprint(backend: str, *, limits: Limits | None = None, advance: Advance | None = None) -> Fingerprint:
    """Return how the runtime of that name computes its quotients.

    Parameters
    ----------
    backend : str
        As `vinculum.conformance.runtimes.registry.runtime` takes it: ``"openvino"``, ``"torch[device=cuda]"``.
    limits : Limits, optional
        What a single question may take.
    advance : callable, optional
        Called after each probe with the number of those done and the last one's name.

    Raises
    ------
    VinculumError
        If there is no such runtime, or its package is not installed.
    """
    from vinculum.conformance.runtimes.registry import runtime

    return fingerprint_of(runtime(backend), backend, _REGISTRY, backend, limits=limits, advance=advance)


def fingerprint_of(
    runtime: Runtime,
    backend: str,
    maker: str,
    *arguments: object,
    limits: Limits | None = None,
    advance: Advance | None = None,
) -> Fingerprint:
    """Return how a runtime computes its quotients; the maker makes it again in the processes that answer."""
    runtime.check()
    start = time.perf_counter()
    found: list[Finding] = []
    with ExitStack() as stack:
        callers = [stack.enter_context(Isolated(maker, *arguments, limits=limits)) for _ in range(_PROCESSES)]
        pool = stack.enter_context(ThreadPoolExecutor(_PROCESSES))
        # However it ends: before the pool waits for its threads, what they wait for, or would ask next, is closed.
        for caller in callers:
            stack.callback(caller.close)
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        asker = Asker(runtime, callers, pool)
        asked = [(probe.__name__.replace("_", " "), probe(asker)) for probe in PROBES]
        for done, (name, findings) in enumerate(asked, 1):
            found += findings
            if advance is not None:
                advance(done, name)
    return Fingerprint(backend, runtime.title, dict(runtime.versions()), tuple(found), time.perf_counter() - start)
