"""Fixing of findings: each gets its least remedy, the model is checked again, and what did not help is taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from vinculum.analysis import Finding, Report, check
from vinculum.analysis.assumptions import calibrated, read_assumptions
from vinculum.analysis.loading import onnx_model
from vinculum.errors import DifferenceError, ModelError
from vinculum.files import atomic_write
from vinculum.models.onnx.checks import check_model
from vinculum.models.onnx.divisions import DIVIDES
from vinculum.models.onnx.file import write_model
from vinculum.models.source import SourceFile, any_source
from vinculum.repair.fixing.comparison import Comparison, compared
from vinculum.repair.fixing.remedies import Remedy, Where
from vinculum.repair.fixing.writing import Key, Places, key_of, written
from vinculum.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from onnx import ModelProto

_MOST_ROUNDS = 6
_RESTORES = (Where.CONSTANT, Where.ATTRIBUTE)
"""What mends a guard that the model has: this comes first, and often nothing else is needed then."""
Again = Callable[[SourceFile], Report]


@dataclass(frozen=True, eq=False)
class Fix:
    """What was done about a finding.

    Attributes
    ----------
    finding : Finding
        The finding.
    remedy : Remedy or None
        What was written for it; None if nothing was.
    why : str
        Why nothing was written.
    is_fixed : bool
        Whether the fixed model has it no more.
    """

    finding: Finding
    remedy: Remedy | None
    why: str
    is_fixed: bool


@dataclass(frozen=True, eq=False)
class Fixed(Shown):
    """A model without those findings that a guard removes.

    Attributes
    ----------
    model : ModelProto
        The new model; the original if nothing was fixed.
    fixes : tuple of Fix
        One for each finding.
    report : Report
        What the check finds in the new model.
    comparison : Comparison
        What runs of both models showed.
    """

    model: ModelProto
    fixes: tuple[Fix, ...]
    report: Report
    comparison: Comparison

    @property
    def left(self) -> tuple[Fix, ...]:
        """The findings that the new model still has."""
        return tuple(one for one in self.fixes if not one.is_fixed)


def fix(
    model: str | PathLike[str] | bytes | ModelProto,
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
    model : path, bytes or ModelProto
        An ONNX file, or an ONNX model in memory, which is not changed.
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
    report = check(source, assume=assume, calibrate=calibrate, as_type=as_type, profile=profile, runs=runs, seed=seed)
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
    with atomic_write(target) as folder:
        write_model(result.model, folder / target.name)
        source.check_spared([target.parent / path.name for path in folder.iterdir()])


class _Fixer:
    """Writes remedies, checks again, and takes back those whose finding stays."""

    def __init__(self, source: SourceFile, report: Report, findings: Sequence[Finding], again: Again) -> None:
        self._source, self._findings, self._again = source, findings, again
        self._original = onnx_model(source)
        self._known = {key_of(finding) for finding in report.findings}
        self._refused: dict[Key, str] = {}
        self.kept: dict[Key, tuple[Finding, Remedy]] = {}
        self.model, self.report = self._original, report

    def run(self) -> None:
        """Write remedies until no finding is left that one helps, those first that mend a guard of the model."""
        places = Places(self._original, self.report.values)
        waiting = {key_of(finding): finding for finding in self._findings}
        for _ in range(_MOST_ROUNDS):
            proposed: dict[Key, tuple[Finding, Remedy]] = {}
            for key, finding in waiting.items():
                found = places.remedy(finding)
                if isinstance(found, Remedy):
                    proposed[key] = finding, found
                else:
                    self._refused[key] = found
            restoring = {key: pair for key, pair in proposed.items() if pair[1].where in _RESTORES}
            if not proposed:
                break
            self._try(restoring or proposed)
            wanted = {key_of(finding) for finding in self._findings}
            waiting = {
                key: finding
                for finding in self.report.findings
                if (key := key_of(finding)) not in self._refused and (key in wanted or key not in self._known)
            }

    def _try(self, proposed: Mapping[Key, tuple[Finding, Remedy]]) -> None:
        """Write some remedies more; those whose finding stays are taken back, and the rest is checked once more."""
        stronger = {key[1:]: one for key, (_, one) in proposed.items()}
        kept = {
            key: (finding, new if (new := stronger.get(key[1:])) is not None and new.replaces(one) else one)
            for key, (finding, one) in self.kept.items()
        }
        self._write({**kept, **proposed})
        left = {key_of(finding) for finding in self.report.findings}
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
        left = {key_of(finding) for finding in self.report.findings}
        brought = [finding for key, (finding, _) in self.kept.items() if key not in self._known]
        brought += [finding for finding in self.report.findings if key_of(finding) not in self._known]
        return tuple(self._fix(finding, left) for finding in (*self._findings, *brought))

    def _fix(self, finding: Finding, left: set[Key]) -> Fix:
        key = key_of(finding)
        remedy = self.kept[key][1] if key in self.kept else None
        if key in left:
            return Fix(finding, None, self._refused.get(key, "no remedy was found in time"), is_fixed=False)
        return Fix(finding, remedy, "" if remedy else "another remedy removes it", is_fixed=True)
