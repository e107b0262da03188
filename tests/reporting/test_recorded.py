"""Pages, documents and JSON of records made by hand are exactly those in `recorded/`.

At other widths a page has the same words, and names from files have no effect on the terminal. Record anew with
``python -m tests.reporting.test_recorded``, and look at the difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cases import case
from tests.reporting import test_spec
from tests.reporting.check import page, test_picture, test_sarif, trace
from tests.reporting.conformance import test_fingerprint, test_html, test_junit, test_terminal
from tests.reporting.conformance import test_sarif as test_conformance_sarif
from tests.reporting.models import rewriting, test_audit, test_run
from tests.reporting.printing import Told, characters, printed
from tests.spec import test_diff

FOLDER = Path(__file__).with_name("recorded")
WIDTH = 100
SUBJECTS: Mapping[str, Told] = {
    "audit": test_audit.TOLD,
    "check": page.TOLD,
    "check_html": test_picture.TOLD,
    "check_sarif": test_sarif.TOLD,
    "conform": test_terminal.TOLD,
    "conform_html": test_html.TOLD,
    "conform_junit": test_junit.TOLD,
    "conform_sarif": test_conformance_sarif.TOLD,
    "fingerprint": test_fingerprint.TOLD,
    "rewriting": rewriting.TOLD,
    "run": test_run.TOLD,
    "spec": test_spec.TOLD,
    "spec_changes": test_diff.TOLD,
    "trace": trace.TOLD,
}


def text_of(told: Any) -> str:
    """Return a page or an object as text; an object has a line for each member, or for each element of a list."""
    if isinstance(told, str):
        return told
    return "\n".join(_lines(told) if isinstance(told, dict) else printed(told, WIDTH))


def _lines(told: dict[str, Any]) -> Iterator[str]:
    for name, value in told.items():
        many = value if isinstance(value, list) and any(isinstance(each, dict) for each in value) else [value]
        yield from (f"{name}: {json.dumps(each, allow_nan=False)}" for each in many)


def everything(subject: str) -> str:
    """Return everything recorded of a subject, each below its name."""
    return "\n".join(f"=== {name}\n{text_of(told(WIDTH))}\n" for name, told in SUBJECTS[subject].items())


@pytest.mark.parametrize("subject", SUBJECTS)
def test_as_recorded(subject: str) -> None:
    assert everything(subject) == (FOLDER / f"{subject}.txt").read_text("utf-8")


@pytest.mark.parametrize("subject", [subject for subject in SUBJECTS if "_" not in subject])  # Others have no page.
def test_at_every_width(subject: str) -> None:
    """A page fits, and has the same characters, unless its form depends on the width."""
    for name, told in SUBJECTS[subject].items():
        page = told(WIDTH)
        if isinstance(page, str | dict):
            continue
        all_of_it = characters(page, WIDTH)
        for width in (40, 160):
            with case(name, width):
                assert "".join(printed(told(width), width)).isprintable()
                same = subject != "conform" and (subject, width) != ("run", 40)
                assert not same or characters(told(width), width) == all_of_it


if __name__ == "__main__":
    for each in SUBJECTS:
        (FOLDER / f"{each}.txt").write_text(everything(each), "utf-8")
