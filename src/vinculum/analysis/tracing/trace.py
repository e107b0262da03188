"""A model run in our engine and in ONNX Runtime, and the first node in each that goes wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto

from vinculum.analysis.findings import Effect
from vinculum.analysis.loading import onnx_model, source_given
from vinculum.analysis.places import frames, path
from vinculum.analysis.tracing.looker import Detail, InnerZero, Looker, summary
from vinculum.analysis.tracing.record import EngineTrace, Event, Kind, Operand, Summary, TraceReport
from vinculum.errors import AttributeValueError, ModelError, VinculumError
from vinculum.models.onnx.functions import inlined
from vinculum.models.onnx.model import model_of
from vinculum.models.onnx.scopes import name_of, subgraphs
from vinculum.models.onnx.tensors import array_of
from vinculum.models.source import SourceFile
from vinculum.models.values import validated_inputs
from vinculum.sandbox import End, Isolated, Limits
from vinculum.text import one_line, pip_install

if TYPE_CHECKING:
    from onnx import ModelProto

ENGINES = ("reference", "onnxruntime")
_DIVISOR = {"Div": 1, "Mod": 1, "Reciprocal": 0}
_BATCH = 256 << 20  # Bytes of values that are exposed together.
_UNKNOWN = 1 << 20  # The size of a value, in bytes, that no other engine has reported.
_LIMITS = Limits(seconds=600.0, memory=32 << 30)
# By position rather than by element, or a choice: that an element is like an operand's at the same index means nothing.
_ELSEWHERE = frozenset({"MatMul", "Gemm", "Conv", "ConvTranspose", "Transpose", "Gather", "Softmax", "LogSoftmax"})


def trace(
    model: str | PathLike[str] | ModelProto | SourceFile,
    inputs: Mapping[str, Any],
    *,
    engines: Sequence[str] = ENGINES,
) -> TraceReport:
    """Return the first nodes of a run that make an infinity or NaN, or divide by zero, with their operands.

    Every value of the main graph is examined, functions inlined, in processes of their own. ONNX Runtime runs the
    model unchanged except for its outputs: values that are exposed are not optimised away.

    Parameters
    ----------
    model : path or ModelProto
        An ONNX file, or an ONNX model in memory, which is not changed.
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
    source = source_given(model)
    tracer = _Tracer(source, inputs)
    traces = [tracer.trace(engine) for engine in dict.fromkeys(engines)]
    if all(one.refused and not one.died for one in traces):
        raise ModelError(f"the model cannot be traced: {traces[0].refused}")
    return TraceReport(tracer.not_finite(), tuple(traces), len(tracer.nodes), str(source.path))


class _Tracer:
    def __init__(self, source: SourceFile, inputs: Mapping[str, Any]) -> None:
        proto = inlined(onnx_model(source) if source.onnx is None else source.complete())
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
        title = "vinculum" if engine == "reference" else "onnxruntime"
        if engine == "onnxruntime":
            if find_spec("onnxruntime") is None:
                return EngineTrace(title, refused=f"it is not installed: {pip_install('onnxruntime')}")
            title = f"onnxruntime {version('onnxruntime')}"
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
        inner: tuple[InnerZero, ...] = ()
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

    def _events(self, known: Mapping[str, Summary], inner: Iterable[InnerZero], process: Isolated) -> Iterator[Event]:
        first = self._first(known)
        places = [(place, zero) for zero in inner if (place := self._place(zero.scope)) is not None]
        earliest = min(places, key=lambda one: one[0], default=None)
        events: list[Event] = []
        if earliest is not None and earliest[0] < first.get(Kind.ZERO_DIVISOR, len(self.nodes)):
            first.pop(Kind.ZERO_DIVISOR, None)
            events.append(self._inner_event(*earliest))
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
            divisor = known.get(node.input[_DIVISOR[node.op_type]]) if _divides(node) else None
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
            operands = operands[: _DIVISOR[node.op_type] + 1]
        wrong = next(
            (r for r in results if (kind is Kind.NAN and r.nan) or (kind is Kind.INFINITY and r.infinite)), results[0]
        )
        constants = {name: self._constants[name] for name in operands if name in self._constants}
        found: Detail = _answer(process, "detail", kind.value, wrong.name, operands, constants, self._inputs)
        by_name = {operand.summary.name: operand for operand in found.operands}
        told = tuple(by_name[name] for name in operands)  # One may stand there twice.
        if node.op_type in _ELSEWHERE or node.op_type.startswith(("Reduce", "Arg", "Cum")):
            told = tuple(replace(operand, index=None, value=None) for operand in told)
        return Event(
            kind,
            name_of(node),
            node.op_type,
            "",
            place,
            wrong.name,
            found.index,
            found.result,
            found.count,
            found.size,
            wrong.element_type,
            told,
            path(operands[-1] if kind is Kind.ZERO_DIVISOR else wrong.name, self._producers, frozenset(self._inputs)),
            frames(node),
        )

    def _inner_event(self, place: int, zero: InnerZero) -> Event:
        node = self.nodes[place]
        value = next(iter(node.output), "")
        operands: tuple[Operand, ...] = zero.operands
        return Event(
            Kind.ZERO_DIVISOR,
            zero.node,
            zero.operator,
            zero.scope,
            place,
            value,
            zero.index,
            zero.result,
            zero.count,
            zero.size,
            zero.element_type,
            operands,
            path(value, self._producers, frozenset(self._inputs)),
            frames(node),
        )

    def _place(self, scope: str) -> int | None:
        """Return which node of the main graph a scope is in."""
        seen: Counter[str] = Counter()
        for place, node in enumerate(self.nodes):
            inner = list(subgraphs(node))
            seen[node.op_type] += bool(inner)
            number = f"#{seen[node.op_type]}" if seen[node.op_type] > 1 else ""
            if any(scope.partition("/")[0] == f"{node.op_type}{number}:{attribute}" for attribute, _ in inner):
                return place
        return None


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


def _divides(node: NodeProto) -> bool:
    return not node.domain and node.op_type in _DIVISOR and len(node.input) > _DIVISOR[node.op_type]


def _constants(model: ModelProto) -> dict[str, NDArray[Any]]:
    inputs = {value.name for value in model.graph.input}
    return {
        tensor.name: array_of(tensor)
        for tensor in model.graph.initializer
        if tensor.name not in inputs and tensor.data_type != TensorProto.STRING
    }
