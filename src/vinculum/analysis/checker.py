"""The check of a model: load it, analyse it from inputs to outputs, and collect its hazards and its block list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from vinculum.analysis.assumptions import Assumptions, calibrated, read_assumptions
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom
from vinculum.analysis.domain.formats import FORMATS
from vinculum.analysis.findings import Blocked, Finding, Frame, Report, Severity, surest_first
from vinculum.analysis.hazards import DIVIDES_INSIDE, by_operator
from vinculum.analysis.hazards.hazard import DIVISOR, PROFILES, Found, Hazard, divided, typings
from vinculum.analysis.interpreter import Interpreter, Site
from vinculum.analysis.places import alert_frame, fingerprint, frames, path
from vinculum.analysis.transfer.operators import divides_inside
from vinculum.arguments import checked_arguments
from vinculum.errors import AttributeValueError
from vinculum.models.onnx.checks import check_structure
from vinculum.models.onnx.inference import with_types
from vinculum.models.onnx.scopes import name_of
from vinculum.models.source import ModelSource, SourceFile, any_source, naming, onnx_model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from onnx import ModelProto, NodeProto

_STEPS_OF_CAUSE = 2
"""How far above a divisor two nodes must be alike to have the same cause; layers differ in what is farther up."""
NARROWER = ("float16", "bfloat16")
"""The types that a float32 model can be checked as."""
WEIGHTS = ("stored", "unknown")
"""What large initializers in other files hold."""


@checked_arguments
def check(
    model: ModelSource | SourceFile,
    *,
    assume: Sequence[str] = (),
    calibrate: Mapping[str, ArrayLike] | None = None,
    as_type: str | None = None,
    profile: Sequence[str] = (),
    weights: Literal["stored", "unknown"] = "stored",
    runs: int = 100,
    seed: int = 0,
) -> Report:
    """Return the hazards of a model's divisions, found without runs, and inputs that show them, found by running it.

    Bounds of every value are computed from the inputs to the outputs, for every runtime and every order of summation.
    An undeclared input may be anything of its type; open dimensions are from 1 to 10**9.

    Parameters
    ----------
    model : path, bytes, ModelProto, ExportedProgram or Model
        An ONNX file, its content, or an ONNX model in memory, which is not changed; a program of torch.export, or its
        ``.pt2`` file; or what `vinculum.load` returned.
    assume : sequence of str
        Ranges of inputs and named dimensions: ``"x=-1:1"``, two values ``"mask=0|1"``, or a bound ``"n>=1"``.
    calibrate : Mapping of str to array, optional
        Typical inputs: each float may lie half of their range beyond their smallest and largest number; integers
        may not.
    as_type : {"float16", "bfloat16"}, optional
        Check a float32 model as if it were converted to this type; then it is not run.
    profile : sequence of {"sonnx", "flushing", "narrowing", "domains"}
        Properties of the target: SONNX's constraints; subnormal numbers treated as 0; 64-bit integers narrowed
        to 32 bits. ``"domains"``: also functions other than division, outside of their domain.
    weights : {"stored", "unknown"}
        Whether large initializers in other files may be any finite numbers: then these files need not be there, and the
        model is not run.
    runs : int
        The most runs per finding in the search for inputs that show it; 0: no search. The model runs in other
        processes; no run begins after ten seconds of processor time, and none takes more than 20.
    seed : int
        The seed of the search.

    Returns
    -------
    Report
        ``.findings``, the most certain first, ``.unknown_operators``, and how many divisions rest on these; with a
        narrower type, ``.block_list``, the nodes that have to stay in float32.

    Raises
    ------
    ModelError
        If the model cannot be read or is malformed, or an assumption names no input and no dimension.
    AttributeValueError
        If an option is none of those above.
    """
    _check_options(as_type, profile, weights, runs, seed)
    start = perf_counter()
    source = any_source(model, weights=weights)
    with naming(source.path):
        proto = onnx_model(source)
        assumptions = calibrated(read_assumptions(assume, proto), calibrate or {})
        check_structure(proto)
        types = with_types(proto)
        report = _Checker(proto, types, assumptions, as_type or "float32", profile, source.unknown).report()
        if as_type is not None:  # Bounds and facts are others in another type: one pass with both would do all twice.
            plain = _Checker(proto, types, assumptions, "float32", profile, source.unknown).report()
            report = replace(report, block_list=_block_list(proto, plain, report, as_type))
    if runs and as_type is None and not source.unknown:
        from vinculum.analysis.witness.search import with_evidence

        report = with_evidence(report, replace(source, onnx=proto), assumptions, runs, seed)
    return replace(report, seconds=perf_counter() - start, model=str(source.path))


def _check_options(as_type: str | None, profile: Sequence[str], weights: str, runs: int, seed: int) -> None:
    """Refuse options that are none of those allowed."""
    profiles = (("profile", name, PROFILES) for name in profile)
    for option, value, allowed in (("as_type", as_type, (None, *NARROWER)), *profiles, ("weights", weights, WEIGHTS)):
        if value not in allowed:
            raise AttributeValueError(f"{option} is {value!r}; allowed: {', '.join(map(repr, filter(None, allowed)))}")
    if runs < 0 or seed < 0:
        raise AttributeValueError(f"runs is {runs!r} and seed {seed!r}; give whole numbers from 0 on")


class _Checker:
    def __init__(
        self,
        model: ModelProto,
        types: ModelProto,
        assumptions: Assumptions,
        narrowed: str,
        profiles: Sequence[str],
        unknown: Sequence[str],
    ) -> None:
        self._hazards = by_operator(profiles)
        self._inputs = frozenset(value.name for value in model.graph.input) - set(unknown)
        self._findings: dict[tuple[str, str, str], Finding] = {}
        self._divisions: dict[tuple[str, str], bool] = {}
        self._unknown = tuple(unknown)
        inputs = {**assumptions.finite(unknown, narrowed), **assumptions.tensors(narrowed)}
        self._interpreter = Interpreter(model, types, inputs, assumptions.sizes, narrowed=narrowed, look=self._look)

    def report(self) -> Report:
        """Return what is found in the whole model."""
        values = self._interpreter.run().values
        return Report(
            surest_first(_distinct(self._findings.values())),
            dict(self._interpreter.unknown.most_common()),
            self._interpreter.nodes,
            0.0,
            len(self._divisions),
            sum(self._divisions.values()),
            values,
            unknown_weights=self._unknown,
        )

    def _look(self, site: Site) -> None:
        hazards = self._hazards.get(site.node.op_type, ()) if not site.key[0] else ()
        if divides_inside(*site.key):
            hazards = (*hazards, *DIVIDES_INSIDE)
        if not hazards:
            return
        if site.node.op_type in DIVISOR:
            self._count(site)
        for one in typings(site):
            for hazard in hazards:
                found = hazard.look(one)
                # What is certain of a type that is only supposed is not certain at all.
                if found is not None and (one is site or not found.certain):
                    self._keep(_finding(hazard, found, site, self._inputs), site.scope.owner)

    def _count(self, site: Site) -> None:
        """Count a division once, and whether the word on it rests on what an unknown operator returns."""
        _, divisor, place = divided(site)
        if divisor is not None:
            where = (site.scope.path, name_of(site.node))
            rests = divisor.may_zero and self._interpreter.rests_on_unknown(site.scope, site.node.input[place])
            self._divisions[where] = self._divisions.get(where, False) or rests

    def _keep(self, finding: Finding, owner: str) -> None:
        """Keep one finding of a node, however often it is called; of the body that defines an operator only one."""
        key = ("", finding.scope, owner) if owner else finding.key
        before = self._findings.setdefault(key, finding)
        if before is not finding:
            low, high = min(before.low, finding.low), max(before.high, finding.high)
            certain = before.severity is finding.severity is Severity.CERTAIN
            severity = Severity.CERTAIN if certain else Severity.POSSIBLE
            dividend = max(before.dividend, finding.dividend)
            self._findings[key] = replace(before, low=low, high=high, severity=severity, dividend=dividend)


def _finding(hazard: Hazard, found: Found, site: Site, inputs: frozenset[str]) -> Finding:
    name, operand = site.node.input[found.operand], site.operands[found.operand]
    assert operand is not None
    low, high = (found.value if found.value is not None else operand).box.hull()
    owner, producers, lines = site.scope.owner, site.scope.producers, frames(site.node)
    return Finding(
        rule=hazard.code,
        # Runtimes compute an operator otherwise than the body that defines it.
        severity=Severity.CERTAIN if found.certain and not owner else Severity.POSSIBLE,
        node=f"{owner}/{site.node.op_type}" if owner else name_of(site.node),
        operator=site.node.op_type,
        scope=site.scope.path,
        divisor=name,
        low=low,
        high=high,
        element_type=operand.element_type,
        bounds_from=operand.bounds_from,
        path=path(name, producers, inputs),
        frames=lines,
        fingerprint=fingerprint(hazard.code, site.node, name, producers, inputs),
        cause=_cause(hazard, found, site, lines, inputs),
        fix=hazard.fix,
        detail=found.detail,
        dividend=_largest_dividend(site),
    )


def _largest_dividend(site: Site) -> float:
    if site.node.op_type == "Reciprocal":
        return 1.0
    dividend = divided(site)[0] if site.node.op_type in DIVISOR else None
    return inf if dividend is None else dividend.largest


def _cause(hazard: Hazard, found: Found, site: Site, lines: Sequence[Frame], inputs: frozenset[str]) -> str:
    """Return what alike findings share: an operator's definition, the user's line, or how the divisor is computed."""
    line = alert_frame(lines)
    if "by_definition_of" in found.detail:
        return f"the definition of {site.node.op_type}"
    if line is not None:
        return f"{line.file}:{line.line}"
    value = site.node.input[found.operand]
    return fingerprint(hazard.code, site.node, value, site.scope.producers, inputs, _STEPS_OF_CAUSE)


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with fingerprints of their own: those that are equal get a running number."""
    seen: Counter[str] = Counter()
    numbered = []
    for finding in findings:
        seen[finding.fingerprint] += 1
        number = seen[finding.fingerprint]
        numbered.append(replace(finding, fingerprint=f"{finding.fingerprint}-{number}") if number > 1 else finding)
    return numbered


def _block_list(model: ModelProto, plain: Report, narrowed: Report, as_type: str) -> tuple[Blocked, ...]:
    """Return the nodes of the main graph that overflow or lose a divisor in a narrower type, in the model's order.

    - `plain`, `narrowed`: what the check finds in the model as it is, and as if it were of that type.
    """
    lost = _lost(model, plain, narrowed)
    found = []
    for node in model.graph.node:
        why = lost.get(name_of(node)) or _overflow(node, plain.values, as_type)
        if why:
            found.append(Blocked(name_of(node), node.op_type, bool(node.name), why))
    return tuple(found)


def _overflow(node: NodeProto, values: Mapping[str, AbstractTensor], as_type: str) -> str:
    """Return which value of a node is larger than the type holds, as far as bounds of float32 say."""
    largest = FORMATS[as_type].max
    for name in (*node.output, *node.input):
        known = values.get(name)
        if known is None or known.element_type != "float32" or known.bounds_from is BoundsFrom.TYPE:
            continue
        magnitude = known.largest
        if largest < magnitude <= FORMATS["float32"].max and not (known.constant is not None and name in node.output):
            return f"{name} reaches {magnitude:.4g}, and {as_type} ends at {largest:.6g}"
    return ""


def _lost(model: ModelProto, plain: Report, narrowed: Report) -> dict[str, str]:
    """Return why nodes lose a divisor: those with a finding in that type alone, and those that make it zero there."""
    before = {one.key for one in plain.findings}
    makers = {name: node for node in model.graph.node for name in node.output if name}
    named = {name_of(node) for node in model.graph.node}
    why: dict[str, str] = {}
    for one in narrowed.findings:
        if one.scope or one.key in before or one.node not in named:
            continue
        why.setdefault(one.node, one.rule)
        waiting, seen = [one.divisor], set[str]()
        while waiting:  # What makes zeros in the narrower type alone.
            name = waiting.pop()
            node, wide, narrow = makers.get(name), plain.values.get(name), narrowed.values.get(name)
            if node is None or wide is None or narrow is None or name in seen:
                continue
            seen.add(name)
            if narrow.may_zero and not wide.may_zero and narrow.constant is None:
                why.setdefault(name_of(node), f"{node.output[0]} can be zero, which it cannot in float32")
                waiting += node.input
    return why
