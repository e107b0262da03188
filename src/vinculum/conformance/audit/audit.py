"""Audits of models: read the file, expose the divisions, run them in a subprocess, recompute the quotients."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from vinculum.arguments import checked_arguments
from vinculum.conformance.audit.recomputation import merged, record, shown, suspects, unobserved
from vinculum.conformance.audit.record import Audit, EdgeRuns, NodeRecord
from vinculum.conformance.audit.taps import AuditedModel, Layout, Tap
from vinculum.conformance.runtimes.backends import STARTED, check_usable, names, parsed, runtime
from vinculum.conformance.runtimes.protocol import ModelRuntime
from vinculum.errors import DifferenceError, ModelError, SpecLookupError
from vinculum.models.model import Model
from vinculum.models.onnx.file import write_model
from vinculum.models.rewritten import target_file
from vinculum.models.sampling.comparison import check_equal
from vinculum.models.sampling.drawn_inputs import dimension_sizes, drawn_inputs
from vinculum.models.sampling.input_sets import edge_sets
from vinculum.models.source import ModelSource, any_source, naming, read_source
from vinculum.models.values import validated_inputs
from vinculum.sandbox import Answer, End, Isolated, Limits
from vinculum.tensors.storage import as_operand
from vinculum.text import quoted

_OPENVINO_IR = "vinculum.conformance.audit.openvino_subject:OpenVinoAudit"
_folder = partial(TemporaryDirectory, prefix="vinculum-")
_SECONDS = 60.0
"""The time after which no further set of edge cases is started."""
_LEAST_LIMIT, _TIMES = 10.0, 10
"""The least limit of a run on edge cases in seconds, and the limit as a multiple of the time for the inputs."""


class Auditor:
    """Audits one model in one runtime.

    - `file`: An ONNX file, or for OpenVINO an IR.
    - `backend`: A runtime that runs ONNX models, with options in the syntax of
      `vinculum.conformance.runtimes.backends`.
    - `limits`: The limits of the runtime for each of its two runs on the inputs.
    - `expand`: Whether to replace nodes that divide internally by the function bodies with which ONNX defines them.

    SpecLookupError, AttributeValueError if the backend is unknown, cannot run models, or lacks an option. ModelError,
    ElementTypeError, BroadcastError if its package is not installed, or it cannot audit the model in the file.
    """

    def __init__(self, file: Path, backend: str, limits: Limits, *, expand: bool = False) -> None:
        self._backend, self._limits, self._expand = backend, limits, expand
        made = runtime(backend)
        if not isinstance(made, ModelRuntime):
            able = ", ".join(name for name in names() if isinstance(runtime(name), ModelRuntime))
            allowed = f"allowed: {able}, or package.module:attribute, an ONNX backend"
            raise SpecLookupError(f"{quoted(backend)} cannot run models, so it cannot be audited; {allowed}")
        check_usable(backend, made)
        self._runtime = made
        self._factory: tuple[Any, ...] = (STARTED, backend)
        self.subject: AuditedModel = self._read(file)

    def audit(self, inputs: Mapping[str, Any], edges: Iterable[Mapping[str, Any]] = ()) -> Audit:
        """Run the model and return the results.

        - `inputs`: The inputs for a run of the original model and one of the exposed model, whose outputs are compared.
        - `edges`: Sets of edge cases for the exposed model. If the runtime crashes or refuses a set, the set is run
          again without 0 among the integer inputs that are divisors, then also without -1. Skipped sets are counted.

        ModelError, ElementTypeError, BroadcastError if they are not inputs of the model, or if the runtime treats one
        of them as a constant.
        """
        subject = self.subject
        given = validated_inputs(subject.inputs, inputs)
        for tensor in subject.inputs if parsed(self._backend)[0] == "openvino" else ():
            if tensor.optional and tensor.name in given:
                why = "has a value in the model, which OpenVINO treats as a constant"
                raise ModelError(f"input {quoted(tensor.name)} {why}; do not give it")
        if not subject.taps:
            return self._audit((), Answer(End.RETURNED), Answer(End.RETURNED), 0.0)
        start = perf_counter()
        with _folder() as folder, self._process() as process:
            runs = Runs(subject, process, self._runtime.title, folder)
            plain, exposed = runs.both(given)
            subject, took = runs.subject, perf_counter() - start
            nodes = [
                record(tap, given, exposed.value, process)
                if exposed.end is End.RETURNED
                else unobserved(tap, tap.unobserved or f"{self._runtime.title} returned no outputs")
                for tap in subject.taps
            ]
            tried = EdgeRuns()
            if exposed.end is not End.HUNG:
                seconds = min(self._limits.seconds, max(_LEAST_LIMIT, _TIMES * took))
                tried, nodes = _edge_runs(runs, _drawn(edges), process, seconds, nodes)
        changed: tuple[str, ...] = ()
        if plain.end is exposed.end is End.RETURNED:
            changed = _changed(subject, plain.value, exposed.value)
        met = suspects(subject.file, given) if exposed.end in (End.CRASHED, End.REFUSED) else ()
        found = (*met, *shown(subject.taps, given)) if met else ()
        seconds = perf_counter() - start
        return replace(self._audit(tuple(nodes), plain, exposed, seconds), changed=changed, suspects=found, edges=tried)

    def _audit(self, nodes: tuple[NodeRecord, ...], plain: Answer, exposed: Answer, seconds: float) -> Audit:
        return Audit(
            model=str(self.subject.file),
            backend=self._backend,
            title=self._runtime.title,
            versions=self._runtime.versions(),
            nodes=nodes,
            plain=replace(plain, value=None),
            exposed=replace(exposed, value=None),
            seconds=seconds,
            inner=self.subject.inner,
            expanded=self.subject.expanded,
            guarded=any(tap.guarded for tap in self.subject.taps),
        )

    def _process(self) -> Isolated:
        return Isolated(*self._factory, limits=self._limits)

    def _read(self, file: Path) -> AuditedModel:
        source = read_source(file)
        if source.onnx is not None:
            from vinculum.conformance.audit.onnx_subject import onnx_subject

            with naming(file):
                return onnx_subject(source, expand=self._expand)
        name, options = parsed(self._backend)
        if name != "openvino":
            raise ModelError(f"model {str(file)!r} is OpenVINO IR, which {self._runtime.title} does not read")
        if self._expand:
            raise ModelError(f"model {str(file)!r} is OpenVINO IR, whose layers have no bodies; leave --expand out")
        self._factory = (_OPENVINO_IR, options)
        with self._process() as process:
            answer = process.call("subject", file.absolute())
        if answer.end is not End.RETURNED:
            raise ModelError(f"model {str(file)!r} is not read by {self._runtime.title}: {end_in_words(answer)}")
        subject: AuditedModel = answer.value
        return replace(subject, file=file)


def _edge_runs(
    runs: Runs, edges: Iterable[Mapping[str, Any]], process: Isolated, seconds: float, nodes: list[NodeRecord]
) -> tuple[EdgeRuns, list[NodeRecord]]:
    """Return how the runs on edge cases ended, and the records with their verdicts added."""
    taps, tried = runs.subject.taps, EdgeRuns()
    found = [list[NodeRecord]() for _ in taps]
    alone = [node.alone for node in nodes]
    end = perf_counter() + _SECONDS
    for given in edges:
        if perf_counter() > end:
            break
        first: Answer | None = None
        for inputs in _with_fewer_hazards(taps, validated_inputs(runs.subject.inputs, given)):
            answer = runs.exposed(inputs, seconds)
            if answer.end is End.RETURNED:
                break
            first = first or answer
            if answer.end is End.CRASHED and tried.died is None:
                met = (*suspects(runs.subject.file, inputs), *shown(taps, inputs))
                tried = replace(tried, died=answer, suspects=met)
            if answer.end not in (End.CRASHED, End.REFUSED):
                break
        returned = answer.end is End.RETURNED
        skipped = tried.skipped or (None if returned else first)
        tried = replace(tried, sets=tried.sets + 1, compared=tried.compared + returned, skipped=skipped)
        for place, tap in enumerate(taps if returned else ()):
            one = record(tap, inputs, answer.value, process if alone[place] is None else None)
            alone[place] = alone[place] or one.alone
            found[place].append(one)
    told = []
    for node, own, by_itself in zip(nodes, found, alone, strict=True):
        sizes = sorted({size for one in (node, *own) for size in one.sizes})
        told.append(replace(node, edges=merged(own), alone=by_itself, sizes=tuple(sizes)))
    return tried, told


def _drawn(edges: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the sets up to an error: for some inputs none can be generated, or they exceed 1 GiB."""
    with suppress(ModelError):
        yield from edges


def _with_fewer_hazards(taps: Sequence[Tap], inputs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield inputs, then variants without 0 and without 0 and -1 in the integer inputs that are divisors."""
    yield inputs
    divisors = {tap.divisor for tap in taps}
    types = {name: inputs[name].dtype.name for name in inputs if name in divisors}
    signed, unsigned = ([name for name in types if types[name].startswith(kind)] for kind in ("int", "uint"))
    tame = dict(inputs)
    for forbidden, integers in ((0, [*signed, *unsigned]), (-1, signed)):
        before = dict(tame)
        for name in integers:
            kind = inputs[name].dtype
            met = tame[name] == np.array(forbidden).astype(kind)
            tame[name] = np.where(met, kind.type(3), tame[name]) if met.any() else tame[name]
        if any(tame[name] is not before[name] for name in integers):
            yield dict(tame)


def _changed(subject: AuditedModel, plain: list[Any], exposed: list[Any]) -> tuple[str, ...]:
    """Return a sentence for each output that changes when the divisions are exposed."""
    sentences = []
    sides = ("the model as it is", "the model with its divisions exposed")
    for name, before, after in zip(subject.outputs, plain, exposed, strict=False):
        try:
            check_equal(f"output {quoted(name)}", before, after, sides)
        except DifferenceError as error:
            sentences.append(str(error))
    return tuple(sentences)


class Runs:
    """Runs a model.

    - `folder`: The folder for the file of the exposed model.
    - `subject`: The model as it was exposed last.
    """

    def __init__(self, subject: AuditedModel, process: Isolated, title: str, folder: str) -> None:
        self.subject = subject
        self._process, self._title, self._folder = process, title, folder
        self._written: AuditedModel | None = None

    def both(self, inputs: Mapping[str, Any]) -> tuple[Answer, Answer]:
        """Return the answers of the original model and of the exposed one.

        If the runtime fails on the exposed model, it is run again without exposed values in bodies. A model that hangs
        unexposed is not run again.

        ModelError if the exposed model cannot be written.
        """
        plain = self._process.call("run_model", self.subject.file.absolute(), inputs)
        if plain.end is End.HUNG:
            return plain, plain
        exposed = self.exposed(inputs)
        hopeless = exposed.end is End.HUNG and plain.end is not End.RETURNED
        in_bodies = any(tap.layout is not Layout.AS_THEY_ARE for tap in self.subject.taps)
        if exposed.end is not End.RETURNED and in_bodies and not hopeless:
            why = f"{self._title} does not run the model with its divisions exposed: {end_in_words(exposed)}"
            self.subject = _without_bodies(self.subject, why)
            exposed = self.exposed(inputs)
        return plain, exposed

    def exposed(self, inputs: Mapping[str, Any], seconds: float | None = None) -> Answer:
        """Return the answer of the exposed model, within `seconds` or, if None, the process's time limit."""
        if self.subject.exposed is None:
            return self._process.call("run_exposed", self.subject.file.absolute(), inputs, seconds=seconds)
        path = Path(self._folder) / "exposed.onnx"
        if self._written is not self.subject:
            try:
                write_model(self.subject.exposed, path)
            except OSError as error:
                raise ModelError(f"the model with its divisions exposed cannot be written: {error}") from None
            self._written = self.subject
        answer = self._process.call("run_model", path, inputs, seconds=seconds)
        return replace(answer, words=answer.words.replace(f"{self._folder}{os.sep}", ""))


def end_in_words(answer: Answer) -> str:
    """Return how a call ended: ``"crashed (SIGFPE)"``."""
    return f"{answer.end.value} ({answer.words})" if answer.words else answer.end.value


def _without_bodies(subject: AuditedModel, why: str) -> AuditedModel:
    """Return the model without exposed values in bodies, and with the reason in the taps of their divisions."""
    from vinculum.conformance.audit.onnx_subject import onnx_subject

    plainer = onnx_subject(read_source(subject.file), with_bodies=False, expand=subject.expanded > 0)
    taps = [
        replace(after, unobserved=f"{after.unobserved}; {why}") if after.unobserved and not before.unobserved else after
        for before, after in zip(subject.taps, plainer.taps, strict=True)
    ]
    return replace(plainer, taps=tuple(taps))


MEMORY = 32 << 30
"""Bytes; as models may be large, the limit only stops processes that grow without end."""


@checked_arguments
def audit(
    model: ModelSource,
    *,
    backend: str,
    inputs: Mapping[str, Any] | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    sets: int = 12,
    expand: bool = False,
    limit: float = 300.0,
) -> Audit:
    """Run a model in another runtime, on inputs and on edge cases, and compare each quotient with the exact one.

    Parameters
    ----------
    model : path, bytes, ModelProto, ExportedProgram or Model
        As `vinculum.check` takes it; for OpenVINO also an IR.
    backend : str
        The runtime: ``"onnxruntime"``, ``"openvino"``, ``"openvino[device=GPU]"``, ``"package.module:attribute"``.
    inputs : Mapping of str to array, optional
        The inputs by name; those left out are drawn.
    seed : int
        The seed of the edge cases and of the drawn inputs.
    dims : Mapping of str to int, optional
        The sizes of symbolic dimensions; about 1,000 if left out.
    sets : int
        How many sets of edge cases to run besides, each once.
    expand : bool
        Whether nodes that divide inside are replaced by their ONNX function bodies, which are audited.
    limit : float
        Seconds that each run on the inputs may take.

    Returns
    -------
    Audit
        ``.nodes``, what each division gave; ``.finds``, whether a quotient is wrong or a run failed or crashed.

    Raises
    ------
    SpecLookupError, AttributeValueError
        If there is no such runtime or option, or it cannot run models.
    ModelError, ElementTypeError, BroadcastError
        If its package is not installed, the model cannot be audited, or the inputs are not the model's.
    """
    if isinstance(model, Model):
        model = model.source
    if not isinstance(model, str | PathLike):
        with target_file("onnx") as file:
            write_model(any_source(model).complete(), file)
            found = audit(
                file, backend=backend, inputs=inputs, seed=seed, dims=dims, sets=sets, expand=expand, limit=limit
            )
        return replace(found, model="(in memory)")
    auditor = Auditor(Path(model), backend, Limits(seconds=limit, memory=MEMORY), expand=expand)
    declared = auditor.subject.inputs
    arrays = {name: as_operand(array, f"input {quoted(name)}") for name, array in (inputs or {}).items()}
    options = [f"{name}={size}" for name, size in (dims or {}).items()]
    drawn = drawn_inputs(declared, arrays, seed, dimension_sizes(options, declared, arrays), large=True)
    edges = edge_sets(declared, dimension_sizes(options, declared, {}), seed)
    return auditor.audit(arrays | {name: one.array for name, one in drawn.items()}, islice(edges, sets))
