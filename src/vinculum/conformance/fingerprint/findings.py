"""Findings about how a runtime computes, derived by subject from the explanation of its answers to cases."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.arithmetic import Answered, Cause, explain
from vinculum.conformance.arithmetic.answered import ACCEPTED, REFUSED, UNSUPPORTED, VALUES
from vinculum.conformance.arithmetic.circumstances import why_refused
from vinculum.conformance.arithmetic.division import ROUNDED, Division, IntegerDivision, in_words
from vinculum.conformance.arithmetic.explain import fits
from vinculum.conformance.arithmetic.fitting import dividends_and_divisors
from vinculum.conformance.arithmetic.rules import ALIGNMENTS
from vinculum.conformance.arithmetic.stages import Rounding
from vinculum.conformance.cases.operation import alignment, rounding_asked
from vinculum.conformance.fingerprint.examples import Group, example, where
from vinculum.conformance.fingerprint.finding import Finding, Status
from vinculum.sandbox import End
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import Broadcasting, Dialect, IntegerRounding, OperatorSpec
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.registry import ROWS
from vinculum.tensors.storage import element_type_of
from vinculum.text import shape_text

Array = NDArray[Any]
RUN_TIME, FOLDED, CONSTANT_DIVISOR = (False, False), (True, True), (False, True)

UNKNOWN = "wrong, by no known arithmetic"

_KILLED = (End.CRASHED, End.HUNG, End.OUT_OF_MEMORY)
_CONSTANTS = {
    FOLDED: "constant folding disagrees with run time",
    CONSTANT_DIVISOR: "a constant divisor disagrees with run time",
}
_MANNERS = {RUN_TIME: "at run time", FOLDED: "when folded"}
_ASKED = {IntegerRounding.TRUNCATING: "truncation", IntegerRounding.FLOOR: "floor"}
_WAYS = ((DIV_14, IntegerRounding.TRUNCATING), *((DIVIDE_1, rounding) for rounding in IntegerRounding))


def findings(answered: Sequence[Answered]) -> Iterator[Finding]:
    """Yield the findings that follow from answers to cases of the suite, subject by subject."""
    return _Answers(answered).findings()


class _Answers:
    """Answers and their explanation."""

    def __init__(self, answered: Sequence[Answered]) -> None:
        groups = dict(_by(answered, lambda one: why_refused(one.case.operation)))
        self._legal: list[Answered] = groups.pop(None, [])
        self._illegal: Mapping[str, list[Answered]] = groups
        self._answered = answered
        self._fits = fits(answered)

    @cached_property
    def _by_case(self) -> Mapping[str, Cause | None]:
        return explain(self._answered, self._fits).by_case()

    def findings(self) -> Iterator[Finding]:
        mains = dict(self._mains())
        usual = {t: placed for t, group in mains.items() if (placed := _placed(group, RUN_TIME))}
        for element_type, group in usual.items():
            yield self._told("division", str(element_type), group)
        for element_type, group in mains.items():
            one_divisor = _placed(group, RUN_TIME, one_divisor=True)
            if one_divisor and element_type in usual and not element_type.is_integer:
                found = self._told("one divisor for all", str(element_type), one_divisor)
                if found.statement != self._told("", "", usual[element_type]).statement:
                    yield found
        reciprocals = [
            one
            for one in self._legal
            if (operation := one.case.operation).spec is RECIPROCAL_13
            and operation.constant == (False,)
            and operation.operands[0].size > 1
        ]
        for element_type, group in _by(reciprocals, lambda one: one.case.element_type):
            yield self._told("Reciprocal", str(element_type), group)
        yield from self._rounding_attribute()
        for constant, disagrees in _CONSTANTS.items():
            for element_type, group in mains.items():
                yield from self._constants(
                    element_type, usual.get(element_type, ()), _placed(group, constant), disagrees
                )
        yield from self._axes()
        yield from self._illegal_operands()
        yield from self._empty_tensors()
        yield from self._versions()
        yield from self._edges("x / 0", by_zero=True)
        yield from self._edges("MIN / -1", by_zero=False)

    def _mains(self) -> Iterator[tuple[ElementType, Group]]:
        """Yield each element type and its plain divisions."""
        plain = [one for one in self._legal if _plain(one) and len(one.case.operation.operands) == 2]
        for element_type, own in _by(plain, lambda one: one.case.element_type):
            yield element_type, _main(own)

    def _way(self, group: Group) -> Division | None:
        """Return the simplest way to divide that gives every quotient of cases of one element type."""
        divided = [one for one in group if one.outcome == VALUES]
        return self._fits[divided[0].case.element_type].whole(divided) if divided else None

    def _told(self, probe: str, subject: str, group: Group) -> Finding:
        """Return how quotients are computed, and which cases lack a quotient that they should have."""
        divided = [one for one in group if one.outcome == VALUES]
        failed = [one for one in group if one.deviates and one.outcome != VALUES]
        if not divided:
            return _without_quotients(probe, subject, group)
        found = self._computed(probe, subject, divided)
        if not failed:
            return found
        causes = [(self._by_case.get(str(one.case.id)), one) for one in failed]
        words = dict.fromkeys(cause.statement if cause else f"some {one.outcome}" for cause, one in causes)
        return replace(found, statement="; ".join((found.statement, *words)), status=Status.DEVIATES)

    def _computed(self, probe: str, subject: str, divided: Group) -> Finding:
        way, wrong = self._way(divided), [one for one in divided if one.deviates]
        if way is not None:
            status = Status.DEVIATES if wrong else Status.AS_SPECIFIED
            return Finding(probe, subject, way.statement, status, way.detail, example(wrong))
        counts = _counts(wrong, divided)
        parts = list(self._fits[divided[0].case.element_type].causes(divided))
        ways = [in_words(way) for way, *_ in parts]
        if sum(len(cases) for _, cases, _ in parts) == len(wrong):
            return Finding(probe, subject, " or ".join(ways), Status.DEVIATES, counts, example(wrong))
        detail = "; ".join(part for part in (*(f"some {way}" for way in ways), where(wrong)) if part)
        return Finding(probe, subject, f"{counts} {UNKNOWN}", Status.DEVIATES, detail, example(wrong))

    def _constants(self, element_type: ElementType, usual: Group, group: Group, disagrees: str) -> Iterator[Finding]:
        if not any(one.outcome == VALUES for one in usual) or not group:
            return
        at_run_time, folded = self._told("", "", usual), self._told("constants", str(element_type), group)
        if folded.status is Status.UNSUPPORTED:
            return
        if (at_run_time.statement, at_run_time.detail) == (folded.statement, folded.detail):
            yield Finding("constants", str(element_type), "divided as at run time", Status.AS_SPECIFIED)
            return
        detail = "; ".join(part for part in (folded.statement, folded.detail) if part)
        evidence = folded.evidence or f"at run time {at_run_time.evidence}"
        yield Finding("constants", str(element_type), disagrees, Status.DEVIATES, detail, evidence)

    def _rounding_attribute(self) -> Iterator[Finding]:
        own = [
            one
            for one in self._legal
            if one.case.operation.spec is DIVIDE_1 and one.case.element_type.minimum and _plain(one)
        ]
        for (element_type, asked), group in _by(
            own, lambda one: (one.case.element_type, rounding_asked(one.case.operation))
        ):
            words, evidence = [], ""
            for constant, manner in _MANNERS.items():
                told = [one for one in _placed(group, constant) if one.outcome == VALUES]
                if not told:
                    continue
                way = self._way(told)
                rounding = way.rounding if isinstance(way, IntegerDivision) else None
                if rounding is Rounding.AS_ASKED:
                    words.append(f"honoured {manner}")
                else:
                    did = "by no known rule" if rounding is None else ROUNDED[rounding]
                    words.append(f"ignored {manner} ({did})")
                    evidence = evidence or example([one for one in told if one.deviates])
            if evidence:
                statement = f"{_ASKED[asked]} {', '.join(words)}"
                yield Finding("rounding attribute", str(element_type), statement, Status.DEVIATES, evidence=evidence)
            elif words:
                yield Finding("rounding attribute", str(element_type), "honoured", Status.AS_SPECIFIED)

    def _axes(self) -> Iterator[Finding]:
        """Yield whether an axis is honoured, from the cases in which NumPy would align the divisor differently."""
        moved = [
            one
            for one in self._legal
            if "axis" in one.case.operation.attributes
            and alignment(one.case.operation) != alignment(one.case.operation, Broadcasting.MULTIDIRECTIONAL)
            and one.outcome != UNSUPPORTED
        ]
        for title, group in _by(
            moved, lambda one: "pdpd" if one.case.operation.spec is DIVIDE_1 else one.case.operation.spec.title
        ):
            causes = [(one, self._by_case.get(str(one.case.id))) for one in group if one.deviates]
            ignored = [one for one, cause in causes if cause and cause.outcome in ALIGNMENTS]
            if ignored:
                evidence = example([one for one in ignored if one.outcome == VALUES])
                statement = "ignored: the divisor is laid along the last dimension"
                yield Finding("axis", title, statement, Status.DEVIATES, evidence=evidence)
            elif any(one.outcome == VALUES for one in group):
                yield Finding("axis", title, "honoured", Status.AS_SPECIFIED)
            else:
                yield _without_quotients("axis", title, group)

    def _illegal_operands(self) -> Iterator[Finding]:
        for reason, group in self._illegal.items():
            dead = [one for one in group if one.answer.end in _KILLED]
            accepted = [one for one in group if one.outcome == ACCEPTED]
            if dead:
                yield _without_quotients("illegal operands", reason, dead)
            elif accepted:
                kinds, others = (dict.fromkeys(map(_kind, some)) for some in (accepted, group))
                refused = ", ".join(kind for kind in others if kind not in kinds)
                detail = ", ".join(kinds) + (f"; refused: {refused}" if refused else "")
                evidence = _gave(accepted[0])
                yield Finding("illegal operands", reason, "accepted", Status.DEVIATES, detail, evidence)
            else:
                words = group[0].answer.words
                yield Finding("illegal operands", reason, "refused", Status.AS_SPECIFIED, evidence=words)

    def _empty_tensors(self) -> Iterator[Finding]:
        empty = [
            one
            for one in self._legal
            if _plain(one) and 0 in [o.size for o in one.case.operation.operands] and one.outcome != UNSUPPORTED
        ]
        for zero, group in _by(empty, lambda one: bool((one.case.operation.operands[-1] == 0).any())):
            subject, wrong = "by a zero" if zero else "by numbers", [one for one in group if one.deviates]
            if wrong:
                yield _without_quotients("empty tensors", subject, wrong)
            else:
                yield Finding("empty tensors", subject, "divided", Status.AS_SPECIFIED)

    def _versions(self) -> Iterator[Finding]:
        """Yield which operator versions of ONNX are supported, if the answers cover all of them."""
        groups = dict(_by(self._legal, lambda one: one.case.operation.spec))
        rows = [spec for spec in ROWS if spec.dialect is Dialect.ONNX]
        for spec in rows if all(spec in groups for spec in rows) else ():
            if any(one.answer.end is End.RETURNED for one in groups[spec]):
                yield Finding("operator versions", spec.title, "supported", Status.AS_SPECIFIED)
            else:
                yield _without_quotients("operator versions", spec.title, groups[spec])

    def _edges(self, probe: str, *, by_zero: bool) -> Iterator[Finding]:
        """Yield how unspecified divisions behave at run time, and with constants if that differs."""
        alone = [one for one in self._legal if _alone(one, by_zero) and one.outcome != UNSUPPORTED]
        groups = {
            key: _main(own) for key, own in _by(alone, lambda one: (one.case.element_type, one.case.operation.constant))
        }
        for element_type in dict.fromkeys(element_type for element_type, _ in groups):
            told = ""
            for constant in (RUN_TIME, FOLDED):
                group = groups.get((element_type, constant), ())
                if group:
                    found = _edge(f"{probe} of constants" if constant == FOLDED else probe, element_type, group)
                    if found.statement != told:
                        yield found
                        told = told or found.statement


def _by(answered: Iterable[Answered], key: Callable[[Answered], Any]) -> Iterator[tuple[Any, list[Answered]]]:
    groups: dict[Hashable, list[Answered]] = {}
    for one in answered:
        groups.setdefault(key(one), []).append(one)
    return iter(groups.items())


def _counts(wrong: Group, divided: Group) -> str:
    elements = sum(one.verdict.elements for one in divided)
    return f"{sum(one.verdict.differing for one in wrong):,} of {elements:,} quotients"


def _plain(one: Answered) -> bool:
    """Tell whether a case tests numbers only: no attribute except the rounding, and every quotient is specified."""
    operation = one.case.operation
    return (
        set(operation.attributes) <= {operation.spec.integer_rounding_attribute}
        and one.case.expectation.unspecified is None
    )


def _main(own: Group) -> Group:
    """Return the cases of one operator version and rounding: the first supported one in the order of `_WAYS`."""
    some: list[Group] = [group for way in _WAYS if (group := [one for one in own if _asks(one, *way)])]
    ready = [group for group in some if any(one.outcome != UNSUPPORTED for one in group)]
    return (ready or some or [own])[0]


def _asks(one: Answered, spec: OperatorSpec, rounding: IntegerRounding) -> bool:
    return one.case.operation.spec is spec and rounding_asked(one.case.operation) is rounding


def _placed(group: Group, constant: tuple[bool, ...], *, one_divisor: bool = False) -> Group:
    """Return the cases with these constants, and with a divisor of rank 0 or of the dividend's shape."""
    return [
        one
        for one in group
        if (a := one.case.operation.operands[0]).size > 1
        and one.case.operation.constant == constant
        and one.case.operation.operands[1].shape == (() if one_divisor else a.shape)
    ]


def _without_quotients(probe: str, subject: str, group: Group) -> Finding:
    """Return the finding for the worst of answers without quotients of the right type and shape."""
    for one in group:
        if one.answer.end in _KILLED:
            return Finding(probe, subject, f"kills the process ({one.answer.words})", Status.DEVIATES)
    for one in group:
        if one.outcome == REFUSED:
            return Finding(probe, subject, "refused", Status.DEVIATES, evidence=one.answer.words)
    if group[0].outcome == UNSUPPORTED:
        return Finding(probe, subject, "not supported", Status.UNSUPPORTED, evidence=group[0].answer.words)
    return Finding(probe, subject, "gives a wrong type or shape", Status.DEVIATES, _gave(group[0]))


def _gave(one: Answered) -> str:
    value = one.answer.value
    return f"gives {value.dtype} of shape {shape_text(value.shape)}" if isinstance(value, np.ndarray) else "no array"


def _kind(one: Answered) -> str:
    """Return what distinguishes illegal operands from others that are illegal for the same reason."""
    types = dict.fromkeys(str(element_type_of(operand)) for operand in one.case.operation.operands)
    return " by ".join(types) if len(types) > 1 else one.case.operation.spec.title


def _alone(one: Answered, by_zero: bool) -> bool:
    """Tell whether every quotient of a case with operands of one shape is x / 0, or every one MIN / -1."""
    unspecified, operands = one.case.expectation.unspecified, one.case.operation.operands
    alike = len({operand.shape for operand in operands}) == 1
    return unspecified is not None and bool(unspecified.all()) and alike and bool(operands[-1].any()) is not by_zero


def _edge(probe: str, element_type: ElementType, group: Group) -> Finding:
    subject = str(element_type)
    deviating = [one for one in group if one.deviates]
    if deviating:
        found = _without_quotients(probe, subject, deviating)
        x, y = (operands[0] for operands in dividends_and_divisors(deviating[0].case.operation))
        return replace(found, evidence=found.evidence or f"{x} / {y}")
    if any(one.outcome == REFUSED for one in group):
        words = next(one.answer.words for one in group if one.outcome == REFUSED)
        return Finding(probe, subject, "refused", Status.UNSPECIFIED, evidence=words)
    pairs = [dividends_and_divisors(one.case.operation) for one in group]
    a, b = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    quotients = np.concatenate([one.answer.value.reshape(-1) for one in group])
    equations = {str(q): f"{x} / {y} = {q}" for x, y, q in zip(a, b, quotients, strict=True)}
    statement = _rule(quotients, a, element_type) or "follows no rule common to all elements"
    return Finding(probe, subject, statement, Status.UNSPECIFIED, evidence=", ".join(list(equations.values())[:4]))


def _rule(quotients: Array, a: Array, element_type: ElementType) -> str | None:
    """Return the rule that all quotients follow; None if they follow none of these."""
    least, most, numbers = element_type.minimum, element_type.maximum, a.astype(object)
    by_sign = [most if x > 0 else least if x < 0 else 0 for x in numbers]
    rules: Mapping[str, Any] = {
        "0": 0,
        "MIN": least,
        "MAX": most,
        "-1": -1 if least else most,
        "the dividend": numbers,
        "MIN or MAX by the dividend's sign": np.array(by_sign, object),
        str(int(quotients[0])): int(quotients[0]),
    }
    given = quotients.astype(object)
    return next((f"gives {rule}" for rule, values in rules.items() if np.all(given == values)), None)
