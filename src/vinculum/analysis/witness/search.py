"""Evidence of findings: a search, by a bounded number of runs, for inputs that show them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace
from math import inf, prod
from time import monotonic

from onnx import ModelProto

from vinculum.analysis.assumptions import Assumptions
from vinculum.analysis.findings import Effect, Finding, Key, Report, Search, Severity, Witness, surest_first
from vinculum.analysis.witness.inner import Bounds
from vinculum.analysis.witness.probe import OnnxRuntime, Outcome, Probe, Target, target
from vinculum.analysis.witness.structured import (
    Candidate,
    EndOfSearch,
    Space,
    Tried,
    ordinary,
    search,
    structured,
)
from vinculum.errors import ModelError, VinculumError
from vinculum.models.onnx.model import model_of
from vinculum.models.source import SourceFile
from vinculum.models.values import tensor_dtype
from vinculum.sandbox import End, Isolated, Limits
from vinculum.text import one_line

_LARGEST = 1 << 28  # The largest model, in bytes, that is sent to other processes.
_SECONDS = 10.0  # Of processor time, for all findings of a model.
_INNER_SECONDS = 5.0
_LIMITS = Limits(seconds=20.0, memory=8 << 30)
_MOST_KEPT = 32
_HIT_TRIES = 4  # Inputs that ONNX Runtime runs for each finding.


def with_evidence(report: Report, source: SourceFile, assumptions: Assumptions, runs: int, seed: int) -> Report:
    """Return a report with the evidence of each finding that a run can show, or with the failed search.

    - `runs`: the most runs of the model for each finding.
    """
    if not report.findings:
        return report
    try:
        with closing(_Searcher(report, source, assumptions, runs, seed)) as searcher:
            evidence = searcher.search()
    except VinculumError as error:
        evidence = {id(f): replace(f, search=Search(0, inf, one_line(error))) for f in report.findings}
    return replace(report, findings=surest_first(evidence.get(id(one), one) for one in report.findings))


@dataclass(eq=False)
class _Sought:
    """A finding, how a run shows it, the runs that came nearest, how often a runtime was asked, and its witness."""

    finding: Finding
    target: Target
    tried: list[Tried] = field(default_factory=list)
    asked: int = 0
    witness: Witness | None = None

    def keep(self, one: Tried) -> None:
        """Keep a run, up to a limit of them: the nearest, and one of each sign, between which the search can halve."""
        self.tried.append(one)
        if len(self.tried) > _MOST_KEPT:
            spare = [other for other in self.tried if not self._is_alone(other)]
            self.tried.remove(max(spare, key=lambda other: other.distance))

    def _is_alone(self, one: Tried) -> bool:
        """Tell whether no other run that is kept has elements of a sign that this one has."""
        others = [other for other in self.tried if other is not one]
        return any(one.has(sign) and not any(other.has(sign) for other in others) for sign in (-1, 1))

    def with_evidence(self, runs: int, stopped: str) -> Finding:
        """Return the finding with its witness, or with the search that found none."""
        smallest = min((one.distance for one in self.tried), default=inf) if self.target.is_zero else inf
        severity = self.finding.severity
        if severity is not Severity.CERTAIN:
            severity = _SEVERITIES[self.witness.kind] if self.witness else Severity.UNCONFIRMED
        stopped = stopped or ("" if self.tried or self.witness else "none of them reached the node")
        return replace(self.finding, severity=severity, witness=self.witness, search=Search(runs, smallest, stopped))


class _Searcher:
    def __init__(self, report: Report, source: SourceFile, assumptions: Assumptions, runs: int, seed: int) -> None:
        proto = _complete(source)
        content = proto.SerializeToString()
        found = ((finding, target(finding, proto)) for finding in report.findings)
        self._sought = [_Sought(finding, one) for finding, one in found if one is not None]
        self._each, self._most = runs, runs * len(self._sought)
        self._values = report.values
        model = model_of(ModelProto.FromString(content), source.path)
        needed = [tensor for tensor in model.inputs if not tensor.optional]
        for tensor in needed:
            if tensor.shape is None or tensor_dtype(tensor).kind in "OUS":
                raise ModelError(f"no input can be made for {tensor}")
        self._space = Space(needed, assumptions.ranges, assumptions.sizes, seed)
        maker = f"{Probe.__module__}:{Probe.__name__}"
        targets = [one.target for one in self._sought]
        outputs = [value.name for value in proto.graph.output]
        self._probe = Isolated(maker, "reference", content, outputs, targets, limits=_LIMITS, called="the model")
        self._runtime = OnnxRuntime(content, outputs, targets, _LIMITS)
        self._runs, self._seconds, self._stopped = 0, 0.0, ""
        self._refused = "its inputs are too large"

    def close(self) -> None:
        """End the processes."""
        self._probe.close()
        self._runtime.close()

    def search(self) -> dict[int, Finding]:
        """Return the findings with their evidence, by the identity of those without."""
        try:
            self._settle_size()
            for candidate in structured(self._space):
                if not self._pending():
                    break
                self._run(candidate, self._most)
            for one in self._pending():
                self._search_one(one)
        except EndOfSearch:
            pass
        self._search_inside()
        return {id(one.finding): one.with_evidence(self._runs, self._stopped) for one in self._sought}

    def _settle_size(self) -> None:
        """Find a size of open dimensions on which the model runs."""
        for size in self._space.sizes():
            self._space.size = size
            if self._space.fits(size):
                self._run(ordinary(self._space), self._most)
            if not self._refused:
                return
        self._stopped = f"it does not run on the inputs tried: {self._refused}"
        raise EndOfSearch

    def _pending(self) -> list[_Sought]:
        return [one for one in self._sought if one.witness is None or one.witness.kind != "model"]

    def _search_one(self, sought: _Sought) -> None:
        end = min(self._runs + self._each, self._most)

        def attempt(candidate: Candidate) -> Tried | None:
            if self._runs >= end or sought not in self._pending():
                raise EndOfSearch
            return self._run(candidate, end).get(sought.target.key)

        try:
            search(self._space, sought.tried, attempt)
        except EndOfSearch:
            if self._stopped:
                raise

    def _run(self, candidate: Candidate, end: int) -> dict[Key, Tried]:
        """Run the model on inputs and return what it met; the search ends if its runs or its time are used up."""
        if self._runs >= end:
            raise EndOfSearch
        if self._seconds > _SECONDS:
            self._stopped = f"{_SECONDS:g} s of processor time are used up"
            raise EndOfSearch
        self._runs += 1
        outcome, ours = self._met(candidate)
        if outcome is None:
            return {}
        met = {key: Tried(candidate.inputs, one.distance, one.divisor) for key, one in outcome.met.items()}
        pending = self._pending()
        for sought in self._sought:
            own = met.get(sought.target.key)
            if own is not None and not candidate.outside:
                sought.keep(own)
            shown = own is not None and own.distance == 0
            if sought in pending and (shown or sought.target.is_inside):
                self._confirm(sought, candidate, outcome.effects, shown and ours)
        return met

    def _met(self, candidate: Candidate) -> tuple[Outcome | None, bool]:
        """Return what a run met, and whether in our engine.

        The faster runtime suffices where it shows nothing, or where ours lacks an operator.
        """
        pending = [one.target for one in self._pending()]
        theirs = self._runtime.outcome(pending, candidate.inputs)
        ours = None
        if theirs is None or any(theirs.met[target.key].distance == 0 for target in pending):
            ours = self._outcome(candidate)
        if theirs is None and ours is None:
            theirs = self._runtime.outcome([one for one in pending if not one.is_inside], candidate.inputs)
        if theirs is None or ours is not None:
            return ours, True
        self._refused = ""
        self._seconds += theirs.seconds
        return theirs, False

    def _outcome(self, candidate: Candidate) -> Outcome | None:
        """Return what our engine met; None if the model cannot be run on the inputs."""
        start = monotonic()
        answer = self._probe.call("run", candidate.inputs)
        if answer.end is End.RETURNED:
            outcome: Outcome = answer.value
            self._refused = ""
            self._seconds += outcome.seconds
            return outcome
        if answer.end is not End.REFUSED:
            self._stopped = f"a run ended: {answer.end.value} ({answer.words})"
            raise EndOfSearch
        self._refused = answer.words
        self._seconds += monotonic() - start
        return None

    def _confirm(self, sought: _Sought, candidate: Candidate, effects: tuple[Effect, ...], ours: bool) -> None:
        """Keep a witness that our engine shows, and ONNX Runtime too if it is there.

        What is inside an operator our engine computes as ONNX defines it, and a runtime in its own way: either may
        show what the other does not.
        """
        kind = "outside" if candidate.outside else "model"
        if kind == "outside" and sought.witness is not None:
            return
        sought.asked += ours
        if sought.asked > _HIT_TRIES:
            return
        shown, title, theirs = self._runtime.look(sought.target, candidate.inputs)
        by = (*(("vinculum",) if ours else ()), *((title,) if shown else ()))
        if sought.target.is_inside and not shown:
            kind = "definition"
        elif shown is False:
            return
        if by and (kind != "definition" or sought.witness is None):
            sought.witness = Witness(kind, candidate.inputs, candidate.how, by, effects=effects or theirs)

    def _search_inside(self) -> None:
        """Find inner witnesses of those findings that inputs do not show."""
        left = [
            one for one in self._sought if one.witness is None and one.target.is_zero and one.target.wanted == "zero"
        ]
        if not left or self._stopped.startswith("a run"):
            return
        bounds: dict[str, Bounds] = {name: (v.low, v.high, v.mag) for name, v in self._values.items()}
        for sought in left:
            if not sought.tried:
                continue
            wanted, inputs = sought.target.value, sought.tried[0].inputs
            answer = self._probe.call("inner", wanted, inputs, bounds, _INNER_SECONDS / len(left))
            if answer.end is End.RETURNED and answer.value is not None:
                sought.witness = replace(answer.value, inputs=inputs)


_SEVERITIES = {
    "model": Severity.WITNESSED,
    "outside": Severity.WITNESSED_OUTSIDE,
    "inner": Severity.POSSIBLE,
    "definition": Severity.POSSIBLE,
}


def _complete(source: SourceFile) -> ModelProto:
    """Return the model in a message of its own, data of other files in it; ModelError if it is too large."""
    assert source.onnx is not None
    size = sum(prod(tensor.dims) * 4 for tensor in source.onnx.graph.initializer)
    if size > _LARGEST:
        raise ModelError(f"its weights take more than {_LARGEST >> 20} MiB")
    return source.complete()
