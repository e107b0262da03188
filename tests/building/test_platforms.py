"""The table of platforms shows the records, and the package claims no other Python."""

from __future__ import annotations

import re
import tomllib

import pytest

from building.cross import page
from building.cross.environment import ROOT
from building.cross.running import ENVIRONMENTS, Record, records


def claimed() -> set[str]:
    """Return the classifiers of the package for Pythons, systems and processors."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    claims = [each for each in project["classifiers"] if each.startswith(("Operating System", "Programming Language"))]
    return {claim.rpartition("Language :: ")[2] for claim in claims} - {"Python :: 3", "C++"}


def shown(known: list[Record]) -> set[str]:
    """Return the classifiers that records are enough for."""
    found = set()
    for record in known:
        minor = ".".join(record.python.split(".")[:2])
        found.add("Python :: Free Threading :: 2 - Beta" if "free-threaded" in record.python else f"Python :: {minor}")
    return found


def test_the_page_is_what_is_recorded() -> None:
    """`python -m building.cross --record` writes it."""
    assert page.PAGE.read_text(encoding="utf-8") == page.text(records())


def test_the_package_claims_no_more() -> None:
    assert claimed() <= shown(records())


@pytest.mark.parametrize("record", records(), ids=lambda record: f"{record.environment}-{record.target}")
def test_a_record_counts_tests_of_each_kind(record: Record) -> None:
    """A run without tests does not count."""
    environment = ENVIRONMENTS[record.environment]
    others = {"tests"} if environment.is_another_python else set()
    assert set(record.passed) == {"tests/kernels", "tests/ops", "tests/exhaustive", *others}
    assert min(record.passed.values()) >= 20
    assert bool(record.emulator) == bool(environment.machine.emulator)
    assert record.python.startswith(environment.version)
    assert re.fullmatch(r"[0-9a-f]{64}", record.sources)
