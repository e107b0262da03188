"""Verdicts in words."""

from __future__ import annotations

from vinculum.conformance.run.verdict import Example, Kind, Verdict
from vinculum.reporting.escape import cut, one_line

_LONGEST = 240  # Two numbers of 64 bits and their quotients fit; what a runtime said may be a book.


def message(verdict: Verdict) -> str:
    """Return what happened, in a line: ``"3 of 64 quotients are off, by up to 1 ulp"``, ``"SIGFPE"``."""
    places = ((one, f" for {one.where}" if one.where else "") for one in verdict.unspecified)
    gave = ", ".join(f"{one.quotients} gave {one.quotient}{where}" for one, where in places)
    match verdict.kind:
        case Kind.ULPS | Kind.WRONG_VALUE:
            wrong = _wrong(verdict)
            return f"{wrong}; where it is unspecified: {gave}" if gave else wrong
        case Kind.UNSPECIFIED:
            return gave or f"refused: {verdict.said}"
        case Kind.DIFFERS:
            return f"gave different answers to the same operation: {verdict.said}"
        case Kind.ACCEPTED:
            return f"gave {verdict.said}"
        case Kind.WRONG_TYPE:
            return f"gave {verdict.said} instead of {verdict.expected}"
        case Kind.WRONG_SHAPE:
            return f"gave shape {verdict.said} instead of {verdict.expected}"
    return verdict.said


def _wrong(verdict: Verdict) -> str:
    wrong = f"{verdict.differing} of {verdict.elements} quotient{'s are' if verdict.elements != 1 else ' is'}"
    if verdict.largest is None:
        return f"{wrong} wrong"
    return f"{wrong} off, by up to {verdict.largest} ulp{'' if verdict.largest == 1 else 's'}"


def asked(example: Example) -> str:
    """Return the division of an example: ``"7 / 0"``, or ``"1 / 0"`` for a reciprocal."""
    return " / ".join(example.operands if len(example.operands) > 1 else ("1", *example.operands))


def example_sentence(example: Example) -> str:
    """Return an example on one line: ``"7 / 0 gave 3, expected 4"``."""
    return one_line(f"{asked(example)} gave {example.actual}, expected {example.expected}")


def verdict_sentence(verdict: Verdict) -> str:
    """Return what happened in a case on one line: its example if there is one, else its message."""
    sentence = example_sentence(verdict.example) if verdict.example is not None else one_line(message(verdict))
    return cut(sentence, _LONGEST) or verdict.kind.value
