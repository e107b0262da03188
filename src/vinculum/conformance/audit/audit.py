"""An audit from its file to its record: read, exposed, run in a process of its own, recomputed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from onnx import ModelProto

from vinculum.conformance.audit.points import Subject
from vinculum.conformance.audit.recomputation import record
from vinculum.conformance.audit.record import Audit, NodeRecord, Run
from vinculum.conformance.audit.suspects import suspects
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.conformance.runtimes.registry import parsed, runtime
from vinculum.errors import DifferenceError, ModelError, SpecLookupError
from vinculum.models.differences import check_equal
from vinculum.models.inputs import admit
from vinculum.models.isolation import Answer, End, Isolated, Limits
from vinculum.models.messages import quoted
from vinculum.models.model_file import content_of, is_openvino_ir
from vinculum.models.onnx_file import write_whole
from vinculum.models.openvino_xml import read_net

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
        given = admit(subject.inputs, inputs)
        self._check_constants(given)
        if not subject.points:
            return self._audit((), Answer(End.RETURNED), Answer(End.RETURNED), 0.0)
        start = perf_counter()
        with self._process() as process, _staged(subject.exposed) as path:
            plain = process.call("run", subject.file.absolute(), given)
            exposed = plain if plain.end is End.HUNG else self._exposed_run(process, path, given)
            seconds = perf_counter() - start
            if exposed.end is not End.RETURNED:
                if plain.end is End.RETURNED and subject.exposes_bodies:
                    self.subject = self._without_bodies()
                    return self.audit(inputs)
                return self._without_values(plain, exposed, seconds, given)
            nodes = tuple(record(point, given, exposed.value, process) for point in subject.points)
        changed = _changed(subject, plain.value, exposed.value) if plain.end is End.RETURNED else ()
        return self._audit(nodes, plain, exposed, seconds, changed=changed)

    def _check_constants(self, inputs: Mapping[str, Any]) -> None:
        """Refuse what would be ignored."""
        for tensor in self.subject.inputs:
            if tensor.optional and tensor.name in inputs and self._maker == _MAKERS["openvino"]:
                why = "has a value in the model, and OpenVINO takes that for a constant"
                raise ModelError(f"input {quoted(tensor.name)} {why}; do not give it")

    def _exposed_run(self, process: Isolated, path: Path | None, inputs: Mapping[str, Any]) -> Answer:
        if path is None:
            return process.call("run_exposed", self.subject.file.absolute(), inputs)
        return process.call("run", path, inputs)

    def _without_bodies(self) -> Subject:
        """Return the model without what the runtime does not take, which its bodies may be that hand out values."""
        from vinculum.conformance.audit.onnx_subject import onnx_subject

        return onnx_subject(self.subject.file, with_bodies=False)

    def _without_values(self, plain: Answer, exposed: Answer, seconds: float, given: Mapping[str, Any]) -> Audit:
        reason = f"{self._runtime.title} handed out nothing"
        points = self.subject.points
        nodes = tuple(
            NodeRecord(p.division, p.division.element_type, unobserved=p.unobserved or reason) for p in points
        )
        asked = exposed.end in (End.CRASHED, End.REFUSED)
        found = suspects(self.subject.engine(), given) if asked else ()
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
        content = content_of(file)
        if not is_openvino_ir(file, content):
            from vinculum.conformance.audit.onnx_subject import onnx_subject

            return onnx_subject(file)
        if name != "openvino":
            raise ModelError(f"model {str(file)!r} is OpenVINO IR, which {self._runtime.title} does not read")
        read_net(content)  # What is malformed is told in our words.
        from vinculum.conformance.audit.openvino_subject import openvino_subject

        with self._process() as process:
            facts = process.call("facts", file.absolute())
        if facts.end is not End.RETURNED:
            ended = f"{facts.end.value} ({facts.words})" if facts.words else facts.end.value
            raise ModelError(f"model {str(file)!r} is not read by {self._runtime.title}: {ended}")
        return openvino_subject(file, facts.value)


@contextmanager
def _staged(model: ModelProto | None) -> Iterator[Path | None]:
    """Write a model into a folder that is there for as long as it is needed; None if there is none."""
    if model is None:
        yield None
        return
    with TemporaryDirectory(prefix="vinculum-") as folder:
        path = Path(folder) / "exposed.onnx"
        write_whole(model, path)
        yield path


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
