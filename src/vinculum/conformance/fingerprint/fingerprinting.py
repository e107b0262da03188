"""The fingerprint of a runtime: every probe asked in other processes, three of them side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from vinculum.conformance.fingerprint.arithmetic_probes import floats, identities, integers, subnormals
from vinculum.conformance.fingerprint.asking import Asker
from vinculum.conformance.fingerprint.constant_probe import constants
from vinculum.conformance.fingerprint.edge_probes import (
    folded_minimum_by_minus_one,
    folded_zero_divisors,
    minimum_by_minus_one,
    zero_divisors,
)
from vinculum.conformance.fingerprint.finding import Finding, Fingerprint
from vinculum.conformance.fingerprint.one_divisor_probe import one_divisor
from vinculum.conformance.fingerprint.rounding_probe import roundings
from vinculum.conformance.fingerprint.rule_probes import (
    axes,
    broadcasting,
    empty_tensors,
    mixed_types,
    reciprocals,
    versions,
)
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.models.isolation import Isolated, Limits

Probe = Callable[[Asker], Iterator[Finding]]
Advance = Callable[[int, str], None]

_ARITHMETIC: tuple[Probe, ...] = (
    floats,
    integers,
    subnormals,
    identities,
    one_divisor,
    reciprocals,
    roundings,
    constants,
)
_RULES: tuple[Probe, ...] = (axes, mixed_types, broadcasting, empty_tensors, versions)
# These may end the process, which must then be started again: they have processes of their own.
_EDGES: tuple[Probe, ...] = (zero_divisors, minimum_by_minus_one)
_FOLDED_EDGES: tuple[Probe, ...] = (folded_zero_divisors, folded_minimum_by_minus_one)
_PARTS = ((*_ARITHMETIC, *_RULES), _EDGES, _FOLDED_EDGES)

PROBES = (*_ARITHMETIC, *_EDGES, *_FOLDED_EDGES, *_RULES)
"""Every probe, in the order of its findings; one may find several things."""

_REGISTRY = "vinculum.conformance.runtimes.registry:runtime"


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
    found: dict[Probe, list[Finding]] = {}

    def ask(probes: tuple[Probe, ...]) -> None:
        with Isolated(maker, *arguments, limits=limits) as caller:
            asker = Asker(runtime, caller)
            for probe in probes:
                found[probe] = list(probe(asker))
                if advance is not None:
                    advance(len(found), probe.__name__.replace("_", " "))

    with ThreadPoolExecutor(len(_PARTS)) as pool:
        for _ in pool.map(ask, _PARTS):
            pass  # To raise here what was raised there.
    return Fingerprint(
        backend,
        runtime.title,
        dict(runtime.versions()),
        tuple(finding for probe in PROBES for finding in found[probe]),
        time.perf_counter() - start,
    )
