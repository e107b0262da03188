"""How a runtime divides each element type, in words: a view of the causes that explain its answers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vinculum.conformance.arithmetic import Answered, Explanation, explain
from vinculum.conformance.arithmetic.answered import UNSUPPORTED
from vinculum.conformance.arithmetic.catalogue import right
from vinculum.conformance.arithmetic.circumstances import RUN_TIME, placement
from vinculum.conformance.cases.case import Advance
from vinculum.conformance.run.planning import Plan
from vinculum.conformance.run.suite import ask
from vinculum.conformance.run.verdict import Example, Kind
from vinculum.conformance.runtimes.registry import STARTED
from vinculum.sandbox import Limits
from vinculum.spec.element_types import REAL, ElementType
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1

_NEWEST = (DIV_14.title, RECIPROCAL_13.title, DIVIDE_1.title)


@dataclass(frozen=True)
class Line:
    """What holds for some element types.

    Attributes
    ----------
    element_types : tuple of str
        The element types.
    statement : str
        How they are divided, in words.
    deviates : bool
        Whether the specification requires otherwise.
    example : Example or None
        A wrong quotient, for what deviates.
    """

    element_types: tuple[str, ...]
    statement: str
    deviates: bool = False
    example: Example | None = None


@dataclass(frozen=True)
class Fingerprint:
    """How a runtime divides.

    Attributes
    ----------
    backend, title : str
        The name as it was requested, and the name in sentences.
    versions : Mapping of str to str
        Versions of the packages that the answers depend on.
    lines : tuple of Line
        What deviates, then what does not.
    cases : int
        How many cases were run.
    seconds : float
        How long it took.
    """

    backend: str
    title: str
    versions: Mapping[str, str]
    lines: tuple[Line, ...]
    cases: int
    seconds: float


def fingerprint(planned: Plan, *, workers: int = 2, advance: Advance | None = None) -> Fingerprint:
    """Return how a runtime divides, by the cases of the newest operators in a plan; by all if it covers none of these.

    Parameters
    ----------
    planned : Plan
        The runtime and the cases.
    workers : int, keyword-only
        How many processes answer side by side.
    advance : callable, keyword-only
        Called from any thread, one call at a time.
    """
    start, runtime, limits = time.perf_counter(), planned.runtime, planned.selection
    covered = list(planned.cases)
    answered = ask(
        None,
        [case for case in covered if case.id.operator in _NEWEST] or covered,
        STARTED,
        planned.backend,
        workers=workers,
        limits=Limits(seconds=limits.seconds, memory=limits.memory),
        advance=advance,
    )
    told = tuple(lines(answered, explain(answered)))
    seconds = time.perf_counter() - start
    return Fingerprint(planned.backend, runtime.title, dict(runtime.versions()), told, len(answered), seconds)


def lines(answered: Sequence[Answered], explanation: Explanation) -> Iterator[Line]:
    """Yield what the causes of a run say of its element types, then which of them are divided as specified."""
    for own in explanation.explained:
        where = _where(own.cases, answered) if own.cause.divisions else ""
        yield _line(own.cases, f"{own.cause.statement}{where}")
    for told in explanation.refuted:
        yield _line(told.cases, told.consistent)
    consistent = {id(one) for told in explanation.refuted for one in told.cases}
    if rest := [one for one in explanation.unexplained if id(one) not in consistent]:
        yield _line(rest, f"{len(rest)} cases deviate for no known cause")
    if unsteady := [one for one in answered if one.verdict.kind is Kind.DIFFERS]:
        yield _line(unsteady, f"in {len(unsteady)} cases the answers differ between runs")
    yield from _as_specified(answered)


def _line(cases: Sequence[Answered], statement: str) -> Line:
    examples = (one.verdict.example for one in cases if one.verdict.example is not None)
    return Line(_types(cases), statement, deviates=True, example=next(examples, None))


def _types(cases: Iterable[Answered]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(one.case.element_type) for one in cases))


def _where(cases: Sequence[Answered], answered: Sequence[Answered]) -> str:
    """Return which operands are constants, if that distinguishes the cases from others of their element types."""
    types = _types(cases)
    own, there = (
        dict.fromkeys(placement(one.case.operation) for one in some)
        for some in (cases, (one for one in answered if str(one.case.element_type) in types))
    )
    tells = len(own) < len(there) and (RUN_TIME not in own or len(own) == 1)
    return f" (with {', '.join(own)})" if tells else ""


def _as_specified(answered: Sequence[Answered]) -> Iterator[Line]:
    """Yield the element types without wrong quotients, and what each gives where nothing is specified."""
    groups: dict[ElementType, list[Answered]] = {}
    for one in answered:
        groups.setdefault(one.case.element_type, []).append(one)
    found: dict[str, Line] = {}

    def add(element_type: ElementType, statement: str) -> None:
        earlier = found.get(statement, Line((), statement))
        found[statement] = replace(earlier, element_types=(*earlier.element_types, str(element_type)))

    for element_type, own in groups.items():
        if all(one.outcome == UNSUPPORTED for one in own):
            add(element_type, "not supported")
        elif element_type is not REAL and not any(one.deviates for one in own):
            add(element_type, right(element_type).statement)
        gave = dict.fromkeys(gave for one in own for gave in one.verdict.unspecified if gave.dividend in ("x", "MIN"))
        for words in dict.fromkeys(
            f"{one.quotients} gives {one.quotient}" + (f" for {one.where}" if one.where else "") for one in gave
        ):
            add(element_type, words)
    yield from found.values()
