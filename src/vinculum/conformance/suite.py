"""A run of the suite: a runtime is asked every case in other processes, and its answers are judged in ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from fnmatch import fnmatchcase
from threading import Lock
from time import perf_counter

from vinculum.conformance.case import Case, Level
from vinculum.conformance.cases import cases
from vinculum.conformance.environment import environment
from vinculum.conformance.judgement import judge
from vinculum.conformance.question import Question, reduced
from vinculum.conformance.report import Report, Result
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.conformance.runtimes.registry import runtime
from vinculum.conformance.verdict import Kind, Verdict
from vinculum.errors import AttributeValueError
from vinculum.models.isolation import Answer, End, Isolated, Limits
from vinculum.models.messages import listed

_ANSWERING = "vinculum.conformance.answering:answering"
_LOOK = 0.2  # Seconds; where a wait cannot be interrupted Ctrl-C is heard that late.

Advance = Callable[[int, str], None]
"""Called with how many cases have been judged, and the id of the last of them."""


def survey(
    backend: str,
    level: Level,
    *,
    workers: int = 2,
    limits: Limits | None = None,
    only: Sequence[str] = (),
    advance: Advance | None = None,
) -> Report:
    """Return what a runtime answers to every case that it covers, and what each answer is worth.

    Parameters
    ----------
    backend : str
        As `vinculum.conformance.runtimes.registry.runtime` takes it.
    level : Level
        Which cases.
    workers : int, keyword-only
        How many processes answer side by side.
    limits : Limits, keyword-only
        What a case may take; a runtime that goes beyond them is ended, and the run goes on.
    only : sequence of str, keyword-only
        Glob patterns on the ids: a case is asked if one of them matches; all are if there is none.
    advance : callable, keyword-only
        Called from any thread, one call at a time.

    Raises
    ------
    SpecLookupError, AttributeValueError
        If no runtime has that name or option, or a pattern matches no case that it covers.
    ModelError
        If its package is not installed, or it cannot be made in another process.
    """
    asked = runtime(backend)
    asked.check()
    versions = {**asked.versions(), **environment()}
    start = perf_counter()
    chosen = _chosen(asked, level, only)
    maker = (_ANSWERING, backend, tuple(asked.versions()))
    results = ask(asked, chosen, *maker, workers=workers, limits=limits, advance=advance)
    return Report(backend, asked.title, versions, level, results, perf_counter() - start)


def ask(
    asked: Runtime,
    chosen: Iterable[Case],
    maker: str,
    *arguments: object,
    workers: int = 2,
    limits: Limits | None = None,
    advance: Advance | None = None,
) -> tuple[Result, ...]:
    """Return the results of cases, in their order, whatever the order of the answers.

    Parameters
    ----------
    asked : Runtime
        The runtime in our process, which writes the reproducers.
    chosen : iterable of Case
        The cases; each is made only when a process is free to answer it.
    maker : str
        What makes the runtime in the other processes, as `Isolated` takes it.
    *arguments
        What it is called with.
    workers, limits, advance
        As in `survey`.
    """
    source, lock = enumerate(chosen), Lock()
    results: dict[int, Result] = {}

    def work(isolated: Isolated) -> None:
        while True:
            with lock:
                numbered = next(source, None)
            if numbered is None:
                return
            number, case = numbered
            verdict = judge(case, _answer(isolated, case))
            result = _result(asked, case, verdict)
            with lock:
                results[number] = result
                if advance is not None:
                    advance(len(results), case.id)

    with ExitStack() as stack:
        processes = [stack.enter_context(Isolated(maker, *arguments, limits=limits)) for _ in range(workers)]
        pool = stack.enter_context(ThreadPoolExecutor(workers))
        # However it ends: before the pool waits for its threads, what they wait for, or would ask next, is closed.
        for process in processes:
            stack.callback(process.close)
        working = {pool.submit(work, process) for process in processes}
        while working:
            done, working = wait(working, _LOOK, FIRST_EXCEPTION)
            for future in done:
                future.result()
    return tuple(results[number] for number in sorted(results))


def _answer(isolated: Isolated, case: Case) -> Answer:
    answer = isolated.call("answer", case.question)
    if answer.end is End.OUT_OF_MEMORY:
        # What leaks from case to case must not be laid at the door of the last: a new process tells.
        return isolated.call("answer", case.question)
    return answer


def _result(asked: Runtime, case: Case, verdict: Verdict) -> Result:
    spec = case.question.spec
    (statement,) = (clause.statement for clause in spec.clauses if clause.tag == case.clause)
    reproducer = None if verdict.kind.passes else asked.reproducer(_telling(case, verdict))
    return Result(case.id, case.clause, spec.title, case.element_type.name, statement, verdict, reproducer)


def _telling(case: Case, verdict: Verdict) -> Question:
    """Return the question with no more numbers than are needed to show the verdict."""
    quotient = case.expectation.quotient
    if verdict.example is not None:
        return reduced(case.question, verdict.example.index)
    if verdict.kind is Kind.UNSUPPORTED and quotient is not None and quotient.size:
        return reduced(case.question, (0,) * quotient.ndim)
    return case.question


def _chosen(asked: Runtime, level: Level, only: Sequence[str]) -> Iterator[Case]:
    covered = (case for case in cases(level) if asked.covers(case.question))
    if not only:
        return covered
    chosen = [case for case in covered if any(fnmatchcase(case.id, pattern) for pattern in only)]
    idle = [pattern for pattern in only if not any(fnmatchcase(case.id, pattern) for case in chosen)]
    if idle:
        raise AttributeValueError(
            f"no case of this level that {asked.title} can be asked matches {listed(idle)}; an id reads "
            "'Div-14/int64/MIN divided by -1/equal shapes/constant divisor', and * stands for anything"
        )
    return iter(chosen)
