"""Shared by ``vinculum conform`` and ``vinculum report``: getting runs, and their pages, files and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vinculum.cli.options import end
from vinculum.errors import AttributeValueError, ModelError

if TYPE_CHECKING:
    from vinculum.conformance.expect import KnownDeviations
    from vinculum.conformance.run.planning import Plan
    from vinculum.conformance.run.record import Run


def asked(planned: Plan, workers: int, known: KnownDeviations | None = None) -> Run:
    """Run a plan and return the run; a bar shows the progress."""
    from vinculum.conformance.run.suite import survey
    from vinculum.reporting.escape import short
    from vinculum.reporting.progress import progress

    with progress(f"Asking {short(planned.runtime.title)}", planned.total) as advance:
        return survey(
            planned,
            known=known,
            workers=workers,
            advance=lambda done, id: advance(done, f"{done:,} cases, {id.row}/{id.element_type}"),
        )


def saved(file: Path, known: Mapping[str, KnownDeviations]) -> tuple[Run, ...]:
    """Return the runs in a file; print on standard error how many cases are not those of this version."""
    from vinculum.conformance.run.file import answered, read_runs
    from vinculum.conformance.run.suite import explained
    from vinculum.reporting.escape import escaped

    runs = []
    for run in read_runs(file):
        try:
            answers = answered(run)
        except ModelError as error:
            raise ModelError(f"{str(file)!r}: {error}") from None
        others = sum(result.answer is not None for result in run.results) - len(answers)
        if others:
            told = f"{others:,} cases of {file} are not those of this version; they keep their verdicts and causes"
            print(f"vinculum: {escaped(told)}", file=sys.stderr)
        runs.append(explained(run, answers, known=known.get(run.backend)))
    return tuple(runs)


Written = Mapping[str, Path | None]
"""The files to be written, by the options that name them: --save, --junit, --sarif, --html and --record."""


def known_deviations(expect: Sequence[Path], written: Written) -> dict[str, KnownDeviations]:
    """Return the known deviations in the files of --expect, by backend; check all files to be written as well."""
    from vinculum.cli.outputs import check_files
    from vinculum.conformance.expect import read_known_deviations

    known = {file.backend: file for file in map(read_known_deviations, expect)}
    if len(known) < len(expect):
        raise AttributeValueError("two --expect files are for the same backend; give one for each backend")
    # --record may replace the file of --expect, as it keeps the reasons.
    check_files(written, {"--expect": [file for file in expect if file != written["--record"]]})
    return known


def _write(runs: Sequence[Run], known: dict[str, KnownDeviations], written: Written) -> None:
    """Write every file, or none."""
    from vinculum.cli.outputs import write_files
    from vinculum.conformance.expect import as_toml
    from vinculum.conformance.run.file import as_json
    from vinculum.reporting.conformance import html, junit, sarif

    texts: dict[str, Callable[[], str]] = {
        "--save": lambda: as_json(runs),
        "--junit": lambda: junit.document(runs),
        "--sarif": lambda: sarif.document(runs),
        "--html": lambda: html.document(runs, known),
        "--record": lambda: as_toml(runs[0], known.get(runs[0].backend)),
    }
    write_files({path: texts[option]() for option, path in written.items() if path is not None})


def finish(runs: Sequence[Run], known: dict[str, KnownDeviations], written: Written, *, verbose: bool) -> None:
    """Print runs, write their files, and end with the exit code for their verdicts.

    It is the code of a finding if a run differs from its file of known deviations or, without a file, has a deviation.
    """
    from vinculum.conformance.expect import mismatches
    from vinculum.reporting.conformance import terminal
    from vinculum.reporting.conformance.comparison import expected_page
    from vinculum.reporting.terminal import console

    compared = [(run, known[run.backend], mismatches(run, known[run.backend])) for run in runs if run.backend in known]
    shown = console()
    shown.print(terminal.page(runs, width=shown.width, verbose=verbose), crop=False)
    if compared:
        shown.print(expected_page(compared, verbose=verbose))
    _write(runs, known, written)
    deviating = any(result.verdict.kind.deviates for run in runs if run.backend not in known for result in run.results)
    end(finds=deviating or any(found for _, _, found in compared))
