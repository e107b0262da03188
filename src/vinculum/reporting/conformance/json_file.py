"""Conformance runs as a JSON file for programs: counts, causes, the matrix and what is unspecified.

The cases themselves, with their answers, are in the file of ``--save``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from vinculum.conformance.expect import KnownDeviations
from vinculum.conformance.run.record import Run
from vinculum.reporting.conformance.view import WORST_FIRST, Cases, Finding, View, silence, view
from vinculum.reporting.conformance.words import message
from vinculum.reporting.plain import part, plain


def document(runs: Sequence[Run], known: Mapping[str, KnownDeviations] | None = None) -> str:
    """Return the document.

    It is one object, ``{"runs", "unspecified"}``. A run has ``backend``, ``title``, ``versions``, ``date``,
    ``seconds``, ``level`` and ``only``; the numbers of cases ``cases``, ``passing``, ``deviating``, ``readings`` (those
    that deviate only from our reading of what no document says) and ``unsupported``; ``verdicts``, their numbers by
    verdict; ``causes``; and ``matrix``. A cause without a name stands for cases that none explains. ``unspecified``
    tells what each backend gave where no document defines a quotient.
    """
    rows = [
        {
            "question": row.question,
            "element_type": row.element_type,
            "given": {run.backend: given.words for run, given in zip(runs, row.given, strict=True) if given.words},
        }
        for row in silence(runs)
    ]
    views = [view(run, (known or {}).get(run.backend)) for run in runs]
    whole = {"runs": [_run(one) for one in views], "unspecified": rows}
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"


def _run(one: View) -> dict[str, Any]:
    run = one.run
    return {
        **part(run, "backend", "title", "versions", "date", "seconds"),
        **part(run.selection, "level", "only"),
        **_counts(one),
        "causes": [_cause(finding, one.known) for finding in one.findings],
        "matrix": [{**part(cell, "operator", "element_type"), **_counts(cell)} for cell in one.cells.values()],
    }


def _counts(cases: Cases) -> dict[str, Any]:
    return {
        "cases": cases.total,
        **part(cases, "passing", "deviating", "readings", "unsupported"),
        "verdicts": {kind.value: cases.counts[kind] for kind in WORST_FIRST if cases.counts[kind]},
    }


def _cause(finding: Finding, known: KnownDeviations | None) -> dict[str, Any]:
    shown = finding.shown
    return {
        **part(finding, "name", "statement"),
        "verdict": finding.worst.value,
        "cases": finding.total,
        "passing_too": finding.passing_too,
        "ids": [str(result.id) for result in finding.results],
        "known": [{"reason": reason, "link": link, "cases": count} for reason, link, count in finding.reasons(known)],
        "example": {
            "id": str(shown.id),
            "clause": shown.clause,
            "words": message(shown.verdict),
            "first_difference": plain(shown.verdict.example),
            "reproducer": shown.reproducer,
        },
    }
