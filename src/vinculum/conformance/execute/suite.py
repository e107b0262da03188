"""Running the suite: a runtime executes the cases in subprocesses, and its answers are judged in our process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from time import perf_counter

from vinculum.conformance.arithmetic import Answered, explain
from vinculum.conformance.cases.case import Advance, Case
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.execute.answers import answered, digest, kept
from vinculum.conformance.execute.installation import environment
from vinculum.conformance.execute.planning import Plan
from vinculum.conformance.execute.run import Cause, Result, Run
from vinculum.conformance.execute.shrinking import shrunk
from vinculum.conformance.expect.known import KnownDeviations
from vinculum.conformance.oracle.judgement import judge
from vinculum.conformance.oracle.verdict import Kind
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.conformance.runtimes.registry import STARTED
from vinculum.interruption import Interruption
from vinculum.sandbox import Answer, End, Isolated, Limits
from vinculum.text import encodable

_LOOK = 0.2  # Seconds between two checks for interruptions.

_UNSPECIFIED = (
    "The specification leaves the quotient unspecified: any will do, but a runtime may not die, nor spoil the others."
)


def survey(
    planned: Plan,
    *,
    known: KnownDeviations | None = None,
    workers: int = 2,
    advance: Advance | None = None,
) -> Run:
    """Run the cases of a plan on its runtime, and return the results.

    Parameters
    ----------
    planned : Plan
        The runtime and the cases. A runtime that exceeds the limits of the selection is ended, and the run continues.
    known : KnownDeviations, keyword-only
        Its causes are preferred to others that explain the same cases.
    workers : int, keyword-only
        How many processes answer in parallel.
    advance : callable, keyword-only
        Called from any thread, one call at a time.

    Raises
    ------
    ModelError
        If the runtime cannot be made in a subprocess.
    """
    runtime, selection, start = planned.runtime, planned.selection, perf_counter()
    date = datetime.now(UTC).isoformat(timespec="seconds")
    limits = Limits(seconds=selection.seconds, memory=selection.memory)
    asked = ask(runtime, planned.cases, STARTED, planned.backend, workers=workers, limits=limits, advance=advance)
    results = tuple(
        Result(
            one.case.id,
            one.case.clause,
            _statement(one.case),
            one.verdict,
            reproducer=one.reproducer,
            digest=digest(one.case),
            answer=kept(one.case, one.answer),
        )
        for one in asked
    )
    run = Run(
        backend=encodable(planned.backend),
        title=encodable(runtime.title),
        versions={encodable(k): encodable(v) for k, v in {**runtime.versions(), **environment()}.items()},
        selection=selection,
        results=results,
        causes=(),
        date=date,
        seconds=0.0,
    )
    return replace(_explained(run, asked, known), seconds=perf_counter() - start)


def explained(run: Run, *, known: KnownDeviations | None = None) -> Run:
    """Return a run whose answers are judged and explained anew.

    Cases that cannot be rebuilt, such as those of an older suite, keep their verdicts and causes.

    Parameters
    ----------
    run : Run
        A run that keeps its answers.
    known : KnownDeviations, keyword-only
        As in `survey`.

    Raises
    ------
    ModelError
        If an answer is damaged.
    """
    return _explained(run, answered(run), known)


def _explained(run: Run, asked: Sequence[Answered], known: KnownDeviations | None) -> Run:
    causes = known.on(run.features).as_causes() if known else ()
    # An answer that is another the next time has no arithmetic.
    explanation = explain([one for one in asked if one.verdict.kind is not Kind.DIFFERS], known=causes)
    found = [
        Cause(one.cause.name, one.cause.statement, tuple(map(str, one.cause.element_types)), one.passing)
        for one in explanation.explained
    ]
    of_case, anew = explanation.by_case(), {one.case.id: one for one in asked}
    results = []
    for result in run.results:
        if result.id in anew:
            cause = of_case.get(str(result.id))
            result = replace(result, verdict=anew[result.id].verdict, cause=cause.name if cause else "")
        results.append(result)
    used = {result.cause for result in results} - {cause.name for cause in found}
    found += [cause for cause in run.causes if cause.name in used]
    return replace(run, results=tuple(results), causes=tuple(found))


def _statement(case: Case) -> str:
    if case.expectation.unspecified is not None:
        return _UNSPECIFIED  # The clause itself describes what our own engine does there.
    (statement,) = (clause.statement for clause in case.operation.spec.clauses if clause.tag == case.clause)
    return statement


def ask(
    runtime: Runtime | None,
    chosen: Iterable[Case],
    factory: str,
    *arguments: object,
    workers: int = 2,
    limits: Limits | None = None,
    advance: Advance | None = None,
) -> tuple[Answered, ...]:
    """Return the cases with their answers, in the order of the cases.

    Parameters
    ----------
    runtime : Runtime or None
        The runtime in our process, which writes the reproducers; None for no reproducers.
    chosen : iterable of Case
        The cases; each is made only when a process is free to answer it.
    factory : str
        The factory of the runtime in the subprocesses, as for `Isolated`.
    *arguments
        The arguments of the factory.
    workers, limits, advance
        As in `survey`.
    """
    source, lock = enumerate(chosen), Lock()
    results: dict[int, Answered] = {}

    def work(isolated: Isolated) -> None:
        while True:
            with lock:
                numbered = next(source, None)
            if numbered is None:
                return
            number, case = numbered
            result = _asked(runtime, case, partial(_answer, isolated))
            with lock:
                results[number] = result
                if advance is not None:
                    advance(len(results), case.id)

    with ExitStack() as stack:
        interruption = stack.enter_context(Interruption())
        processes = [stack.enter_context(Isolated(factory, *arguments, limits=limits)) for _ in range(workers)]
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
    return tuple(results[number] for number in sorted(results))


def _answer(isolated: Isolated, operation: Operation) -> Answer:
    answer = isolated.call("answer", operation)
    if answer.end is End.OUT_OF_MEMORY:
        # The memory may have leaked in earlier cases, so the case is repeated in a new process.
        return isolated.call("answer", operation)
    return answer


def _asked(runtime: Runtime | None, case: Case, answer: Callable[[Operation], Answer]) -> Answered:
    operation, expectation = case.operation, case.expectation
    answered = answer(operation)
    answered = replace(answered, words=encodable(answered.words))
    verdict = judge(operation, expectation, answered)
    reproducer = None
    if runtime is not None and not verdict.kind.passes:
        reproducer = encodable(runtime.reproducer(shrunk(operation, expectation, verdict, answer)))
    return Answered(case, answered, verdict, reproducer)
