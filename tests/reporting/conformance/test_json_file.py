"""Conformance as a JSON file: its numbers are those of the run, and it holds whatever a runtime said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.reporting.conformance.reports import exact, hostile, report
from vinculum.conformance.run.record import Run
from vinculum.conformance.run.verdict import Kind
from vinculum.reporting.conformance.json_file import document


def read(*runs: Run) -> Any:
    return json.loads(document(runs))


def test_a_run() -> None:
    given = report()
    (one,) = read(given)["runs"]
    kinds = [result.verdict.kind for result in given.results]
    assert (one["backend"], one["title"], one["versions"]) == (given.backend, given.title, given.versions)
    assert one["cases"] == len(kinds)
    assert one["passing"] == sum(kind.passes for kind in kinds)
    assert one["deviating"] == sum(kind.deviates for kind in kinds)
    assert one["verdicts"] == {kind.value: count for kind, count in given.counts().items()}
    assert sum(cell["cases"] for cell in one["matrix"]) == len(kinds)


def test_every_case_that_deviates_is_of_one_cause() -> None:
    given = report()
    (one,) = read(given)["runs"]
    ids = [id for cause in one["causes"] for id in cause["ids"]]
    assert sorted(ids) == sorted(str(r.id) for r in given.results if r.verdict.kind.deviates)
    assert {cause["name"] for cause in one["causes"]} == {"", *(cause.name for cause in given.causes)}
    crash = next(cause for cause in one["causes"] if cause["verdict"] == "crashed")
    assert crash["example"]["words"] == "SIGFPE"
    assert crash["example"]["reproducer"].startswith("import numpy")


def test_what_is_unspecified_and_our_readings() -> None:
    given = report()
    crashed = next(r for r in given.results if r.verdict.kind is Kind.CRASHED)
    ulps = next(r for r in given.results if r.verdict.kind is Kind.ULPS)
    passed = next(r for r in given.results if r.verdict.kind is Kind.EXACT)
    readings = tuple(replace(r, clause="ieee-754") for r in (crashed, ulps, passed))
    whole = read(replace(given, results=readings), exact())
    assert whole["runs"][0]["readings"] == 1
    assert {"MIN / -1"} == {row["question"] for row in whole["unspecified"]}
    (of_crashed,) = (row for row in whole["unspecified"] if "openvino" in row["given"])
    assert (of_crashed["element_type"], of_crashed["given"]["openvino"]) == ("int64", "SIGFPE")


def test_hostile_text() -> None:
    text = document([hostile()])
    assert text.isascii()
    assert json.loads(text)["runs"][0]["cases"] == len(Kind)
