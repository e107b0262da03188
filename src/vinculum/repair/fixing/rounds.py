"""Fixing of findings: each gets its least remedy, the model is checked again, and what did not help is taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from onnx import ModelProto

from vinculum.analysis import Finding, Report, check
from vinculum.analysis.assumptions import calibrated, read_assumptions
from vinculum.analysis.findings import Key
from vinculum.arguments import checked_arguments
from vinculum.errors import DifferenceError, ModelError
from vinculum.models.onnx.checks import check_model
from vinculum.models.onnx.divisions import DIVIDES
from vinculum.models.onnx.file import write_model
from vinculum.models.onnx.inference import typed_scopes
from vinculum.models.onnx.scopes import name_of
from vinculum.models.source import ModelSource, SourceFile, any_source, onnx_model
from vinculum.repair.fixing.comparison import Comparison, compared
from vinculum.repair.fixing.remedies import FIRST_OPSET, FIRST_WHERE, OPERAND, Remedy, Where, remedy
from vinculum.repair.fixing.writing import written
from vinculum.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_MOST_ROUNDS = 6
_RESTORES = (Where.CONSTANT, Where.ATTRIBUTE)
"""What mends a guard that the model has: this comes first, and often nothing else is needed then."""
Again = Callable[[SourceFile], Report]


@dataclass(frozen=True, eq=False)
class Fix:
    """What was done about a finding.

    - `remedy`: What was written for it; None if nothing was, and `why` says why.
    - `is_fixed`: Whether the fixed model has it no more.
    """

    finding: Finding
    remedy: Remedy | None
    why: str
    is_fixed: bool


@dataclass(frozen=True, eq=False)
class Fixed(Shown):
    """A model without those findings that a guard removes.

    - `model`: The original if nothing was fixed.
    - `fixes`: One for each finding.
    - `report`: What the check finds in the new model.
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
        ``.model``: a ModelProto; ``.fixes``: what was done about each finding, or why nothing was.

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
    """Writes remedies, checks again, and takes back those whose finding stays."""

    def __init__(self, source: SourceFile, report: Report, findings: Sequence[Finding], again: Again) -> None:
        self._source, self._findings, self._again = source, findings, again
        self._original = onnx_model(source)
        self._known = {finding.key for finding in report.findings}
        self._refused: dict[Key, str] = {}
        self.kept: dict[Key, tuple[Finding, Remedy]] = {}
        self.model, self.report = self._original, report
        self._values = report.values
        self._places = {
            (scope.path, name_of(node)): (scope, node)
            for scope in typed_scopes(self._original)
            for node in scope.holder.node
        }

    def run(self) -> None:
        """Write remedies until no finding is left that one helps, those first that mend a guard of the model."""
        waiting = {finding.key: finding for finding in self._findings}
        for _ in range(_MOST_ROUNDS):
            proposed: dict[Key, tuple[Finding, Remedy]] = {}
            for key, finding in waiting.items():
                found = self._remedy(finding)
                if isinstance(found, Remedy):
                    proposed[key] = finding, found
                else:
                    self._refused[key] = found
            restoring = {key: pair for key, pair in proposed.items() if pair[1].where in _RESTORES}
            if not proposed:
                break
            self._try(restoring or proposed)
            wanted = {finding.key for finding in self._findings}
            waiting = {
                key: finding
                for finding in self.report.findings
                if (key := finding.key) not in self._refused and (key in wanted or key not in self._known)
            }

    def _remedy(self, finding: Finding) -> Remedy | str:
        """Return the remedy that can be written for a finding, or why none can."""
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
        first = next((one for one in self._findings if one.key[1:] == finding.key[1:]), finding)
        if isinstance(found, Remedy) and finding.rule == "quotient-overflow" and _replaces_all(found, first):
            return f"{found.what} would replace every divisor: they lie in [{first.low:.6g}, {first.high:.6g}]"
        if isinstance(found, Remedy) and "Where" in found.text and opset < FIRST_WHERE.get(finding.element_type, 0):
            return f"operator set {opset} has no Where of {finding.element_type}: vinculum convert --opset 17 first"
        return found

    def _try(self, proposed: Mapping[Key, tuple[Finding, Remedy]]) -> None:
        """Write some remedies more; those whose finding stays are taken back, and the rest is checked once more."""
        stronger = {key[1:]: one for key, (_, one) in proposed.items()}
        kept = {
            key: (finding, new if (new := stronger.get(key[1:])) is not None and new.replaces(one) else one)
            for key, (finding, one) in self.kept.items()
        }
        self._write({**kept, **proposed})
        left = {finding.key for finding in self.report.findings}
        helpless = {key for key in self.kept if key in left}
        if helpless:
            for key in helpless:
                self._refused[key] = f"{self.kept[key][1].what} does not remove it"
            self._write({key: pair for key, pair in self.kept.items() if key not in helpless})

    def _write(self, remedies: dict[Key, tuple[Finding, Remedy]]) -> None:
        self.kept = remedies
        self.model = written(self._original, remedies.values())
        # In the same source, whose large initializers stay where they are.
        self.report = self._again(replace(self._source, onnx=self.model))

    def fixes(self) -> tuple[Fix, ...]:
        """Return what became of each finding, and of those that only showed behind others."""
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


def _replaces_all(guard: Remedy, finding: Finding) -> bool:
    """Tell whether a guard against overflow leaves no divisor as it is."""
    return guard.numbers["epsilon"] > max(abs(finding.low), abs(finding.high))
