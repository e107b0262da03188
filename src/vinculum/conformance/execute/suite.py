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

from vinculum.conformance.arithmetic import Answered, Explanation, explain
from vinculum.conformance.cases.case import Advance, Case
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.execute.installation import environment
from vinculum.conformance.execute.planning import Plan
from vinculum.conformance.execute.run import Cause, Result, Run
from vinculum.conformance.execute.shrinking import shrunk
from vinculum.conformance.expect.known import KnownDeviations
from vinculum.conformance.oracle.judgement import judge
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
    versions = {**runtime.versions(), **environment()}
    explanation = explain(asked, known=known.on(versions).as_causes() if known else ())
    causes = [
        Cause(one.cause.name, one.cause.statement, tuple(map(str, one.cause.element_types)), one.passing)
        for one in explanation.explained
    ]
    return Run(
        backend=encodable(planned.backend),
        title=encodable(runtime.title),
        versions={encodable(k): encodable(v) for k, v in versions.items()},
        selection=selection,
        results=tuple(_results(asked, explanation)),
        causes=tuple(causes),
        date=date,
        seconds=perf_counter() - start,
    )


def _results(asked: Sequence[Answered], explanation: Explanation) -> Iterator[Result]:
    causes = explanation.by_case()
    for one in asked:
        case = one.case
        (statement,) = (clause.statement for clause in case.operation.spec.clauses if clause.tag == case.clause)
        if case.expectation.unspecified is not None:
            statement = _UNSPECIFIED  # The clause itself describes what our own engine does there.
        cause = causes.get(str(case.id))
        yield Result(case.id, case.clause, statement, one.verdict, cause.name if cause else "", one.reproducer)


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
