"""Conformance runs made by hand, with every operator version, element type and verdict, and with hostile text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from vinculum.conformance.cases.case import CaseId, Level
from vinculum.conformance.run.record import Cause, Example, Gave, Kind, Result, Run, Selection, Verdict
from vinculum.spec.model import OperatorSpec
from vinculum.spec.rows import ROWS

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    " \x1b[31mred\x1b]0;owned\x07 \u202edesrever \x00 \u2028 \ud800 {{ 7 * 7 }} ]]> & 'quoted' " + "long " * 400
)
VERSIONS = {"python": "3.13.1", "numpy": "2.4.1", "platform": "Linux-6.12-x86_64", "processor": "Xeon, AVX-512"}

DATE = "2026-11-23T02:17:35+00:00"
DEFAULT = Selection(Level.DEFAULT)
CAUSES = (
    Cause("arithmetic: a * (1/b)", "computed as a multiplication by the reciprocal", ("float", "double"), 40),
    Cause("rule: crashed: SIGFPE where MIN / -1", "crashed: SIGFPE for MIN / -1", ("int64",), 0),
    Cause("rule: accepted where shapes that the version does not join", "accepted for shapes", ("int8", "float"), 3),
)
_CAUSE_OF = {Kind.ULPS: CAUSES[0].name, Kind.CRASHED: CAUSES[1].name, Kind.ACCEPTED: CAUSES[2].name}

_TRIED_BY_ALL = ("empty", "shapes beyond the rule")
TRIED = {
    "float": (
        "special values by special values",
        "hard to round",
        "x divided by x",
        "subnormal quotients",
        *_TRIED_BY_ALL,
    ),
    "integer": ("all signs and remainders", "MIN divided by -1", "divided by zero", "near 2^24", *_TRIED_BY_ALL),
}
WAYS = (
    "equal shapes/run-time operands",
    "equal shapes/constant divisor",
    "equal shapes/constant operands",
    "divisor stretched/run-time operands",
)


def reproducer(id: str) -> str:
    """Return Python source as long as a real reproducer."""
    return f"""import numpy as np
import onnxruntime
from onnx import TensorProto, helper

# {id}
a = np.array({list(range(-9, 9))}, np.float32)
b = np.array([3.0, 7.0, 1e-40, -0.0, 5.5, 11.0], np.float32)
node = helper.make_node("Div", ["A", "B"], ["C"])
model = helper.make_model(helper.make_graph([node], "g", [], []), opset_imports=[helper.make_opsetid("", 14)])
session = onnxruntime.InferenceSession(model.SerializeToString())
print(session.run(None, {{"A": a, "B": b}}))
"""


@cache
def report(backend: str = "openvino", title: str = "OpenVINO", rows: tuple[OperatorSpec, ...] = ROWS) -> Run:
    """Return a report of several hundred cases, over half of them exact."""
    return Run(backend, title, {**VERSIONS, backend: "2026.4.1"}, DEFAULT, tuple(_results(rows)), CAUSES, DATE, 61.25)


def run_of(*cases: tuple[str, str, str, Verdict], operator: tuple[str, str] = ("Div-14", "")) -> Run:
    """Return a run of cases: an element type, a scenario, a placement and a verdict each, of one operator."""
    results = tuple(
        Result(CaseId(*operator, element_type, scenario, f"shapes {number}", placement), "c", "s", verdict)
        for number, (element_type, scenario, placement, verdict) in enumerate(cases)
    )
    return Run("x", "X", {"x": "1"}, DEFAULT, results, (), DATE, 1.0)


@cache
def exact(backend: str = "vinculum", title: str = "Vinculum") -> Run:
    """Return a run of the same cases, all of which pass."""
    results = (
        replace(r, verdict=Verdict(Kind.EXACT, elements=64), cause="", reproducer=None) for r in report().results
    )
    return Run(backend, title, VERSIONS, DEFAULT, tuple(results), (), DATE, 3.5)


def only(given: Run, *kinds: Kind) -> Run:
    """Return a run with the first result of each given kind, or of every kind if none is given."""
    firsts = {result.verdict.kind: result for result in reversed(given.results)}
    return replace(given, results=tuple(firsts[kind] for kind in kinds or Kind if kind in firsts))


def hostile() -> Run:
    cause = Cause(HOSTILE, HOSTILE, (HOSTILE,), 7)
    example = Example((0, 1), (HOSTILE, HOSTILE), HOSTILE, HOSTILE)
    results = tuple(
        Result(
            CaseId(f"Div {HOSTILE[:110]}", "", HOSTILE[:105], f"{HOSTILE[:60]}{kind.name}", "b", "c"),
            HOSTILE[:100],
            HOSTILE,
            Verdict(kind, HOSTILE, 64, 3, {0: 2, 40: 1}, 2**40, example, HOSTILE),
            HOSTILE if kind.deviates else "",
            f"print('''{HOSTILE}''')\n{HOSTILE}",
        )
        for kind in Kind
    )
    return Run(HOSTILE[:120], HOSTILE[:130], {HOSTILE: HOSTILE}, Selection(Level.FULL), results, (cause,), DATE, 1e9)


def _results(rows: tuple[OperatorSpec, ...]) -> Iterator[Result]:
    number = 0
    for row in rows:
        for element_type in row.element_types:
            asks_for_rounding = row.title == "Divide-1" and element_type.is_integer
            for tried in TRIED["integer" if element_type.is_integer else "float"]:
                for way in WAYS:
                    number += 1
                    rounding = ("", "floor", "truncating")[(1 + number % 2) * asks_for_rounding]
                    id = CaseId(row.title, rounding, str(element_type), tried, *way.split("/"))
                    verdict = _verdict(str(element_type), tried, way, number)
                    clause = row.clauses[number % len(row.clauses)]
                    source = None if verdict.kind.passes else reproducer(str(id))
                    yield Result(id, clause.tag, clause.statement, verdict, _CAUSE_OF.get(verdict.kind, ""), source)


def _verdict(element_type: str, tried: str, way: str, number: int) -> Verdict:
    if element_type in ("float8e5m2", "uint4", "real"):
        return Verdict(Kind.UNSUPPORTED, f"Element type {element_type} is not supported by the CPU plug-in")
    if tried == "MIN divided by -1":
        if "constant" in way and element_type == "int64":
            return Verdict(Kind.CRASHED, "SIGFPE")
        return Verdict(Kind.UNSPECIFIED, unspecified=(Gave("MIN", "-1", "MIN"),))
    if tried == "shapes beyond the rule":
        fates = (Verdict(Kind.REFUSED_AS_REQUIRED), Verdict(Kind.ACCEPTED, "float32 of shape (2, 3)"))
        return fates[number % 11 == 0]
    if tried in ("hard to round", "x divided by x") and element_type in ("float", "double"):
        example = Example(
            (17,), ("1.1754944e-38 (0x00800000)", "3.0 (0x40400000)"), "3.9e-39 (0x002aaaab)", "0.0 (0x00000000)"
        )
        ulps = {0: 200 + number % 40, 1: 30, 2: 4, 20: 1}
        return Verdict(Kind.ULPS, "", 1024, 235, ulps, 2**20, example)
    if element_type in ("int64", "uint64") and tried in ("near 2^24", "all signs and remainders"):
        example = Example((3, 1), ("9007199254740993", "-3"), "-3002399751580331", "-2147483648")
        return Verdict(Kind.WRONG_VALUE, "", 64, 12, example=example)
    if tried == "empty" and number % 7 == 0:
        rare = (Kind.REFUSED, Kind.WRONG_SHAPE, Kind.WRONG_TYPE, Kind.HUNG, Kind.OUT_OF_MEMORY)
        kind = rare[number // 7 % len(rare)]
        return Verdict(kind, f"{kind.value}: Check 'input_shape' failed at src/core/validation.cpp:{number} " * 3)
    return Verdict(Kind.EXACT, elements=64)
