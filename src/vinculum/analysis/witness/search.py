"""Evidence of findings: a search, by a bounded number of runs, for inputs that show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, prod
from time import monotonic

from onnx import ModelProto

from vinculum.analysis.assumptions import Assumptions
from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.findings import Effect, Finding, Report, Search, Severity, Witness, surest_first
from vinculum.analysis.witness.climb import EndOfSearch, Tried, search
from vinculum.analysis.witness.confirm import OnnxRuntime
from vinculum.analysis.witness.inner import Bounds
from vinculum.analysis.witness.probe import Outcome, Probe
from vinculum.analysis.witness.structured import SIZES, Candidate, Space, ordinary, structured
from vinculum.analysis.witness.targets import Key, Target, target
from vinculum.errors import ModelError, VinculumError
from vinculum.models.onnx.model import model_of
from vinculum.models.source import SourceFile
from vinculum.models.values import ModelTensor, tensor_dtype
from vinculum.sandbox import End, Isolated, Limits
from vinculum.text import one_line

_LARGEST = 1 << 28  # The largest model, in bytes, that is sent to other processes.
_SECONDS = 10.0  # Of processor time, for all findings of a model.
_INNER_SECONDS = 5.0
_LIMITS = Limits(seconds=20.0, memory=8 << 30)
_MOST_KEPT = 32
_HIT_TRIES = 4  # Inputs that ONNX Runtime runs for each finding.


@dataclass(frozen=True)
class Budget:
    """The limits of a search.

    Attributes
    ----------
    runs : int
        The most runs of the model for each finding.
    seed : int
        The seed of random inputs.
    """

    runs: int
    seed: int = 0


def with_evidence(
    report: Report,
    source: SourceFile,
    assumptions: Assumptions,
    values: Mapping[str, AbstractTensor],
    budget: Budget,
) -> Report:
    """Return a report with the evidence of each finding that a run can show, or with the failed search.

    Parameters
    ----------
    report : Report
        As the model alone gives it.
    source : SourceFile
        The model.
    assumptions : Assumptions
        What is declared of its inputs.
    values : Mapping of str to AbstractTensor
        What is known of the values of its main graph.
    budget : Budget
        The limits of the search.
    """
    if not report.findings:
        return report
    try:
        with _Searcher(report.findings, source, assumptions, budget) as searcher:
            evidence = searcher.search(values)
    except VinculumError as error:
        evidence = {id(f): replace(f, search=Search(0, inf, one_line(error))) for f in report.findings}
    return replace(report, findings=surest_first(evidence.get(id(one), one) for one in report.findings))


class _Searcher:
    def __init__(
        self, findings: Sequence[Finding], source: SourceFile, assumptions: Assumptions, budget: Budget
    ) -> None:
        self._budget = budget
        proto = _complete(source)
        self._content = content = proto.SerializeToString()
        found = {id(f): target(f, proto) for f in findings}
        self._targets: dict[int, Target] = {key: one for key, one in found.items() if one is not None}
        self._findings = [finding for finding in findings if id(finding) in self._targets]
        model = model_of(ModelProto.FromString(content), source.path)
        needed = [tensor for tensor in model.inputs if not tensor.optional]
        _check_inputs(needed)
        self._space = Space(needed, assumptions.ranges, assumptions.sizes, budget.seed)
        maker = f"{Probe.__module__}:{Probe.__name__}"
        targets = list(self._targets.values())
        outputs = [value.name for value in proto.graph.output]
        self._probe = Isolated(maker, "reference", content, outputs, targets, limits=_LIMITS, called="the model")
        self._runtime = OnnxRuntime(content, outputs, targets, _LIMITS)
        self._runs, self._seconds, self._stopped = 0, 0.0, ""
        self._refused = "its inputs are too large"
        self._tried: dict[Key, list[Tried]] = {one.key: [] for one in targets}
        self._asked: dict[int, int] = {}
        self._found: dict[int, Witness] = {}

    def __enter__(self) -> _Searcher:
        return self

    def __exit__(self, *_: object) -> None:
        self._probe.close()
        self._runtime.close()

    def search(self, values: Mapping[str, AbstractTensor]) -> dict[int, Finding]:
        """Return the findings with their evidence, by the identity of those without."""
        try:
            self._settle_size()
            for candidate in structured(self._space):
                if not self._pending():
                    break
                self._run(candidate, self._budget.runs * len(self._findings))
            for finding in self._pending():
                self._search_one(finding)
        except EndOfSearch:
            pass
        inner = self._inner(values)
        return {id(f): self._with_evidence(f, inner.get(id(f))) for f in self._findings}

    def _settle_size(self) -> None:
        """Find a size of open dimensions on which the model runs."""
        for size in SIZES if self._space.has_open_sizes() else SIZES[:1]:
            self._space.size = size
            if self._space.fits(size):
                self._run(ordinary(self._space), self._budget.runs * len(self._findings))
            if not self._refused:
                return
        self._stopped = f"it does not run on the inputs tried: {self._refused}"
        raise EndOfSearch

    def _pending(self) -> list[Finding]:
        return [f for f in self._findings if id(f) not in self._found or self._found[id(f)].kind != "model"]

    def _search_one(self, finding: Finding) -> None:
        key = self._targets[id(finding)].key
        end = min(self._runs + self._budget.runs, self._budget.runs * len(self._findings))

        def attempt(candidate: Candidate) -> Tried | None:
            if self._runs >= end or finding not in self._pending():
                raise EndOfSearch
            return self._run(candidate, end).get(key)

        try:
            search(self._space, self._tried[key], attempt)
        except EndOfSearch:
            if self._stopped:
                raise

    def _check_budget(self, end: int) -> None:
        """End the search if its runs or its time are used up."""
        if self._runs >= end:
            raise EndOfSearch
        if self._seconds > _SECONDS:
            self._stopped = f"{_SECONDS:g} s of processor time are used up"
            raise EndOfSearch

    def _run(self, candidate: Candidate, end: int) -> dict[Key, Tried]:
        """Run the model on inputs and return what it met."""
        self._check_budget(end)
        self._runs += 1
        outcome, ours = self._met(candidate)
        if outcome is None:
            return {}
        met = {}
        for key, one in outcome.met.items():
            met[key] = Tried(candidate.inputs, one.distance, one.divisor)
            if not candidate.outside:
                self._keep(self._tried[key], met[key])
        for finding in self._pending():
            target = self._targets[id(finding)]
            own = outcome.met.get(target.key)
            shown = own is not None and own.distance == 0
            if shown or target.is_inside:
                self._confirm(finding, candidate, outcome.effects, shown and ours)
        return met

    def _met(self, candidate: Candidate) -> tuple[Outcome | None, bool]:
        """Return what a run met, and whether in our engine.

        The faster runtime suffices where it shows nothing, or where ours lacks an operator.
        """
        pending = [self._targets[id(finding)] for finding in self._pending()]
        theirs = self._runtime.outcome(pending, candidate.inputs)
        ours = None
        if theirs is None or any(theirs.met[target.key].distance == 0 for target in pending):
            ours = self._outcome(candidate)
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

    @staticmethod
    def _keep(tried: list[Tried], one: Tried) -> None:
        """Keep the runs that came nearest, up to a limit."""
        tried.append(one)
        if len(tried) > _MOST_KEPT:
            tried.remove(max(tried, key=lambda other: other.distance))

    def _confirm(self, finding: Finding, candidate: Candidate, effects: tuple[Effect, ...], ours: bool) -> None:
        """Keep a witness that our engine shows, and ONNX Runtime too if it is there.

        What is inside an operator our engine computes as ONNX defines it, and a runtime in its own way: either may
        show what the other does not.
        """
        kind, target = "outside" if candidate.outside else "model", self._targets[id(finding)]
        if kind == "outside" and id(finding) in self._found:
            return
        asked = self._asked[id(finding)] = self._asked.get(id(finding), 0) + ours
        if asked > _HIT_TRIES:
            return
        shown, title, theirs = self._runtime.look(target, candidate.inputs)
        by = (*(("vinculum",) if ours else ()), *((title,) if shown else ()))
        if target.is_inside and not shown:
            kind = "definition"
        elif shown is False:
            return
        if by and (kind != "definition" or id(finding) not in self._found):
            self._found[id(finding)] = Witness(kind, candidate.inputs, candidate.how, by, effects=effects or theirs)

    def _inner(self, values: Mapping[str, AbstractTensor]) -> dict[int, Witness]:
        """Return inner witnesses of those findings that inputs do not show."""
        unseen = [f for f in self._findings if id(f) not in self._found]
        left = [f for f in unseen if self._targets[id(f)].is_zero and self._targets[id(f)].wanted == "zero"]
        if not left or self._stopped.startswith("a run"):
            return {}
        bounds: dict[str, Bounds] = {name: (v.low, v.high, v.mag) for name, v in values.items()}
        found: dict[int, Witness] = {}
        for finding in left:
            wanted = self._targets[id(finding)]
            tried = self._tried[wanted.key]
            if not tried:
                continue
            inputs = tried[0].inputs
            answer = self._probe.call("inner", wanted.value, inputs, bounds, _INNER_SECONDS / len(left))
            if answer.end is End.RETURNED and answer.value is not None:
                one = answer.value
                found[id(finding)] = Witness("inner", inputs, one.how, one.confirmed_by, one.tensor, one.value)
        return found

    def _with_evidence(self, finding: Finding, inner: Witness | None) -> Finding:
        witness, wanted = self._found.get(id(finding), inner), self._targets[id(finding)]
        tried = self._tried[wanted.key]
        smallest = min((one.distance for one in tried), default=inf) if wanted.is_zero else inf
        severity = finding.severity
        if severity is not Severity.CERTAIN:
            severity = _SEVERITIES[witness.kind] if witness else Severity.UNCONFIRMED
        stopped = self._stopped or ("" if tried or witness else "none of them reached the node")
        return replace(finding, severity=severity, witness=witness, search=Search(self._runs, smallest, stopped))


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


def _check_inputs(tensors: Sequence[ModelTensor]) -> None:
    """Refuse inputs that cannot be made."""
    for tensor in tensors:
        if tensor.shape is None or tensor_dtype(tensor).kind in "OUS":
            raise ModelError(f"no input can be made for {tensor}")
