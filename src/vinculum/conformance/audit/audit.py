"""An audit from its file to its record: read, exposed, run in a process of its own, recomputed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from vinculum.conformance.audit.points import Subject
from vinculum.conformance.audit.recomputation import record
from vinculum.conformance.audit.record import Audit, NodeRecord, Run
from vinculum.conformance.audit.runs import both_runs, end_in_words
from vinculum.conformance.audit.suspects import suspects
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.conformance.runtimes.registry import parsed, runtime
from vinculum.errors import DifferenceError, ModelError, SpecLookupError
from vinculum.models.openvino_ir.xml import read_net
from vinculum.models.sampling.comparison import check_equal
from vinculum.models.source import read_source
from vinculum.models.values import validated_inputs
from vinculum.sandbox import Answer, End, Isolated, Limits
from vinculum.text import quoted

_ROOM = "vinculum.conformance.audit"
_MAKERS = {
    "onnxruntime": f"{_ROOM}.onnxruntime_audit:OnnxRuntimeAudit",
    "openvino": f"{_ROOM}.openvino_audit:OpenVinoAudit",
}
RUNTIMES = tuple(_MAKERS)
"""The backends whose whole models can be audited."""


class Auditor:
    """Audits one model in one runtime.

    Parameters
    ----------
    file : Path
        An ONNX file, or for OpenVINO an IR.
    backend : str
        ``"onnxruntime"`` or ``"openvino"``, with options as `vinculum.conformance.runtimes.registry` reads them.
    limits : Limits
        What the runtime may take for each of its two runs.

    Raises
    ------
    SpecLookupError, AttributeValueError
        If there is no such backend, or it has no such option.
    ModelError, ElementTypeError, BroadcastError
        If its package is not installed, or the file is not a model that can be audited there.
    """

    def __init__(self, file: Path, backend: str, limits: Limits) -> None:
        name, self._options = parsed(backend)
        if name not in RUNTIMES:
            raise SpecLookupError(f"models are not audited in {quoted(name)}; allowed: {', '.join(RUNTIMES)}")
        self._maker, self._backend, self._limits = _MAKERS[name], backend, limits
        self._runtime: Runtime = runtime(backend)
        self._runtime.check()
        self.subject: Subject = self._read(file, name)

    def audit(self, inputs: Mapping[str, Any]) -> Audit:
        """Return what runs of the model on these inputs show.

        Raises
        ------
        ModelError, ElementTypeError, BroadcastError
            If they are not inputs of the model, or one that the runtime takes for a constant.
        """
        subject = self.subject
        given = validated_inputs(subject.inputs, inputs)
        self._check_constants(given)
        if not subject.points:
            return self._audit((), Answer(End.RETURNED), Answer(End.RETURNED), 0.0)
        start = perf_counter()
        with self._process() as process:
            subject, plain, exposed = both_runs(subject, given, process, self._runtime.title)
            seconds = perf_counter() - start
            if exposed.end is not End.RETURNED:
                return self._without_values(subject, plain, exposed, seconds, given)
            nodes = tuple(record(point, given, exposed.value, process) for point in subject.points)
        changed = _changed(subject, plain.value, exposed.value) if plain.end is End.RETURNED else ()
        return self._audit(nodes, plain, exposed, seconds, changed=changed)

    def _check_constants(self, inputs: Mapping[str, Any]) -> None:
        """Refuse what would be ignored."""
        for tensor in self.subject.inputs:
            if tensor.optional and tensor.name in inputs and self._maker == _MAKERS["openvino"]:
                why = "has a value in the model, and OpenVINO takes that for a constant"
                raise ModelError(f"input {quoted(tensor.name)} {why}; do not give it")

    def _without_values(
        self, subject: Subject, plain: Answer, exposed: Answer, seconds: float, given: Mapping[str, Any]
    ) -> Audit:
        reason = f"{self._runtime.title} returned no outputs"
        nodes = tuple(
            NodeRecord(p.division, p.division.element_type, unobserved=p.unobserved or reason) for p in subject.points
        )
        asked = exposed.end in (End.CRASHED, End.REFUSED)
        found = suspects(subject.file, given) if asked else ()
        return self._audit(nodes, plain, exposed, seconds, suspects=found)

    def _audit(
        self, nodes: tuple[NodeRecord, ...], plain: Answer, exposed: Answer, seconds: float, **found: tuple[str, ...]
    ) -> Audit:
        return Audit(
            model=str(self.subject.file),
            backend=self._backend,
            title=self._runtime.title,
            versions=self._runtime.versions(),
            nodes=nodes,
            plain=Run(plain.end, plain.words),
            exposed=Run(exposed.end, exposed.words),
            seconds=seconds,
            **found,
        )

    def _process(self) -> Isolated:
        return Isolated(self._maker, self._options, limits=self._limits)

    def _read(self, file: Path, name: str) -> Subject:
        source = read_source(file)
        if source.onnx is not None:
            from vinculum.conformance.audit.onnx_subject import onnx_subject

            return onnx_subject(source)
        if name != "openvino":
            raise ModelError(f"model {str(file)!r} is OpenVINO IR, which {self._runtime.title} does not read")
        read_net(source.content)  # A malformed model gets our own error message.
        from vinculum.conformance.audit.openvino_subject import openvino_subject

        with self._process() as process:
            facts = process.call("facts", file.absolute())
        if facts.end is not End.RETURNED:
            raise ModelError(f"model {str(file)!r} is not read by {self._runtime.title}: {end_in_words(facts)}")
        return openvino_subject(file, facts.value)


def _changed(subject: Subject, plain: list[Any], exposed: list[Any]) -> tuple[str, ...]:
    """Return the sentences that tell which outputs are others once the divisions are exposed."""
    sentences = []
    sides = ("the model as it is", "the model with its divisions exposed")
    for name, before, after in zip(subject.outputs, plain, exposed, strict=False):
        try:
            check_equal(f"output {quoted(name)}", before, after, sides)
        except DifferenceError as error:
            sentences.append(str(error))
    return tuple(sentences)
