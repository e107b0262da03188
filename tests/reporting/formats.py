"""The parts of SARIF 2.1.0 and of JUnit XML that our reports use, as their standards allow them.

Written from the standard's object model (OASIS, SARIF 2.1.0, section 3) and from what Jenkins' schema of JUnit allows;
unknown names, missing ones and wrong types are errors. A report of ours was once checked against OASIS's own schema,
with no error; that file is not part of this repository.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Text = Annotated[str, Meta(min_length=1)]
Uri = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9+.-]*:[^\s<>\"{}|\\^`]+$")]
Reference = Annotated[str, Meta(pattern=r"^[^\s<>\"{}|\\^`]+$")]
Level = Literal["none", "note", "warning", "error"]
Properties = dict[str, Any]


def _object(name: str, optional: dict[str, Any], /, **required: Any) -> Any:
    """Return an object of SARIF: its properties, in the names of Python, and no others."""
    fields: list[Any] = [*required.items(), *((one, kind | None, None) for one, kind in optional.items())]
    return msgspec.defstruct(name, fields, forbid_unknown_fields=True, rename="camel", kw_only=True)


def _many(kind: Any) -> Any:
    return GenericAlias(tuple, (kind, ...))


# By the sections of the standard: 3.11, 3.49, 3.19, 3.18, 3.33, 3.4, 3.30, 3.29, 3.28, 3.35, 3.27, 3.14 and 3.13.
Message = _object("message", {}, text=Text)
Rule = _object(
    "reportingDescriptor",
    {
        "help_uri": Uri,
        "name": str,
        "help": Message,
        "default_configuration": dict[Literal["level"], Level],
        "properties": Properties,
    },
    id=Text,
    short_description=Message,
    full_description=Message,
)
Driver = _object("toolComponent", {"version": str, "semantic_version": str}, name=str, rules=_many(Rule))
Tool = _object("tool", {}, driver=Driver)
Logical = _object("logicalLocation", {}, fully_qualified_name=str, kind=str)
Artifact = _object("artifactLocation", {"uri_base_id": str}, uri=Reference)
Region = _object("region", {}, start_line=Annotated[int, Meta(ge=1)])
Physical = _object("physicalLocation", {}, artifact_location=Artifact, region=Region)
Index = Annotated[int, Meta(ge=0)]
Location = _object(
    "location",
    {"id": Index, "message": Message, "physical_location": Physical, "logical_locations": _many(Logical)},
)
Suppression = _object(
    "suppression",
    {},
    kind=Literal["inSource", "external"],
    status=Literal["accepted", "underReview", "rejected"],
    justification=Text,
    properties=Properties,
)
Result = _object(
    "result",
    {
        "related_locations": _many(Location),
        "suppressions": _many(Suppression),
        "baseline_state": Literal["new", "unchanged", "updated", "absent"],
        "properties": Properties,
    },
    rule_id=str,
    rule_index=Index,
    level=Level,
    message=Message,
    locations=_many(Location),
    partial_fingerprints=dict[str, Text],
)
Run = _object(
    "run",
    {
        "automation_details": dict[Literal["id"], str],
        "invocations": tuple[dict[Literal["executionSuccessful"], bool], ...],
    },
    tool=Tool,
    results=_many(Result),
    properties=Properties,
)
Log = msgspec.defstruct(
    "sarifLog",
    [("schema", Uri, msgspec.field(name="$schema")), ("version", Literal["2.1.0"]), ("runs", _many(Run))],
    forbid_unknown_fields=True,
)


def read_sarif(document: str) -> Any:
    """Return a document; raise `msgspec.ValidationError` where SARIF does not allow it."""
    log: Any = msgspec.json.decode(document, type=Log)
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
