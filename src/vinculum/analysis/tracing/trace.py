"""A model run in our engine and in ONNX Runtime, and the first node in each that goes wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from vinculum.analysis.findings import Effect
from vinculum.analysis.hazards.hazard import DIVISOR
from vinculum.analysis.places import frames, path
from vinculum.analysis.tracing.record import EngineTrace, Event, Kind, Operand, Summary, TraceReport
from vinculum.arguments import checked_arguments
from vinculum.errors import AttributeValueError, ModelError, VinculumError
from vinculum.models.engines.exposed import ExposedModel, onnxruntime_title
from vinculum.models.execution import DivisionRecord
from vinculum.models.onnx.functions import inlined
from vinculum.models.onnx.model import model_of
from vinculum.models.onnx.scopes import name_of, steps
from vinculum.models.onnx.tensors import array_of
from vinculum.models.source import ModelSource, SourceFile, any_source
from vinculum.models.values import validated_inputs
from vinculum.sandbox import End, Isolated, Limits
from vinculum.text import one_line, pip_install

if TYPE_CHECKING:
    from onnx import ModelProto

ENGINES = ("reference", "onnxruntime")
_BATCH = 256 << 20  # Bytes of values that are exposed together.
_UNKNOWN = 1 << 20  # The size of a value, in bytes, that no other engine has reported.
_LIMITS = Limits(seconds=600.0, memory=32 << 30)
# By position rather than by element, or a choice: that an element is like an operand's at the same index means nothing.
_ELSEWHERE = frozenset({"MatMul", "Gemm", "Conv", "ConvTranspose", "Transpose", "Gather", "Softmax", "LogSoftmax"})


@checked_arguments
def trace(
    model: ModelSource | SourceFile,
    inputs: Mapping[str, Any],
    *,
    engines: Sequence[str] = ENGINES,
) -> TraceReport:
    """Return the first nodes of a run that make an infinity or NaN, or divide by zero, with their operands.

    Every value of the main graph is examined, functions inlined, in processes of their own. ONNX Runtime runs the
    model unchanged except for its outputs: values that are exposed are not optimised away.

    Parameters
    ----------
    model : path, bytes, ModelProto, ExportedProgram or Model
        As `vinculum.check` takes it. It is not changed.
    inputs : Mapping of str to array
        As `Model.run` takes them.
    engines : sequence of {"reference", "onnxruntime"}
        The engines to run it in: ours, and ONNX Runtime if it is installed.

    Raises
    ------
    ModelError, ElementTypeError, BroadcastError
        If the model or the inputs cannot be read, or no engine can run them.
    AttributeValueError
        If an engine is none of those above.
    """
    unknown = [engine for engine in engines if engine not in ENGINES]
    if unknown or not engines:
        given = unknown[0] if unknown else "none"
        raise AttributeValueError(f"the engine is {given!r}; allowed: {', '.join(map(repr, ENGINES))}")
    source = any_source(model)
    tracer = _Tracer(source, inputs)
    traces = [tracer.trace(engine) for engine in dict.fromkeys(engines)]
    if all(one.refused and not one.died for one in traces):
        raise ModelError(f"the model cannot be traced: {traces[0].refused}")
    return TraceReport(tracer.not_finite(), tuple(traces), len(tracer.nodes), str(source.path))


class _Tracer:
    def __init__(self, source: SourceFile, inputs: Mapping[str, Any]) -> None:
        proto = inlined(source.complete("analysed"))
        self._content = proto.SerializeToString()
        self._inputs = validated_inputs(model_of(deepcopy(proto), source.path).inputs, inputs)
        self._constants = _constants(proto)
        self._outputs = [value.name for value in proto.graph.output]
        self.nodes = list(proto.graph.node)
        self._producers = {name: node for node in self.nodes for name in node.output if name}
        self._sizes: dict[str, int] = {}
        tensors = {name: value for name, value in self._inputs.items() if isinstance(value, np.ndarray)}
        self._given = {name: summary(name, value) for name, value in {**self._constants, **tensors}.items()}

    def not_finite(self) -> tuple[Summary, ...]:
        """Return the inputs that hold NaN or infinities."""
        found = [self._given[name] for name in self._inputs if name in self._given]
        return tuple(one for one in found if one.nan or one.infinite)

    def trace(self, engine: str) -> EngineTrace:
        """Return the result of a run in an engine."""
        title = "vinculum" if engine == "reference" else onnxruntime_title()
        if not title:
            return EngineTrace(engine, refused=f"it is not installed: {pip_install(engine)}")
        maker = f"{Looker.__module__}:{Looker.__name__}"
        with Isolated(maker, engine, self._content, limits=_LIMITS, called=title) as process:
            try:
                return self._traced(title, process)
            except _EndedError as ended:
                return EngineTrace(title, refused=str(ended), died=ended.died)
            except VinculumError as error:
                return EngineTrace(title, refused=one_line(error))

    def _traced(self, title: str, process: Isolated) -> EngineTrace:
        known = dict(self._given)
        wanted = [name for node in self.nodes for name in node.output if name and name not in known]
        inner: tuple[Event, ...] = ()
        for batch in self._batches(wanted):
            found, zeros = _answer(process, "look", batch, self._inputs)
            known |= found
            inner = inner or zeros  # Every batch runs the whole model.
        self._sizes |= {name: one.bytes for name, one in known.items()}
        effects = tuple(
            Effect(name, "NaN" if one.nan else "infinite", one.nan or one.infinite)
            for name in self._outputs
            if (one := known.get(name)) is not None and (one.nan or one.infinite)
        )
        return EngineTrace(title, tuple(self._events(known, inner, process)), effects)

    def _batches(self, names: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        taken = 0
        for name in names:
            size = self._sizes.get(name, _UNKNOWN)
            if batch and taken + size > _BATCH:
                yield batch
                batch, taken = [], 0
            batch.append(name)
            taken += size
        if batch or not names:
            yield batch or self._outputs

    def _events(self, known: Mapping[str, Summary], inner: Iterable[Event], process: Isolated) -> Iterator[Event]:
        first = self._first(known)
        places = [(place, zero) for zero in inner if (place := self._place(zero.scope)) is not None]
        earliest = min(places, key=lambda one: one[0], default=None)
        events: list[Event] = []
        if earliest is not None and earliest[0] < first.get(Kind.ZERO_DIVISOR, len(self.nodes)):
            first.pop(Kind.ZERO_DIVISOR, None)
            place, zero = earliest
            value = next(iter(self.nodes[place].output), "")
            events.append(self._placed(replace(zero, value=value), place, value))
        events += [self._event(kind, place, known, process) for kind, place in first.items()]
        order = list(Kind)
        yield from sorted(events, key=lambda event: (event.place, order.index(event.kind)))

    def _first(self, known: Mapping[str, Summary]) -> dict[Kind, int]:
        """Return the first node of the main graph that makes each kind."""
        first: dict[Kind, int] = {}
        for place, node in enumerate(self.nodes):
            if node.op_type == "Constant":
                continue
            operands = [known[name] for name in node.input if name in known]
            results = [known[name] for name in node.output if name in known]
            nan, infinite = any(o.nan for o in operands), any(o.infinite for o in operands)
            divides = not node.domain and node.op_type in DIVISOR
            divisor = known.get(node.input[DIVISOR[node.op_type]]) if divides else None
            if divisor is not None and divisor.zeros and any(np.prod(r.shape) for r in results):
                first.setdefault(Kind.ZERO_DIVISOR, place)
            if not nan and any(r.nan for r in results):
                first.setdefault(Kind.NAN, place)
            if not nan and not infinite and any(r.infinite for r in results):
                first.setdefault(Kind.INFINITY, place)
        return first

    def _event(self, kind: Kind, place: int, known: Mapping[str, Summary], process: Isolated) -> Event:
        node = self.nodes[place]
        operands = [name for name in node.input if name in known]
        results = [known[name] for name in node.output if name in known]
        if kind is Kind.ZERO_DIVISOR:
            operands = operands[: DIVISOR[node.op_type] + 1]
        wrong = next(
            (r for r in results if (kind is Kind.NAN and r.nan) or (kind is Kind.INFINITY and r.infinite)), results[0]
        )
        constants = {name: self._constants[name] for name in operands if name in self._constants}
        found: Event = _answer(process, "detail", kind, wrong.name, operands, constants, self._inputs)
        by_name = {operand.summary.name: operand for operand in found.operands}
        told = tuple(by_name[name] for name in operands)  # One may stand there twice.
        if node.op_type in _ELSEWHERE or node.op_type.startswith(("Reduce", "Arg", "Cum")):
            told = tuple(replace(operand, index=None, value=None) for operand in told)
        made = replace(found, node=name_of(node), operator=node.op_type, operands=told)
        return self._placed(made, place, operands[-1] if kind is Kind.ZERO_DIVISOR else wrong.name)

    def _placed(self, event: Event, place: int, goal: str) -> Event:
        """Return an event with the place of its node, and the way from an input to a value."""
        way = path(goal, self._producers, frozenset(self._inputs))
        return replace(event, place=place, path=way, frames=frames(self.nodes[place]))

    def _place(self, scope: str) -> int | None:
        """Return which node of the main graph a scope is in."""
        holder = {step: node for node, step in steps(self.nodes)}.get(scope.partition(":")[0])
        return next((place for place, node in enumerate(self.nodes) if node is holder), None)


class _EndedError(Exception):
    """A process did not return."""

    def __init__(self, words: str, died: bool) -> None:
        super().__init__(words)
        self.died = died


def _answer(process: Isolated, method: str, *arguments: object) -> Any:
    answer = process.call(method, *arguments)
    if answer.end is End.RETURNED:
        return answer.value
    words = answer.words if answer.end is End.REFUSED else f"{answer.end.value}: {answer.words}"
    raise _EndedError(words, answer.end is End.CRASHED)


def _constants(model: ModelProto) -> dict[str, NDArray[Any]]:
    inputs = {value.name for value in model.graph.input}
    return {
        tensor.name: array_of(tensor)
        for tensor in model.graph.initializer
        if tensor.name not in inputs and tensor.data_type != TensorProto.STRING
    }


class Looker:
    """A complete model in an engine; made to live in a process of its own."""

    def __init__(self, engine: str, content: bytes) -> None:
        self._inner: dict[tuple[str, str], Event] = {}
        self._model = ExposedModel(engine, content, self._observe)

    def look(self, names: Sequence[str], inputs: Mapping[str, Any]) -> tuple[dict[str, Summary], tuple[Event, ...]]:
        """Return summaries of values, and the first division by zero of each node outside the main graph."""
        self._inner.clear()
        values = self._model.values(names, inputs)
        found = {name: summary(name, value) for name, value in values.items() if isinstance(value, np.ndarray)}
        return found, tuple(self._inner.values())

    def detail(
        self, kind: Kind, result: str, operands: Sequence[str], constants: Mapping[str, Any], inputs: Mapping[str, Any]
    ) -> Event:
        """Return the first element of a result that went wrong, and what it was computed from.

        - `operands`: of a zero divisor that is the last one.
        """
        names = [result, *(name for name in operands if name not in constants)]
        values = {**constants, **inputs, **self._model.values(names, inputs)}
        given = {name: np.asarray(values[name]) for name in operands if name in values}
        return _event(kind, result, values[result], given)

    def _observe(self, record: DivisionRecord) -> None:
        division = record.division
        if not division.path or (division.path, division.name) in self._inner or bool((record.divisor != 0).all()):
            return
        operands = {} if record.dividend is None else {"dividend": record.dividend}
        found = _event(Kind.ZERO_DIVISOR, "", record.quotient, {**operands, "divisor": record.divisor})
        if found.index is not None:
            found = replace(found, node=division.name, operator=division.spec.name, scope=division.path)
            self._inner[division.path, division.name] = found


def summary(name: str, value: NDArray[Any]) -> Summary:
    """Return a summary of a tensor."""
    if value.dtype.kind in "OUSTc" or not value.size:
        return Summary(name, value.dtype.name, value.shape, 0, 0, 0, np.nan, np.nan, value.nbytes)
    nan = np.isnan(value) if is_float(value) else np.zeros((), bool)
    infinite = int(np.isinf(value).sum()) if is_float(value) else 0
    numbers = value[~nan] if nan.any() else value
    ends = (float(numbers.min()), float(numbers.max())) if numbers.size else (np.nan, np.nan)
    zeros = int((value == 0).sum())
    return Summary(name, value.dtype.name, value.shape, zeros, int(nan.sum()), infinite, *ends, value.nbytes)


def is_float(value: NDArray[Any]) -> bool:
    """Tell whether elements can be NaN."""
    return "float" in value.dtype.name


def _event(kind: Kind, value: str, result: NDArray[Any], operands: Mapping[str, NDArray[Any]]) -> Event:
    """Return what went wrong in a result, and where first; without the node, its place, and the way to it."""
    wrong = _wrong(kind, result, operands)
    if wrong is None or not wrong.any():
        told = tuple(Operand(summary(*one)) for one in operands.items())
        return Event(kind, "", "", "", 0, value, None, None, 0, result.size, result.dtype.name, told, (), ())
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), result.shape))
    told = tuple(_operand(name, array, index, result.shape) for name, array in operands.items())
    count, element_type = int(wrong.sum()), result.dtype.name
    return Event(
        kind, "", "", "", 0, value, index, float(result[index]), count, result.size, element_type, told, (), ()
    )


def _wrong(kind: Kind, result: NDArray[Any], operands: Mapping[str, NDArray[Any]]) -> NDArray[Any] | None:
    if kind is not Kind.ZERO_DIVISOR:
        return np.asarray(np.isnan(result) if kind is Kind.NAN else np.isinf(result))
    divisor = list(operands.values())[-1]
    try:
        return np.asarray(np.broadcast_to(divisor == 0, result.shape))
    except ValueError:  # Before operator set 7 a divisor may stand elsewhere in the dividend.
        return None


def _operand(name: str, value: NDArray[Any], index: tuple[int, ...], shape: tuple[int, ...]) -> Operand:
    """Return an operand with the element at an index of the result, if its shape broadcasts to the result's."""
    known = summary(name, value)
    fits = value.ndim <= len(shape) and all(
        size in (1, wanted) for size, wanted in zip(value.shape[::-1], shape[::-1], strict=False)
    )
    if not fits or value.dtype.kind in "OUSTc" or not value.size:
        return Operand(known)
    own = index[len(index) - value.ndim :]
    place = tuple(0 if size == 1 else i for i, size in zip(own, value.shape, strict=True))
    return Operand(known, place, float(value[place]))
