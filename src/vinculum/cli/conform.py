"""``vinculum conform``: how a runtime really divides, case by case of the specification."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from vinculum.errors import AttributeValueError

if TYPE_CHECKING:
    from vinculum.conformance.case import Level
    from vinculum.conformance.known_deviations import KnownDeviations
    from vinculum.conformance.planning import Plan
    from vinculum.conformance.report import Report
    from vinculum.reporting.conformance_expected import Comparison
    from vinculum.sandbox import Limits

_HELP = (
    "onnxruntime, openvino, onnx-reference, torch, numpy, jax, vinculum, or package.module:attribute of any ONNX "
    "backend. Options in brackets, in quotes for the shell: 'openvino\\[device=GPU]'."
)


def conform(
    backends: Annotated[list[str] | None, typer.Argument(metavar="BACKEND", help=_HELP, show_default=False)] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer cases, in seconds.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Every case, in minutes.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Run the cases with such an id, as 'Div-14/int64/*'. May be repeated."),
    ] = None,
    machine: Annotated[bool, typer.Option("--json", help="Print JSON lines: the run, then each case.")] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML there.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write one self-contained page there.")] = None,
    expect: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="The known deviations of a backend: fail on any other, and on none of them."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what deviates there, for --expect, with the reasons that it gives."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="How many processes answer at once.")] = 2,
    case_limit: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=3600,
            metavar="SECONDS",
            help="Time limit of a case; one that takes longer is reported as hung.",
        ),
    ] = 30.0,
    memory_limit: Annotated[
        int, typer.Option(min=64, metavar="MIB", help="Beyond so much a process is out of memory.")
    ] = 4096,
    list_ids: Annotated[bool, typer.Option("--list", help="Print the ids of the cases; run none.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Name every case that deviates.")] = False,
) -> None:
    """Ask a runtime for divisions of every operator version and element type, and tell where it deviates.

    Exit codes: 0 if every case passes or is not supported, or all is as --expect has it; 1 if not; 2 for wrong usage.
    """
    if quick and full:
        raise AttributeValueError("--quick and --full exclude each other; give one, or none for the cases of a minute")
    level = "quick" if quick else "full" if full else None
    patterns = tuple(only or ())
    if list_ids:
        _list(level, patterns)
        return
    # Here and below: what imports numpy and onnx is imported when a runtime is asked, not for a page of help.
    from vinculum.cli.report_files import check_files
    from vinculum.conformance.known_deviations import read_known_deviations
    from vinculum.conformance.planning import plan
    from vinculum.sandbox import Limits

    known = {file.backend: file for file in map(read_known_deviations, expect or ())}
    asked = tuple(dict.fromkeys(backends or known))
    _check(asked, known, expect or [], workers)
    if record is not None and (len(asked) > 1 or patterns):
        raise AttributeValueError("--record writes down one whole run: give one BACKEND and no --only")
    written = {"--junit": junit, "--html": html, "--record": record}
    # What is recorded may take the place of what was expected: it keeps the reasons.
    check_files(written, {"--expect": [file for file in expect or [] if file != record]})
    limits = Limits(seconds=case_limit, memory=memory_limit << 20)
    plans = [plan(backend, _level(level, known.get(backend)), patterns) for backend in asked]
    reports = [_survey(planned, workers, limits) for planned in plans]
    _write(reports, known, junit, html, record)
    comparisons = _compared(reports, known, whole=not patterns)
    _print(reports, comparisons, machine, verbose)
    if _deviates(reports, comparisons):
        raise typer.Exit(1)


def _list(level: str | None, patterns: Sequence[str]) -> None:
    from fnmatch import fnmatchcase

    from vinculum.conformance.case import Level
    from vinculum.conformance.cases import cases

    for case in cases(Level[(level or "default").upper()]):
        if not patterns or any(fnmatchcase(case.id, pattern) for pattern in patterns):
            print(case.id)


def _check(asked: Sequence[str], known: dict[str, KnownDeviations], expect: Sequence[Path], workers: int) -> None:
    """Refuse options that do not go together."""
    import os

    if not asked:
        raise AttributeValueError("give a BACKEND to ask, such as onnxruntime; see vinculum conform --help")
    if len(known) < len(expect):
        raise AttributeValueError("two files of --expect are for one backend; give one for each")
    strangers = [name for name in known if name not in asked]
    if strangers:
        name = strangers[0]
        raise AttributeValueError(
            f"{known[name].file} is for {name!r}, which is not asked; ask it, or leave the file out"
        )
    cores = os.cpu_count() or 1
    if workers > max(cores, 2):
        raise AttributeValueError(f"--workers {workers} is more than the {cores} cores of this machine; give fewer")


def _level(given: str | None, known: KnownDeviations | None) -> Level:
    from vinculum.conformance.case import Level

    if given is not None:
        return Level[given.upper()]
    return Level.DEFAULT if known is None else known.level


def _survey(planned: Plan, workers: int, limits: Limits) -> Report:
    from vinculum.conformance.suite import survey_of
    from vinculum.reporting.harmless import short
    from vinculum.reporting.progress import progress

    with progress(f"Asking {short(planned.runtime.title)}", planned.total) as advance:
        return survey_of(
            planned,
            workers=workers,
            limits=limits,
            advance=lambda done, id: advance(done, f"{done:,} cases, {'/'.join(id.split('/')[:2])}"),
        )


def _write(
    reports: Sequence[Report],
    known: dict[str, KnownDeviations],
    junit: Path | None,
    html: Path | None,
    record: Path | None,
) -> None:
    from vinculum.cli.report_files import write_files
    from vinculum.conformance.recorded_deviations import as_text
    from vinculum.reporting import conformance_html, conformance_junit

    files: dict[Path, str] = {}
    if junit is not None:
        files[junit] = conformance_junit.document(reports)
    if html is not None:
        files[html] = conformance_html.document(reports, known)
    if record is not None:
        files[record] = as_text(reports[0], known.get(reports[0].backend))
    write_files(files)


def _compared(reports: Sequence[Report], known: dict[str, KnownDeviations], *, whole: bool) -> tuple[Comparison, ...]:
    from vinculum.conformance.known_deviations import mismatches

    pairs = [(report, known[report.backend]) for report in reports if report.backend in known]
    return tuple((report, file, mismatches(report, file, whole=whole)) for report, file in pairs)


def _print(reports: Sequence[Report], comparisons: Sequence[Comparison], machine: bool, verbose: bool) -> None:
    from vinculum.reporting import conformance_expected, conformance_json, conformance_page

    if machine:
        for report in reports:
            for line in conformance_json.lines(report):
                print(line)
    console = Console(highlight=False, stderr=machine)
    if not machine:
        console.print(conformance_page.page(reports, width=console.width, verbose=verbose), crop=False)
    if comparisons:
        console.print(conformance_expected.page(comparisons, verbose=verbose))


def _deviates(reports: Sequence[Report], comparisons: Sequence[Comparison]) -> bool:
    """Return whether anything is not as it must be; where a file says what is expected, that is what must be."""
    from vinculum.reporting.conformance_matrix import deviates

    compared = [report.backend for report, _, _ in comparisons]
    left = [report for report in reports if report.backend not in compared]
    return any(mismatches for _, _, mismatches in comparisons) or any(
        deviates(result.verdict.kind) for report in left for result in report.results
    )
