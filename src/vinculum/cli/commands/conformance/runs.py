"""The runs that the commands show: asked of a runtime, or read from a file, judged and explained anew."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from vinculum.errors import ModelError

if TYPE_CHECKING:
    from vinculum.conformance.expect import KnownDeviations
    from vinculum.conformance.run.planning import Plan
    from vinculum.conformance.run.record import Run


def asked(planned: Plan, workers: int, known: KnownDeviations | None = None) -> Run:
    """Return the run of a plan; a bar shows its progress."""
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
    """Return the runs of a file; say on standard error which cases cannot be explained anew."""
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
