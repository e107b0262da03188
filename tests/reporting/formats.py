"""The parts of SARIF 2.1.0 and of JUnit XML that our reports use, as their standards allow them.

Written from the standard's object model (OASIS, SARIF 2.1.0, section 3) and from what Jenkins' schema of JUnit allows;
unknown names, missing ones and wrong types are errors. A report of ours was once checked against OASIS's own schema,
with no error; that file is not part of this repository.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

Uri = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9+.-]*:[^\s<>\"{}|\\^`]+$")]
Reference = Annotated[str, Meta(pattern=r"^[^\s<>\"{}|\\^`]+$")]
Index = Annotated[int, Meta(ge=0)]
Level = Literal["none", "note", "warning", "error"]


class _Record(Struct, forbid_unknown_fields=True, rename="camel"):
    """An object of SARIF without other names than those below."""


class Message(_Record):
    """A message, section 3.11."""

    text: Annotated[str, Meta(min_length=1)]


class Rule(_Record):
    """A reportingDescriptor, section 3.49."""

    id: Annotated[str, Meta(min_length=1)]
    short_description: Message
    full_description: Message
    help_uri: Uri | None = None
    name: str | None = None
    help: Message | None = None
    default_configuration: dict[Literal["level"], Level] | None = None
    properties: dict[str, Any] | None = None


class Driver(_Record):
    """A toolComponent, section 3.19."""

    name: str
    rules: tuple[Rule, ...]
    version: str | None = None
    semantic_version: str | None = None


class Tool(_Record):
    """A tool, section 3.18."""

    driver: Driver


class LogicalLocation(_Record):
    """A logicalLocation, section 3.33."""

    fully_qualified_name: str
    kind: str


class ArtifactLocation(_Record):
    """An artifactLocation, section 3.4."""

    uri: Reference
    uri_base_id: str | None = None


class Region(_Record):
    """A region, section 3.30."""

    start_line: Annotated[int, Meta(ge=1)]


class PhysicalLocation(_Record):
    """A physicalLocation, section 3.29."""

    artifact_location: ArtifactLocation
    region: Region


class Location(_Record):
    """A location, section 3.28."""

    id: Index | None = None
    message: Message | None = None
    physical_location: PhysicalLocation | None = None
    logical_locations: tuple[LogicalLocation, ...] = ()


class Suppression(_Record):
    """A suppression, section 3.35."""

    kind: Literal["inSource", "external"]
    status: Literal["accepted", "underReview", "rejected"]
    justification: Annotated[str, Meta(min_length=1)]
    properties: dict[str, Any]


class Result(_Record):
    """A result, section 3.27."""

    rule_id: str
    rule_index: Index
    level: Level
    message: Message
    locations: tuple[Location, ...]
    partial_fingerprints: dict[str, Annotated[str, Meta(min_length=1)]]
    related_locations: tuple[Location, ...] | None = None
    suppressions: tuple[Suppression, ...] | None = None
    baseline_state: Literal["new", "unchanged", "updated", "absent"] | None = None
    properties: dict[str, Any] | None = None


class Run(_Record):
    """A run, section 3.14."""

    tool: Tool
    results: tuple[Result, ...]
    properties: dict[str, Any]
    automation_details: dict[Literal["id"], str] | None = None
    invocations: tuple[dict[Literal["executionSuccessful"], bool], ...] = ()


class Log(Struct, forbid_unknown_fields=True):
    """A sarifLog, section 3.13."""

    schema: Uri = msgspec.field(name="$schema")
    version: Literal["2.1.0"]
    runs: tuple[Run, ...]


def read_sarif(document: str) -> Log:
    """Return a document; raise `msgspec.ValidationError` where SARIF does not allow it."""
    log = msgspec.json.decode(document, type=Log)
    for run in log.runs:
        rules = run.tool.driver.rules
        assert len({rule.id for rule in rules}) == len(rules)
        assert all(rules[result.rule_index].id == result.rule_id for result in run.results)
        # "Either all or none of the results" have suppressions, and the same of the state.
        assert len({result.suppressions is None for result in run.results}) <= 1
        assert len({result.baseline_state is None for result in run.results}) <= 1
    return log


_NUMBERS = frozenset(("tests", "failures", "errors"))
JUNIT: dict[str, tuple[frozenset[str], frozenset[str], tuple[str, ...]]] = {
    # For each element: the attributes that it must have, those that it may have, and its children in their order.
    "testsuites": (frozenset(), _NUMBERS | {"name", "time", "disabled"}, ("testsuite",)),
    "testsuite": (
        frozenset(("name", "tests")),
        _NUMBERS | {"time", "disabled", "skipped", "timestamp", "hostname", "id", "package"},
        ("properties", "testcase", "system-out", "system-err"),
    ),
    "properties": (frozenset(), frozenset(), ("property",)),
    "property": (frozenset(("name", "value")), frozenset(), ()),
    "testcase": (
        frozenset(("name",)),
        frozenset(("assertions", "time", "classname", "status")),
        ("skipped", "error", "failure", "system-out", "system-err"),
    ),
    "skipped": (frozenset(), frozenset(("message",)), ()),
    "error": (frozenset(), frozenset(("message", "type")), ()),
    "failure": (frozenset(), frozenset(("message", "type")), ()),
    "system-out": (frozenset(), frozenset(), ()),
    "system-err": (frozenset(), frozenset(), ()),
}


def check_junit(element: Any) -> None:
    """Fail where JUnit's schema does not allow an element of a parsed document, or one below it."""
    required, optional, children = JUNIT[element.tag]
    names = set(element.keys())
    assert required <= names, f"{element.tag} lacks {required - names}"
    assert names <= required | optional, f"{element.tag} has {names - required - optional}"
    assert all(element.get(name).isdigit() for name in names & (_NUMBERS | {"skipped", "disabled"}))
    assert "time" not in names or float(element.get("time")) >= 0
    places = [children.index(child.tag) for child in element]
    assert places == sorted(places), f"{element.tag} has its children in another order"
    for child in element:
        check_junit(child)
