"""``vinculum conform``: test the divisions of a runtime against the specification, case by case."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vinculum.cli import options
from vinculum.cli.commands.conformance.outputs import asked, finish, known_deviations, saved
from vinculum.cli.options import end, flag, value
from vinculum.errors import AttributeValueError

if TYPE_CHECKING:
    from vinculum.conformance.expect import KnownDeviations

_HELP = (
    f"{options.RUNTIMES}'openvino\\[device=GPU]'. answers:DIR judges what a program answered to an export of "
    "vinculum vectors. With --diff, two files written by --save."
)


def conform(
    backends: Annotated[list[str] | None, typer.Argument(metavar="BACKEND", help=_HELP, show_default=False)] = None,
    quick: Annotated[bool, flag("Run fewer cases; takes seconds.", "--quick")] = False,
    full: Annotated[bool, flag("Run every case; takes minutes.", "--full")] = False,
    only: Annotated[
        list[str] | None, value("GLOB", "Run only cases whose id matches, such as 'Div-14/int64/*'. May be repeated.")
    ] = None,
    save: options.Save = None,
    junit: options.Junit = None,
    sarif: options.Sarif = None,
    html: options.Html = None,
    expect: options.Expect = None,
    record: options.Record = None,
    workers: options.Workers = 2,
    case_limit: options.CaseLimit = 30.0,
    memory_limit: options.MemoryLimit = 4096,
    list_ids: Annotated[bool, flag("Print the ids of the cases; run none.", "--list")] = False,
    diff: Annotated[bool, flag("Compare two runs, BEFORE.json AFTER.json; run nothing.", "--diff")] = False,
    verbose: options.Verbose = False,
) -> None:
    """Compare a runtime's divisions, of every operator version and element type, with the exact quotients.

    Exit codes: 0 if every case passes, is not supported or deviates as --expect says; 1 if not; 2 for wrong usage.
    """
    level = options.level_asked(quick, full)
    patterns = tuple(only or ())
    written = {"--save": save, "--junit": junit, "--sarif": sarif, "--html": html, "--record": record}
    given = {"BACKEND": backends if list_ids else None, **written, "--expect": expect}
    idle = [option for option, files in given.items() if files]
    if idle and (list_ids or diff):
        option = "--list" if list_ids else "--diff"
        raise AttributeValueError(f"{option} runs nothing and writes no file; leave {idle[0]} out")
    if diff and not list_ids:
        _compare(backends or [], verbose=verbose)
        return
    from vinculum.conformance.cases.case import Level
    from vinculum.conformance.run.planning import plan, selected
    from vinculum.conformance.run.record import Selection

    if list_ids:
        for case in selected(Selection(Level(level or "default"), patterns)):
            print(case.id)
        return
    if record is not None and (len(backends or ()) > 1 or patterns):
        raise AttributeValueError("--record records one whole run: give one BACKEND and no --only")
    known = known_deviations(expect or (), written)
    names = tuple(dict.fromkeys(backends or known))
    _check(names, known, workers)
    plans = []
    for name in names:
        of_file = known[name].level if name in known else Level.DEFAULT
        selection = Selection(Level(level) if level else of_file, patterns, case_limit, memory_limit << 20)
        plans.append(plan(name, selection))
    runs = [asked(planned, workers, known.get(planned.backend)) for planned in plans]
    finish(runs, known, written, verbose=verbose)


def _compare(files: Sequence[str], *, verbose: bool) -> None:
    from vinculum.conformance.run.diff import run_diff
    from vinculum.reporting.conformance.comparison import diff_page
    from vinculum.reporting.terminal import console

    if len(files) != 2:
        raise AttributeValueError(f"--diff compares two files of runs, BEFORE.json AFTER.json; {len(files)} given")
    before, after = (saved(Path(file), {}) for file in files)
    found = run_diff(before, after)
    console().print(diff_page(found, verbose=verbose))
    end(finds=any(diff.changes for diff in found))


def _check(names: Sequence[str], known: dict[str, KnownDeviations], workers: int) -> None:
    import os

    if not names:
        raise AttributeValueError("give a BACKEND to test, such as onnxruntime; see vinculum conform --help")
    unasked = [name for name in known if name not in names]
    if unasked:
        name = unasked[0]
        raise AttributeValueError(
            f"{known[name].file} is for {name!r}, which is not among the backends given; add it, or leave the file out"
        )
    cores = os.cpu_count() or 1
    if workers > max(cores, 2):
        raise AttributeValueError(f"--workers {workers} is more than the {cores} cores of this machine; give fewer")
