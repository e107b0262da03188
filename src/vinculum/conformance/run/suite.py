"""Running the suite: a runtime executes the cases in subprocesses, and its answers are judged in our process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from time import perf_counter
from typing import TypeVar

import numpy as np

from vinculum.conformance.arithmetic import Answered, explain
from vinculum.conformance.cases.case import Advance, Case, Expectation
from vinculum.conformance.cases.operation import Operation, reduced
from vinculum.conformance.expect import KnownDeviations
from vinculum.conformance.run.file import digest, kept
from vinculum.conformance.run.installation import environment
from vinculum.conformance.run.judgement import apart, judge, varying
from vinculum.conformance.run.planning import Plan
from vinculum.conformance.run.record import Cause, Kind, Result, Run, Verdict
from vinculum.conformance.runtimes.backends import STARTED
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.conformance.vectors.answers import GivenAnswers
from vinculum.interruption import Interruption
from vinculum.sandbox import Answer, End, Isolated, Limits
from vinculum.spec.element_types import ElementType
from vinculum.text import encodable

_T = TypeVar("_T")

_LOOK = 0.2  # Seconds between two checks for interruptions.
_UNREPEATED = {
    Kind.HUNG: "# This did not end within the time limit; it was not run again to verify that.\n",
    Kind.OUT_OF_MEMORY: "# This exceeded the memory limit in two processes; it was not run again.\n",
    Kind.DIFFERS: "# The answers to this differ from one run to the next, so it may print the right quotients.\n",
}

_UNSPECIFIED = (
    "The specification leaves the quotient unspecified: any will do, but a runtime may not die, nor spoil the others."
)


def survey(
    planned: Plan, *, known: KnownDeviations | None = None, workers: int = 2, advance: Advance | None = None
) -> Run:
    """Run the cases of a plan on its runtime, and return the results.

    - `planned`: The runtime and the cases. A runtime that exceeds the limits of the selection is ended, and the run
      continues.
    - `known`: Its causes are preferred to others that explain the same cases.
    - `workers`: How many processes answer in parallel.
    - `advance`: Called from any thread, one call at a time.

    ModelError if the runtime cannot be made in a subprocess.
    """
    runtime, selection, start = planned.runtime, planned.selection, perf_counter()
    date = datetime.now(UTC).isoformat(timespec="seconds")
    if isinstance(runtime, GivenAnswers):
        asked, versions = tuple(runtime.answered(selection.only)), runtime.versions()
    else:
        limits = Limits(seconds=selection.seconds, memory=selection.memory)
        asked = ask(runtime, planned.cases, STARTED, planned.backend, workers=workers, limits=limits, advance=advance)
        versions = {**runtime.versions(), **environment()}
    backend, title = encodable(planned.backend), encodable(runtime.title)
    versions = {encodable(name): encodable(version) for name, version in versions.items()}
    run = Run(backend, title, versions, selection, tuple(map(_result, asked)), (), date, 0.0)
    return replace(explained(run, asked, known=known), seconds=perf_counter() - start)


def explained(run: Run, asked: Sequence[Answered], *, known: KnownDeviations | None = None) -> Run:
    """Return a run with the verdicts on answered cases, and the causes that they have.

    Its other cases, such as those of an older suite, keep their verdicts and causes.

    - `asked`: Its cases, as `vinculum.conformance.run.file.answered` rebuilds them.
    """
    explanation = explain(asked, known.on(run.versions).predictors() if known else ())
    found = [
        Cause(one.cause.name, one.cause.statement, tuple(map(str, one.cause.element_types)), one.passing)
        for one in explanation.explained
    ]
    of_case = {one.case.id: own.cause.name for own in explanation.explained for one in own.cases}
    anew = {one.case.id: one for one in asked}
    consistent = {one.case.id: told.consistent for told in explanation.refuted for one in told.cases}
    results = []
    for result in run.results:
        if (one := anew.get(result.id)) is not None:
            name, told = of_case.get(result.id, ""), consistent.get(result.id, "")
            result = replace(result, verdict=one.verdict, cause=name, consistent=told)
        results.append(result)
    used = {result.cause for result in results} - {cause.name for cause in found}
    found += [cause for cause in run.causes if cause.name in used]
    return replace(run, results=tuple(results), causes=tuple(found))


def _result(one: Answered) -> Result:
    case = one.case
    (clause,) = (clause for clause in case.operation.spec.clauses if clause.tag == case.clause)
    # Of an unspecified quotient the clause itself describes what our own engine does there.
    return Result(
        id=case.id,
        clause=case.clause,
        statement=clause.statement if case.expectation.unspecified is None else _UNSPECIFIED,
        verdict=one.verdict,
        reproducer=one.reproducer,
        digest=digest(case),
        answer=kept(case, one.answer),
    )


def ask(
    runtime: Runtime,
    chosen: Iterable[Case],
    factory: str,
    *arguments: object,
    workers: int = 2,
    limits: Limits | None = None,
    advance: Advance | None = None,
) -> tuple[Answered, ...]:
    """Return the cases with their answers, in the order of the cases.

    Whatever deviates is asked again: once in the same process, and once, in the reverse order, in a process that has
    answered no other cases. A crash is asked again in the new process only, and a hang or lack of memory not at all.
    Once a case has ended the process, those of the same element type that may do so too are asked in copies of the
    process, if the runtime allows for that.

    - `runtime`: The runtime in our process, which writes the reproducers.
    - `chosen`: The cases; each is made only when a process is free to answer it.
    - `factory`: The factory of the runtime in the subprocesses, as for `Isolated`.
    - `workers`, `limits`, `advance`: As in `survey`.
    """
    lock, done, ended = Lock(), 0, set[ElementType]()

    def first(isolated: Isolated, case: Case) -> Answered:
        nonlocal done
        # What the specification leaves unspecified is what ends processes.
        found = _asked(isolated, case, case.expectation.unspecified is not None and case.element_type in ended)
        with lock:
            if found.verdict.kind is Kind.CRASHED:
                ended.add(case.element_type)
            done += 1
            if advance is not None:
                advance(done, case.id)
        return found

    def again(isolated: Isolated, one: Answered) -> Answered:
        with lock:
            if advance is not None:
                advance(done, one.case.id)
        return _asked_again(runtime, one, partial(_answer, isolated, apart=one.verdict.kind is Kind.CRASHED))

    make = partial(Isolated, factory, *arguments, limits=limits)
    answered = _parallel(make, workers, chosen, first)
    deviating = [number for number, one in enumerate(answered) if one.deviates][::-1]
    repeated = _parallel(make, min(workers, len(deviating)), [answered[number] for number in deviating], again)
    for number, one in zip(deviating, repeated, strict=True):
        answered[number] = one
    return tuple(answered)


def _parallel(
    make: Callable[[], Isolated], workers: int, items: Iterable[_T], do: Callable[[Isolated, _T], Answered]
) -> list[Answered]:
    """Return what several processes do with items, in the order of the items."""
    source, lock = enumerate(items), Lock()
    results: dict[int, Answered] = {}

    def work(isolated: Isolated) -> None:
        while True:
            with lock:
                numbered = next(source, None)
            if numbered is None:
                return
            number, item = numbered
            result = do(isolated, item)
            with lock:
                results[number] = result

    if not workers:
        return []
    with ExitStack() as stack:
        interruption = stack.enter_context(Interruption())
        processes = [stack.enter_context(make()) for _ in range(workers)]
        pool = stack.enter_context(ThreadPoolExecutor(workers))
        # On exit, processes are closed before the pool joins its threads, which may be waiting for these processes.
        for process in processes:
            stack.callback(process.close)
        working = {pool.submit(work, process) for process in processes}
        while working:
            done, working = wait(working, _LOOK, FIRST_EXCEPTION)
            interruption.check()
            for future in done:
                future.result()
    return [results[number] for number in sorted(results)]


def _answer(isolated: Isolated, operation: Operation, *, apart: bool = False) -> Answer:
    answer = isolated.call("answer", operation, apart=apart)
    if answer.end is End.OUT_OF_MEMORY:
        # The memory may have leaked in earlier cases, so the case is repeated in a new process.
        answer = isolated.call("answer", operation)
    return replace(answer, words=encodable(answer.words))


def _asked(isolated: Isolated, case: Case, in_a_copy: bool) -> Answered:
    """Ask a case, and in the same process once more if the answer deviates."""
    answer = _answer(isolated, case.operation, apart=in_a_copy)
    verdict = judge(case.operation, case.expectation, answer)
    if verdict.kind.deviates and not verdict.kind.is_death:
        verdict = _compared(case, answer, verdict, _answer(isolated, case.operation))
    return Answered(case, answer, verdict)


def _asked_again(runtime: Runtime, one: Answered, answer: Callable[[Operation], Answer]) -> Answered:
    """Ask a deviating case in a new process, and write a program that reproduces the answer."""
    case, verdict, smaller = one.case, one.verdict, None
    operation = case.operation
    if verdict.kind not in _UNREPEATED:
        if verdict.kind is Kind.CRASHED:  # A smaller operation that crashes alike saves the time of one crash.
            smaller = shrunk(operation, case.expectation, verdict, answer)
        if smaller is None:
            verdict = _compared(case, one.answer, verdict, answer(operation))
        if smaller is None and verdict.kind not in (Kind.CRASHED, Kind.DIFFERS):
            smaller = shrunk(operation, case.expectation, verdict, answer)
    source = encodable(runtime.reproducer(smaller or operation))
    return replace(one, verdict=verdict, reproducer=_UNREPEATED.get(verdict.kind, "") + source)


def _compared(case: Case, answer: Answer, verdict: Verdict, again: Answer) -> Verdict:
    if apart(answer, again, case.expectation) == 0:
        return verdict
    return varying(verdict, judge(case.operation, case.expectation, again))


_FEW = 16  # Operands with no more numbers than this stay as they are, as a person can still read them.
_LASTING = (Kind.HUNG, Kind.OUT_OF_MEMORY)  # Not repeated, as each repetition takes as long again.

Expected = tuple[Operation, Expectation]


def shrunk(
    operation: Operation, expectation: Expectation, verdict: Verdict, answer: Callable[[Operation], Answer]
) -> Operation | None:
    """Return an operation of the same shapes whose operands hold one number each, if it gives the same verdict.

    None if there is none, for instance if the runtime broadcasts wrongly.
    """
    for smaller, expected in _smaller(operation, expectation, verdict):
        found = judge(smaller, expected, answer(smaller))
        if verdict.example is None and _words(found) == _words(verdict):
            return smaller
        if verdict.example and found.example and found.example.actual == verdict.example.actual:
            return smaller
    return None


def _words(verdict: Verdict) -> tuple[Kind, str, str]:
    return verdict.kind, verdict.said, verdict.expected


def _smaller(operation: Operation, expectation: Expectation, verdict: Verdict) -> Iterator[Expected]:
    """Yield operations of one pair of numbers each."""
    quotient, unspecified = expectation.quotient, expectation.unspecified
    if verdict.example is not None:
        yield _of_pair(operation, expectation, verdict.example.index)
        return
    numbers = sum(operand.size for operand in operation.operands)
    if verdict.kind.passes or verdict.kind in _LASTING or numbers <= _FEW:
        return
    if quotient is None:
        # Operands that need not fit are filled with the first number of each.
        operands = (np.full_like(x, x.reshape(-1)[0]) if x.size else x for x in operation.operands)
        yield replace(operation, operands=tuple(operands)), expectation
    elif quotient.size:
        if unspecified is not None and unspecified.any():  # Unspecified divisions are what crashes runtimes.
            yield _of_pair(operation, expectation, np.unravel_index(int(np.argmax(unspecified)), unspecified.shape))
        yield _of_pair(operation, expectation, (0,) * quotient.ndim)


def _of_pair(operation: Operation, expectation: Expectation, index: Sequence[int | np.intp]) -> Expected:
    """Return an operation in which every quotient is the one at an index."""
    place = tuple(int(position) for position in index)
    quotient, unspecified = (
        None if array is None else np.full_like(array, array[place])
        for array in (expectation.quotient, expectation.unspecified)
    )
    return reduced(operation, place), Expectation(quotient, unspecified)
