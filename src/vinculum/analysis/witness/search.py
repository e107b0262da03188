"""Findings with evidence: inputs that show them are looked for by running the model, a bounded number of times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, prod

from onnx import ModelProto

from vinculum.analysis.assumptions import Assumptions
from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.findings import Effect, Finding, Report, Search, Severity, Witness
from vinculum.analysis.witness.climb import EndOfSearch, Tried, search
from vinculum.analysis.witness.confirm import OnnxRuntime, exposable
from vinculum.analysis.witness.inner import Bounds, InnerSearch
from vinculum.analysis.witness.probe import Outcome, Place, Probe
from vinculum.analysis.witness.structured import Candidate, Space, structured
from vinculum.errors import ModelError, VinculumError
from vinculum.models.onnx.divisions import DIVIDES
from vinculum.models.onnx.expansion import expanded
from vinculum.models.onnx.file import complete_model
from vinculum.models.onnx.model import model_of
from vinculum.models.onnx.scopes import name_of
from vinculum.models.source import SourceFile
from vinculum.models.values import ModelTensor, tensor_dtype
from vinculum.sandbox import End, Isolated, Limits
from vinculum.text import one_line

SEARCHED = frozenset({"zero-divisor", "zero-over-zero", "integer-zero-divisor"})
"""The hazards that a zero divisor shows."""
_LARGEST = 1 << 28  # Bytes of a model that is handed to other processes.
_SECONDS = 10.0  # Of processor time, for all findings of a model.
_INNER_SECONDS = 5.0
_LIMITS = Limits(seconds=20.0, memory=8 << 30)
_HIT_TRIES = 4  # Inputs that ONNX Runtime is asked about for each finding.


@dataclass(frozen=True)
class Budget:
    """What a search may take.

    Attributes
    ----------
    runs : int
        Of the model, for each finding.
    seed : int
        Decides what is random.
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
    """Return a report whose findings of zero divisors tell what shows them, or that nothing was found.

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
        What the search may take.
    """
    wanted = [finding for finding in report.findings if finding.rule in SEARCHED]
    if not wanted:
        return report
    try:
        with _Searcher(wanted, source, assumptions, budget) as searcher:
            evidence = searcher.search(values)
    except VinculumError as error:
        evidence = {id(f): replace(f, search=Search(0, inf, one_line(error))) for f in wanted}
    findings = [evidence.get(id(finding), finding) for finding in report.findings]
    order = list(Severity)
    findings.sort(key=lambda finding: order.index(finding.severity))
    return replace(report, findings=tuple(findings))


class _Searcher:
    def __init__(
        self, findings: Sequence[Finding], source: SourceFile, assumptions: Assumptions, budget: Budget
    ) -> None:
        self._findings = findings
        self._budget = budget
        proto = _with_bodies(_complete(source), findings)
        self._content = content = proto.SerializeToString()
        self._divisors = {id(f): _divisor(proto, f) for f in findings}
        model = model_of(ModelProto.FromString(content), source.path)
        needed = [tensor for tensor in model.inputs if not tensor.optional]
        _check_inputs(needed)
        self._space = Space(needed, assumptions.ranges, assumptions.sizes, budget.seed)
        mods = {self._divisors[id(f)]: _place(f) for f in findings if f.operator not in DIVIDES}
        exposed = {name: place for name, place in mods.items() if name}
        maker = f"{Probe.__module__}:{Probe.__name__}"
        places = [_place(finding) for finding in findings]
        self._probe = Isolated(maker, content, places, exposed, limits=_LIMITS, called="the model")
        outputs = [value.name for value in proto.graph.output]
        names = exposable(proto, [name for name in self._divisors.values() if name])
        self._runtime = OnnxRuntime(content, outputs, names, _LIMITS)
        self._runs, self._seconds, self._stopped = 0, 0.0, ""
        self._tried: dict[Place, list[Tried]] = {place: [] for place in places}
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

    def _pending(self) -> list[Finding]:
        return [f for f in self._findings if id(f) not in self._found or self._found[id(f)].kind != "model"]

    def _search_one(self, finding: Finding) -> None:
        place = _place(finding)
        end = min(self._runs + self._budget.runs, self._budget.runs * len(self._findings))

        def attempt(candidate: Candidate) -> Tried | None:
            if self._runs >= end or finding not in self._pending():
                raise EndOfSearch
            return self._run(candidate, end).get(place)

        try:
            search(self._space, self._tried[place], attempt)
        except EndOfSearch:
            if self._stopped:
                raise

    def _run(self, candidate: Candidate, end: int) -> dict[Place, Tried]:
        """Run the model on inputs and return what it met."""
        if self._runs >= end:
            raise EndOfSearch
        if self._seconds > _SECONDS:
            self._stopped = f"{_SECONDS:g} s of processor time are used up"
            raise EndOfSearch
        self._runs += 1
        answer = self._probe.call("run", candidate.inputs)
        if answer.end is not End.RETURNED:
            if answer.end is not End.REFUSED:
                self._stopped = f"a run ended: {answer.end.value} ({answer.words})"
                raise EndOfSearch
            return {}
        outcome: Outcome = answer.value
        self._seconds += outcome.seconds
        met = {}
        for place, one in outcome.met.items():
            met[place] = Tried(candidate.inputs, one.smallest, one.divisor)
            if not candidate.outside:
                self._tried[place].append(met[place])
        for finding in self._pending():
            own = outcome.met.get(_place(finding))
            if own is not None and own.smallest == 0:
                self._confirm(finding, candidate, outcome.effects)
        return met

    def _confirm(self, finding: Finding, candidate: Candidate, effects: tuple[Effect, ...]) -> None:
        kind = "outside" if candidate.outside else "model"
        asked = self._asked[id(finding)] = self._asked.get(id(finding), 0) + 1
        if asked > _HIT_TRIES or (kind == "outside" and id(finding) in self._found):
            return
        shown, title, theirs = self._runtime.look(candidate.inputs, self._divisors[id(finding)])
        if shown is not False:
            by = ("vinculum", title) if shown else ("vinculum",)
            self._found[id(finding)] = Witness(kind, candidate.inputs, candidate.how, by, effects=effects or theirs)

    def _inner(self, values: Mapping[str, AbstractTensor]) -> dict[int, Witness]:
        """Return inner witnesses of those findings that inputs do not show."""
        left = [f for f in self._findings if id(f) not in self._found and self._divisors[id(f)]]
        if not left or self._stopped.startswith("a run"):
            return {}
        bounds: dict[str, Bounds] = {name: (v.low, v.high, v.mag) for name, v in values.items()}
        found: dict[int, Witness] = {}
        maker = f"{InnerSearch.__module__}:{InnerSearch.__name__}"
        with Isolated(maker, self._content, limits=_LIMITS, called="the model") as process:
            for finding in left:
                tried = self._tried[_place(finding)]
                if not tried:
                    continue
                inputs = tried[0].inputs
                divisor = self._divisors[id(finding)]
                answer = process.call("find", divisor, inputs, bounds, _INNER_SECONDS / len(left))
                if answer.end is End.RETURNED and answer.value is not None:
                    one = answer.value
                    found[id(finding)] = Witness("inner", inputs, one.how, one.confirmed_by, one.tensor, one.value)
        return found

    def _with_evidence(self, finding: Finding, inner: Witness | None) -> Finding:
        witness = self._found.get(id(finding), inner)
        smallest = min((one.smallest for one in self._tried[_place(finding)]), default=inf)
        severity = finding.severity
        if severity is not Severity.CERTAIN:
            severity = _SEVERITIES[witness.kind] if witness else Severity.UNCONFIRMED
        stopped = self._stopped
        if not self._tried[_place(finding)] and not witness:
            stopped = stopped or "none of them came to the node"
        return replace(finding, severity=severity, witness=witness, search=Search(self._runs, smallest, stopped))


_SEVERITIES = {
    "model": Severity.WITNESSED,
    "outside": Severity.WITNESSED_OUTSIDE,
    "inner": Severity.POSSIBLE,
}


def _place(finding: Finding) -> Place:
    return finding.scope, finding.node


def _complete(source: SourceFile) -> ModelProto:
    """Return the model in a message of its own, data of other files in it; ModelError if it is too large."""
    assert source.onnx is not None
    size = sum(prod(tensor.dims) * 4 for tensor in source.onnx.graph.initializer)
    if size > _LARGEST:
        raise ModelError(f"its weights take more than {_LARGEST >> 20} MiB")
    return complete_model(source)


def _with_bodies(model: ModelProto, findings: Sequence[Finding]) -> ModelProto:
    """Return the complete model; nodes with findings in the bodies that define them give way to those."""
    copy = ModelProto()
    copy.CopyFrom(model)
    names = {name_of(node) for node in model.graph.node}
    if model.functions or not any(f.node not in names and "/" in f.node and not f.scope for f in findings):
        return copy
    return expanded(copy)[0]


def _divisor(model: ModelProto, finding: Finding) -> str:
    """Return the value of the main graph that a finding is about; empty if it is none."""
    if finding.scope:
        return ""
    node = next((node for node in model.graph.node if name_of(node) == finding.node), None)
    if node is None:
        return ""
    return str(node.input[0] if node.op_type == "Reciprocal" else node.input[1])


def _check_inputs(tensors: Sequence[ModelTensor]) -> None:
    """Refuse inputs that cannot be made."""
    for tensor in tensors:
        if tensor.shape is None or tensor_dtype(tensor).kind in "OUS":
            raise ModelError(f"no input can be made for {tensor}")
