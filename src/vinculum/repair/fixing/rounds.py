"""Fixing of findings: each gets its least remedy, and a remedy that does not remove its finding is taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from onnx import ModelProto

from vinculum.analysis import Finding, Report, check
from vinculum.analysis.assumptions import calibrated, read_assumptions
from vinculum.analysis.domain.formats import FORMATS
from vinculum.analysis.findings import Key
from vinculum.arguments import checked_arguments
from vinculum.errors import DifferenceError, ModelError
from vinculum.models.onnx.checks import check_model
from vinculum.models.onnx.divisions import DIVIDES
from vinculum.models.onnx.file import write_model
from vinculum.models.onnx.inference import typed_scopes
from vinculum.models.onnx.scopes import name_of
from vinculum.models.source import ModelSource, SourceFile, any_source, onnx_model
from vinculum.repair.fixing.chains import Link, shared
from vinculum.repair.fixing.comparison import Comparison, compared
from vinculum.repair.fixing.remedies import (
    FIRST_OPSET,
    FIRST_WHERE,
    OPERAND,
    Remedy,
    Where,
    kept_from_zero,
    remedy,
    survivor,
)
from vinculum.repair.fixing.writing import written
from vinculum.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_MOST_ROUNDS = 20  # A chain takes a round for each of its divisions.
_RESTORES = (Where.CONSTANT, Where.ATTRIBUTE)
"""Changes that restore a guard of the model. They are tried first, as often no other remedy is needed then."""
Again = Callable[[SourceFile], Report]
Remedies = dict[Key, tuple[Finding, Remedy]]


@dataclass(frozen=True, eq=False)
class Fix:
    """The outcome for a finding.

    - `remedy`: The remedy that was written; if it is None, `why` gives the reason.
    - `is_fixed`: Whether the fixed model no longer has the finding.
    """

    finding: Finding
    remedy: Remedy | None
    why: str
    is_fixed: bool


@dataclass(frozen=True, eq=False)
class Fixed(Shown):
    """A model without the findings that guards remove.

    - `model`: The original if nothing was fixed.
    - `fixes`: One for each finding.
    - `report`: The report of the check of the new model.
    """

    model: ModelProto
    fixes: tuple[Fix, ...]
    report: Report
    comparison: Comparison

    @property
    def left(self) -> tuple[Fix, ...]:
        """The findings that the new model still has."""
        return tuple(one for one in self.fixes if not one.is_fixed)


@checked_arguments
def fix(
    model: ModelSource,
    *,
    assume: Sequence[str] = (),
    calibrate: Mapping[str, ArrayLike] | None = None,
    as_type: str | None = None,
    profile: Sequence[str] = (),
    runs: int = 100,
    seed: int = 0,
) -> Fixed:
    """Return a model with the least guard for each finding of its check, checked again and compared with the original.

    Parameters
    ----------
    model : path, bytes, ModelProto, ExportedProgram or Model
        As `vinculum.check` takes it. It is not changed.
    assume, calibrate, as_type, profile, runs, seed
        As `vinculum.check` takes them. With a type to check as, the model keeps its own types, and its guards survive
        in that type.

    Returns
    -------
    Fixed
        ``.model``: a ModelProto; ``.fixes``: the remedy of each finding, or the reason why there is none.

    Raises
    ------
    DifferenceError
        If an output changed although no guard was at work.
    ModelError, AttributeValueError
        As `vinculum.check` raises them.
    """
    source = any_source(model)
    again = partial(check, assume=assume, calibrate=calibrate, as_type=as_type, profile=profile, runs=0)
    report = again(source, runs=runs, seed=seed)
    return fixed(source, report, report.findings, again, assume=assume, calibrate=calibrate)


def fixed(
    source: SourceFile,
    report: Report,
    findings: Sequence[Finding],
    again: Again,
    *,
    assume: Sequence[str] = (),
    calibrate: Mapping[str, ArrayLike] | None = None,
) -> Fixed:
    """Return a model with remedies for some findings of a report; `again` checks a model as the report did."""
    fixer = _Fixer(source, report, findings, again)
    model = fixer.model
    fixer.run()
    if not fixer.kept:
        return Fixed(model, fixer.fixes(), report, Comparison(reason="nothing was changed"))
    try:
        check_model(fixer.model, "the fixed model")
    except ModelError:
        check_model(model, "the model itself")
        raise
    assumptions = calibrated(read_assumptions(assume, model), calibrate or {})
    comparison = compared(source, replace(source, onnx=fixer.model), findings, assumptions)
    if comparison.worst and all(finding.operator in DIVIDES for finding, _ in fixer.kept.values()):
        raise DifferenceError(f"no guard was at work, and {comparison.worst}; nothing is written")
    return Fixed(fixer.model, fixer.fixes(), fixer.report, comparison)


def write_fixed(result: Fixed, source: SourceFile, target: Path) -> None:
    """Write a fixed model, which must not replace the original or its data.

    OSError or ModelError if the target cannot be written.
    """
    with source.writing(target) as staging:
        write_model(result.model, staging)


class _Fixer:
    """Writes remedies, checks the model again, and takes back those whose finding is still there."""

    def __init__(self, source: SourceFile, report: Report, findings: Sequence[Finding], again: Again) -> None:
        self._source, self._findings, self._again = source, findings, again
        self._original = onnx_model(source)
        self._known = {finding.key for finding in report.findings}
        self._wanted = {finding.key for finding in findings}
        self._first = {finding.key[1:]: finding for finding in reversed(findings)}
        self._refused: dict[Key, str] = {}
        self._alone: set[Key] = set()  # The findings that a chain of guards did not remove.
        self.kept: Remedies = {}
        self.model, self.report = self._original, report
        self._values = report.values
        self._places = {
            (scope.path, name_of(node)): (scope, node)
            for scope in typed_scopes(self._original)
            for node in scope.holder.node
        }

    def run(self) -> None:
        """Write remedies until none is left that helps; those that restore a guard of the model come first."""
        waiting = list(self._findings)
        for _ in range(_MOST_ROUNDS):
            proposed: Remedies = {}
            for finding in waiting:
                found = self._remedy(finding)
                if isinstance(found, Remedy):
                    proposed[finding.key] = finding, found
                else:
                    self._refused[finding.key] = found
            if not proposed:
                break
            restoring = {key: pair for key, pair in proposed.items() if pair[1].where in _RESTORES}
            self._try(restoring or proposed)
            waiting = [
                finding
                for finding in self.report.findings
                if (key := finding.key) not in self._refused and (key in self._wanted or key not in self._known)
            ]

    def _remedy(self, finding: Finding) -> Remedy | str:
        """Return the remedy that can be written for a finding, or the reason why none can."""
        place = self._places.get((finding.scope, finding.node))
        if place is None:
            return f"it is inside {finding.node.rpartition('/')[0]}, where no guard can stand"
        scope, node = place
        if node.op_type in OPERAND:
            finding = replace(finding, divisor=node.input[OPERAND[node.op_type]])  # A guard may stand before it now.
        opset = scope.opsets.get("", 1)
        if opset < FIRST_OPSET:
            return f"its operator set is {opset}, and guards begin at {FIRST_OPSET}: vinculum convert --opset 17 first"
        found = remedy(finding, node, {} if finding.scope else self._values, opset)
        if isinstance(found, Remedy) and found.where is not Where.ATTRIBUTE and not scope.code_of(finding.divisor):
            unknown = f"the element type of {finding.divisor} is not known"
            return f"{unknown}, or not the same in all calls of its function: declare it, or inline the function"
        if isinstance(found, Remedy) and "Where" in found.text and opset < FIRST_WHERE.get(finding.element_type, 0):
            return f"operator set {opset} has no Where of {finding.element_type}: vinculum convert --opset 17 first"
        return found

    def _try(self, proposed: Remedies) -> None:
        """Write more remedies; take back those whose finding is still there, and check the rest once more."""
        before = self.kept
        balanced, sharing = self._balanced(proposed)
        stronger = {key[1:]: one for key, (_, one) in balanced.items()}
        kept = {
            key: (finding, new if (new := stronger.get(key[1:])) is not None and new.replaces(one) else one)
            for key, (finding, one) in before.items()
        }
        self._write({**kept, **balanced})
        left = {finding.key for finding in self.report.findings}
        if sharing & left:
            self._alone |= sharing & left
            self._write(before)
        elif helpless := self.kept.keys() & left:
            for key in helpless & proposed.keys():
                self._refused[key] = f"{self.kept[key][1].what} does not remove it"
            # An older remedy was enough until the others of a chain changed: its finding is tried anew.
            self._write({key: pair for key, pair in self.kept.items() if key not in helpless})

    def _balanced(self, proposed: Remedies) -> tuple[Remedies, set[Key]]:
        """Return remedies in which the guards of each chain share what its last quotient needs, and these findings.

        A guard that would replace every divisor is refused, unless a chain shares it.
        """
        epsilons: dict[tuple[str, ...], float] = {}
        balanced, sharing = dict(proposed), set[Key]()
        for key, (finding, one) in proposed.items():
            if finding.rule != "quotient-overflow":
                continue
            first = self._first.get(key[1:], finding)
            chain = {} if key in self._alone else self._chain(first, one)
            for name, epsilon in chain.items():
                place = (finding.scope, name)
                epsilons[place] = max(epsilon, epsilons.get(place, 0))
            if chain:
                sharing.add(key)
            elif one.numbers["epsilon"] > _largest(first):
                lie = f"they lie in [{first.low:.6g}, {first.high:.6g}]"
                self._refused[key] = f"{one.what} would replace every divisor: {lie}"
                del balanced[key]
        for key, (finding, one) in {**self.kept, **balanced}.items():
            epsilon = epsilons.get(key[1:], 0.0)
            first = self._first.get(key[1:], finding)
            if key in sharing and epsilon <= _least(first):  # All divisors are farther from zero.
                del balanced[key]
            elif key in sharing or (one.is_adjustable and epsilon > abs(one.numbers["epsilon"])):
                balanced[key] = finding, kept_from_zero(first, self._places[key[1:]][1], epsilon)
        return balanced, sharing

    def _chain(self, last: Finding, one: Remedy) -> dict[str, float]:
        """Return an epsilon for each division of the chain that ends with a finding, by their nodes."""
        scope, node = self._places[last.scope, last.node]
        guarded = {}
        for finding, guard in self.kept.values():
            if finding.scope == last.scope and finding.operator in ("Div", "Reciprocal") and guard.is_adjustable:
                epsilon = abs(guard.numbers["epsilon"])
                guarded[finding.node] = Link(epsilon, epsilon, self._scale(finding))
        least = max(_least(last), survivor(FORMATS[last.element_type]))
        return shared(scope, node, Link(one.numbers["epsilon"], least, self._scale(last)), guarded)

    def _scale(self, finding: Finding) -> float:
        """Return the largest magnitude of a divisor; 1 if it has none but zero, or only guards of this fix bound it."""
        first = self._first.get(finding.key[1:])
        largest = 0.0 if first is None else _largest(first)
        return largest if 0 < largest < inf else 1.0

    def _write(self, remedies: Remedies) -> None:
        self.kept = remedies
        self.model = written(self._original, remedies.values())
        # The same source is used, so that large initializers are not copied.
        self.report = self._again(replace(self._source, onnx=self.model))

    def fixes(self) -> tuple[Fix, ...]:
        """Return the outcome for each finding, including those that appeared only after others were removed."""
        left = {finding.key for finding in self.report.findings}
        brought = [finding for key, (finding, _) in self.kept.items() if key not in self._known]
        brought += [finding for finding in self.report.findings if finding.key not in self._known]
        fixes = []
        for finding in (*self._findings, *brought):
            key = finding.key
            _, one = self.kept.get(key, (finding, None))
            why = "" if one else "another remedy removes it"
            if key in left:
                one, why = None, self._refused.get(key, "no remedy was found in time")
            fixes.append(Fix(finding, one, why, is_fixed=key not in left))
        return tuple(fixes)


def _least(finding: Finding) -> float:
    """Return the smallest magnitude between the bounds of a finding."""
    return max(finding.low, -finding.high, 0.0)


def _largest(finding: Finding) -> float:
    return max(abs(finding.low), abs(finding.high))
