"""The first table of a page: some ten questions, and each runtime's answers in a few words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from vinculum.conformance.cases.case import CaseId
from vinculum.conformance.run.record import Kind, Result
from vinculum.reporting.conformance.view import KINDS, Cases, Severity, View, worst
from vinculum.reporting.escape import short

_NEWEST = ("Div-7", "Div-13", "Div-14", "Divide-1", "SONNX Div (int)", "SONNX Div (float)")
_SILENT = {"zero divisors": "x / 0", "a zero divisor": "x / 0", "MIN divided by -1": "MIN / -1"}
"""What cases try where nothing is specified, and the question that it answers."""
_NAMED = 3  # Quotients for x / 0.
_MANY = 10_000
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
# Their quotients or operands are subnormal, infinite or NaN, which is another question.
_STRANGE = (
    *("subnormal", "underflow", "overflow", "zero", "edge", "random bit patterns", "divisors", "every pair", "MIN"),
)
_USUAL = ("ordinary", "numbers", "quotients", "reciprocals", "the whole", "whole", "1 ", "3 ")


@dataclass(frozen=True)
class Question:
    """A question to all runtimes, the cases that answer it, and the words for at least one result."""

    heading: str
    about: str
    asks: Callable[[CaseId], bool]
    words: Callable[[Sequence[Result]], str]


@dataclass(frozen=True)
class Told:
    """A runtime's answer: words, their severity, and the cases from which it follows; none if none was run."""

    words: str
    severity: Severity
    results: tuple[Result, ...] = ()


@lru_cache(32)  # A page needs the answers more than once.
def told(view: View) -> tuple[Told, ...]:
    """Return the answer of a runtime to each of `QUESTIONS`."""
    return tuple(_told(question, [one for one in view.results if question.asks(one.id)]) for question in QUESTIONS)


def _told(question: Question, asked: Sequence[Result]) -> Told:
    found = tuple(one for one in asked if one.verdict.kind not in (Kind.UNSUPPORTED, Kind.REFUSED_AS_REQUIRED))
    if not found:
        return Told("not supported" if asked else "not asked", Severity.NONE, tuple(asked))
    return Told(short(question.words(found)), Cases(found).severity, found)


def _of(types: Sequence[str], *scenarios: str, rows: Sequence[str] = _NEWEST) -> Callable[[CaseId], bool]:
    """Return a predicate: cases of some element types and operators whose scenario begins like one of these."""
    return lambda id: id.element_type in types and id.operator in rows and id.scenario.startswith(scenarios)


def _ordinary(element_type: str, *rows: str) -> Callable[[CaseId], bool]:
    usual = _of((element_type,), *_USUAL, rows=rows or _NEWEST)
    return lambda id: usual(id) and not any(word in id.scenario for word in _STRANGE)


def _silent(question: str) -> Callable[[CaseId], bool]:
    return lambda id: _SILENT.get(id.scenario) == question and id.element_type in ("int32", "int64")


def _what(results: Sequence[Result]) -> str:
    """Return what happens where nothing is specified: the runtime dies, refuses or gives some quotients."""
    verdicts = [one.verdict for one in results]
    words = [f"dies: {said}" for said in dict.fromkeys(one.said for one in verdicts if one.kind is Kind.CRASHED)]
    words += dict.fromkeys(one.kind.value for one in verdicts if one.kind not in (Kind.CRASHED, Kind.UNSPECIFIED))
    silent = [one for one in verdicts if one.kind is Kind.UNSPECIFIED]
    if any(not one.unspecified for one in silent):
        words.append("an error")
    gave = list(dict.fromkeys(one.quotient for verdict in silent for one in verdict.unspecified))
    if gave:
        words.append(f"gives {' or '.join(gave) if len(gave) <= _NAMED else 'several numbers'}")
    return ", or ".join(words)


def _exactness(results: Sequence[Result]) -> str:
    """Return the worst verdict, and in how many of the cases there are deviations: ``"1 ulp in 3 of 40"``."""
    wrong = [one for one in results if one.verdict.kind.deviates]
    if not wrong:
        return "exact"
    kind = worst(one.verdict.kind for one in wrong)
    words = KINDS[kind].word if kind is not Kind.REFUSED else "refused"
    if kind is Kind.ULPS:
        far = max(one.verdict.largest or 0 for one in wrong)
        words = f"{far:,} ulp{'s' if far > 1 else ''}" if far < _MANY else "many ulps"
    return f"{words} in {len(wrong)} of {len(results)}"


def _kept(results: Sequence[Result]) -> str:
    return "kept" if not any(one.verdict.kind.deviates for one in results) else "not kept"


def _rounded(results: Sequence[Result]) -> str:
    """Return what -7 / 2 is: -3 where truncation is asked for, -4 where floor division is."""
    asked = {
        quotient: [not one.verdict.kind.deviates for one in results if (one.id.rounding == "floor") is floors]
        for quotient, floors in (("-3", False), ("-4", True))
    }
    right = [quotient for quotient, verdicts in asked.items() if verdicts and all(verdicts)]
    never = [quotient for quotient, verdicts in asked.items() if verdicts and not any(verdicts)]
    if not chain(*asked.values()) or len(right) == sum(map(bool, asked.values())):
        return " or ".join(right) + (", as asked" if len(right) > 1 else "")
    if right and never:
        return f"{right[0]}, even if {never[0]} is asked for"
    return f"{right[0]}; {'-4' if right[0] == '-3' else '-3'} not always" if right else "wrong in some"


QUESTIONS: Sequence[Question] = (
    Question("x / 0", "int32, int64", _silent("x / 0"), _what),
    Question("MIN / -1", "int32, int64", _silent("MIN / -1"), _what),
    Question("-7 / 2", "int8 to int64", _of(("int8", "int16", "int32", "int64"), "floor and trunc"), _rounded),
    Question("int64", "above 2^53", _of(("int64",), "numbers next to 2^53", "numbers next to 2^63"), _exactness),
    Question("unsigned", "uint8 to uint64", _of(_UNSIGNED, "ordinary", "the top bit", "MAX"), _exactness),
    Question("float32", "ordinary numbers", _ordinary("float"), _exactness),
    Question("float16", "ordinary numbers", _ordinary("float16"), _exactness),
    Question("bfloat16", "ordinary numbers", _ordinary("bfloat16"), _exactness),
    Question("1 / x", "float32", _ordinary("float", "Reciprocal-13"), _exactness),
    Question("subnormals", "float32", _of(("float",), "subnormal"), _kept),
    Question("broadcasting", "int32", _of(("int32",), "distinct numbers"), _exactness),
)
"""The columns of the table."""
