"""A model in OpenVINO, cut at its Divides; it lives in a child process, and requests each quotient from the parent.

A step is a layer that is run outside of OpenVINO: a Divide, or a layer with a Divide in a body. The level of a layer is
the largest number of steps on any path to it. The other layers of a level form one part, which OpenVINO compiles as a
model; after it the steps of the level are run. A body with a Divide is cut like a model, and run once per iteration.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.models.engines.openvino.reading import (
    NAME,
    Described,
    Names,
    bodies_of,
    described,
    divides_of,
    nodes_of,
    numbered,
)
from vinculum.models.engines.openvino.tensors import IN_FLOAT32, reason_of, to_array, to_tensor

# Layers with other results in each run must not be duplicated in two parts.
_RANDOM = ("RandomUniform", "Multinomial")

Port = tuple[int, int]
"""An output: the instance number of its node, and its index."""
Arrays = dict[Port, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Request:
    """A division that the parent computes before the run continues."""

    number: int  # The Divide's, from its name.
    operands: tuple[NDArray[Any], NDArray[Any]]  # Dividend and divisor.


Run = Generator[Request, NDArray[Any], list[NDArray[Any]]]
"""Yields requests, receives their quotients, and returns the results of a graph."""


class CutModel:
    """A model, and its runs in progress.

    - `content`: an IR, or an ONNX model.
    - `data`: the file of the constants of an IR.
    - `names`: of the divisions of an ONNX model, and of their quotients; other Divides are left to OpenVINO.
    """

    def __init__(self, content: bytes, data: Path | None, names: Names | None = None) -> None:
        import openvino

        core = openvino.Core()
        # Constants share this memory, which OpenVINO does not keep alive.
        is_file = data is not None and data.is_file() and data.stat().st_size
        self._data = np.memmap(data, np.uint8, "c") if data is not None and is_file else np.zeros(1, np.uint8)
        try:
            weights = b"" if data is None else openvino.Tensor(self._data, shared_memory=True)
            model = core.read_model(content, weights)
            self._described = described(model) if names is None else None
            divides = dict(enumerate(divides_of(model))) if names is None else numbered(model, names)
            for node in divides_of(model):
                node.set_friendly_name("")
            for number, node in divides.items():
                node.set_friendly_name(f"{NAME}{number}")
            self._found = tuple(divides)
            self._graph = _Graph(core, model)
        except RuntimeError as error:  # The only exception that OpenVINO raises.
            raise ModelError(f"the model cannot be read by OpenVINO: {reason_of(error)}") from None
        self._inputs = [node.get_friendly_name() for node in model.get_parameters()]
        self._runs: dict[int, Run] = {}

    def described(self) -> Described:
        """Return what is in an IR."""
        assert self._described is not None
        return self._described

    def found(self) -> tuple[int, ...]:
        """Return the numbers of the divisions."""
        return self._found

    def prepare(self) -> None:
        """Compile all parts."""
        with _refusals():
            self._graph.prepare()

    def start(self, run: int, inputs: Mapping[str, NDArray[Any]]) -> Request | list[NDArray[Any]]:
        """Start a run; return the first request, or the outputs in the model's order."""
        self._runs[run] = self._graph.run([inputs[name] for name in self._inputs])
        return self.resume(run, None)

    def stop(self, run: int) -> None:
        """Drop a run."""
        self._runs.pop(run, None)

    def resume(self, run: int, quotient: Any) -> Request | list[NDArray[Any]]:
        """Continue a run with the requested quotient; return as `start` does."""
        try:
            with _refusals():
                return self._runs[run].send(quotient)
        except StopIteration as end:
            del self._runs[run]
            results: list[NDArray[Any]] = end.value
            return results


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn OpenVINO's errors into a ModelError that holds the reason alone; `OpenVinoProcess` completes the message."""
    try:
        yield
    except RuntimeError as error:  # The only exception that OpenVINO raises.
        raise ModelError(reason_of(error)) from None


class _Graph:
    """A model or a body, cut at its steps; the OpenVINO model is changed."""

    def __init__(self, core: Any, model: Any) -> None:
        _drop_states(model)
        self._nodes = [node for node in model.get_ordered_ops() if node.get_type_name() != "Assign"]
        self._parameters = [_port(node.output(0)) for node in model.get_parameters()]
        self._results = [_port(node.input_value(0)) for node in model.get_results()]
        self._constants: Arrays = {}
        self._steps = {_id(node): step for node in self._nodes if (step := _step(core, node)) is not None}
        self._assign_levels()
        self._cut(core)

    def prepare(self) -> None:
        for part in self._parts:
            part.prepare()
        for graph in (graph for step in self._steps.values() for graph in step.graphs):
            graph.prepare()

    def run(self, inputs: Sequence[NDArray[Any]]) -> Run:
        """Run the graph on the values of its Parameters, in their order."""
        values = self._constants | dict(zip(self._parameters, inputs, strict=True))
        for level, part in enumerate(self._parts):
            values.update(part.run(values))
            for key, step in self._steps.items():
                if self._levels[key] == level:
                    values.update((yield from step.run(values)))
            for port in self._dropped[level]:
                values.pop(port, None)
        return [values[port] for port in self._results]

    def _assign_levels(self) -> None:
        """Assign each node its level; nodes that depend on constants only belong to every part that uses them."""
        self._levels: dict[int, int] = {}
        self._fixed: set[int] = set()
        for node in self._nodes:
            sources = [_id(value.get_node()) for value in node.input_values()]
            self._levels[_id(node)] = max((self._levels[key] + (key in self._steps) for key in sources), default=0)
            free = node.get_type_name() in ("Parameter", *_RANDOM) or _id(node) in self._steps
            if not free and self._fixed.issuperset(sources):
                self._fixed.add(_id(node))

    def _cut(self, core: Any) -> None:
        """Make the parts: a value from another part is replaced by a Parameter."""
        from openvino import opset1

        given: list[dict[Port, Any]] = [{} for _ in range(1 + max(self._levels.values(), default=0))]
        stand_ins: dict[Port, Any] = {}
        last: dict[Port, int] = {}
        for node in self._nodes:
            level, outside = self._levels[_id(node)], _id(node) in self._steps or node.get_type_name() == "Result"
            for place, value in enumerate(node.input_values()):
                source, port = _id(value.get_node()), _port(value)
                if not outside and (source in self._fixed or self._is_local(value, level)):
                    continue
                last[port] = max(last.get(port, 0), level)
                if port not in self._parameters and source not in self._steps:
                    self._provide(value, given)
                if not outside and port not in self._parameters:
                    if port not in stand_ins:
                        stand_ins[port] = opset1.parameter(value.get_partial_shape(), value.get_element_type())
                    node.input(place).replace_source_output(stand_ins[port].output(0))
        sources = {_id(node): port for port, node in stand_ins.items()} | {port[0]: port for port in self._parameters}
        self._parts = [_Part(core, outputs, sources) for outputs in given]
        for port in self._results:
            last.pop(port, None)
        self._dropped = [[port for port, end in last.items() if end == level] for level in range(len(given))]

    def _is_local(self, value: Any, level: int) -> bool:
        """Return whether a value is computed in the part of a level."""
        source = _id(value.get_node())
        return self._levels[source] == level and source not in self._steps and _port(value) not in self._parameters

    def _provide(self, value: Any, given: list[dict[Port, Any]]) -> None:
        """Make a value an output of its part; a constant is stored instead, since OpenVINO might narrow it."""
        node = value.get_node()
        if node.get_type_name() == "Constant":
            self._constants[_port(value)] = to_array(node)
        else:
            given[self._levels[_id(node)]][_port(value)] = value


class _Part:
    """The layers of one level, compiled by OpenVINO at the first run.

    - `outputs`: the values that steps and other parts use.
    - `sources`: the port whose value each Parameter takes.
    """

    def __init__(self, core: Any, outputs: Mapping[Port, Any], sources: Mapping[int, Port]) -> None:
        self._core = core
        self._outputs = dict(outputs)
        self._parameters = _parameters_of(outputs.values())
        self._inputs = [sources[_id(node)] for node in self._parameters]
        self._requests: dict[tuple[int, ...], Any] = {}

    def prepare(self) -> None:
        """Compile the part, unless ranks are known only at run time."""
        if self._outputs and all(node.get_output_partial_shape(0).rank.is_static for node in self._parameters):
            self._request(())

    def run(self, values: Arrays) -> Arrays:
        if not self._outputs:
            return {}
        arrays = [values[port] for port in self._inputs]
        open_ranks = [node.get_output_partial_shape(0).rank.is_dynamic for node in self._parameters]
        request = self._request(tuple(array.ndim for array, is_open in zip(arrays, open_ranks, strict=True) if is_open))
        for place, array in enumerate(arrays):
            request.set_input_tensor(place, to_tensor(array))
        request.infer()
        return dict(zip(self._outputs, map(to_array, request.output_tensors), strict=True))

    def _request(self, ranks: tuple[int, ...]) -> Any:
        """Return the inference request for the given ranks of the Parameters that have dynamic rank."""
        if ranks not in self._requests:
            self._requests[ranks] = self._compiled(ranks).create_infer_request()
        return self._requests[ranks]

    def _compiled(self, ranks: tuple[int, ...]) -> Any:
        import openvino
        from openvino import opset1

        results = [opset1.result(output) for output in self._outputs.values()]
        model = openvino.Model(results, self._parameters, "part")
        if ranks:  # The CPU device refuses Parameters of dynamic rank.
            model = model.clone()
            left = iter(ranks)
            shapes = [node.get_output_partial_shape(0) for node in model.get_parameters()]
            known = [openvino.PartialShape([-1] * next(left)) if shape.rank.is_dynamic else shape for shape in shapes]
            model.reshape(dict(enumerate(known)))
        return self._core.compile_model(model, "CPU", IN_FLOAT32)


class _Divide:
    """A division, which the parent computes."""

    graphs: tuple[_Graph, ...] = ()

    def __init__(self, node: Any) -> None:
        self._number = int(node.get_friendly_name().removeprefix(NAME))
        self._operands = _port(node.input_value(0)), _port(node.input_value(1))
        self._result = _port(node.output(0))

    def run(self, values: Arrays) -> Generator[Request, NDArray[Any], Arrays]:
        dividend, divisor = (values[port] for port in self._operands)
        return {self._result: (yield Request(self._number, (dividend, divisor)))}


class _If:
    """An If with a Divide in a branch."""

    def __init__(self, core: Any, node: Any) -> None:
        bodies = [node.get_then_body(), node.get_else_body()]
        self.graphs = tuple(_Graph(core, body) for body in bodies)
        self._condition = _port(node.input_value(0))
        self._inputs = [
            {entry.body_parameter_index: _port(node.input_value(entry.input_index)) for entry in entries}
            for entries in (node.get_input_descriptions(place) for place in range(2))
        ]
        self._outputs = [
            {_port(node.output(entry.output_index)): entry.body_value_index for entry in entries}
            for entries in (node.get_output_descriptions(place) for place in range(2))
        ]

    def run(self, values: Arrays) -> Generator[Request, NDArray[Any], Arrays]:
        """Return the results of the branch selected by the condition."""
        branch = 0 if values[self._condition].reshape(-1)[0] else 1
        inputs = self._inputs[branch]
        results = yield from self.graphs[branch].run([values[inputs[place]] for place in range(len(inputs))])
        return {port: results[place] for port, place in self._outputs[branch].items()}


class _Loop:
    """A Loop or a TensorIterator with a Divide in its body."""

    def __init__(self, core: Any, node: Any) -> None:
        body = node.get_function()
        has_limits = node.get_type_name() == "Loop"
        self._limits = [_port(node.input_value(place)) for place in range(2)] if has_limits else []
        special: list[int] = node.get_special_body_ports() if has_limits else [-1, -1]
        self._counter, self._goes_on = special
        parameters = body.get_parameters()
        self._size = len(parameters)
        self._count = parameters[self._counter] if self._counter >= 0 else None
        self._inputs = [(entry, _port(node.input_value(entry.input_index))) for entry in node.get_input_descriptions()]
        self._outputs = [(entry, _port(node.output(entry.output_index))) for entry in node.get_output_descriptions()]
        places = {port: entry.output_index for entry, port in self._outputs}
        self._declared = {
            port: (node.get_output_partial_shape(place), node.get_output_element_type(place))
            for port, place in places.items()
        }
        self.graphs = (_Graph(core, body),)

    def run(self, values: Arrays) -> Generator[Request, NDArray[Any], Arrays]:
        """Return the results after all iterations of the body."""
        trips, goes_on = (values[port].reshape(-1)[0] for port in self._limits) if self._limits else (-1, True)
        state = {entry.body_parameter_index: values[port] for entry, port in self._inputs}
        sliced = [(entry, port) for entry, port in self._inputs if hasattr(entry, "axis")]
        cuts = {entry.body_parameter_index: _Slices(entry, values[port]) for entry, port in sliced}
        if cuts:
            trips = next(iter(cuts.values())).count
        rounds: list[list[NDArray[Any]]] = []
        while goes_on and (trips < 0 or len(rounds) < trips):
            state.update({place: slices[len(rounds)] for place, slices in cuts.items()})
            if self._count is not None:
                rank, dtype = self._count.get_output_partial_shape(0).rank.get_length(), self._count.get_element_type()
                state[self._counter] = np.full((1,) * rank, len(rounds), dtype.to_dtype())
            rounds.append((yield from self.graphs[0].run([state[place] for place in range(self._size)])))
            for entry, _ in self._inputs:
                if (result := _carried(entry)) is not None:
                    state[entry.body_parameter_index] = rounds[-1][result]
            goes_on = self._goes_on < 0 or rounds[-1][self._goes_on].reshape(-1)[0]
        return {port: self._output(entry, port, rounds, state) for entry, port in self._outputs}

    def _output(self, entry: Any, port: Port, rounds: list[list[NDArray[Any]]], state: Mapping[int, Any]) -> Any:
        pieces = [results[entry.body_value_index] for results in rounds]
        if not hasattr(entry, "axis"):
            if pieces:
                return pieces[entry.iteration]
            result = entry.body_value_index
            return next(state[e.body_parameter_index] for e, _ in self._inputs if _carried(e) == result)
        if pieces:
            return np.concatenate(pieces if entry.stride > 0 else pieces[::-1], entry.axis)
        return _zeros(*self._declared[port], entry.axis)


class _Slices:
    """The slices of an input, one for each iteration of a loop."""

    def __init__(self, entry: Any, array: NDArray[Any]) -> None:
        self._entry, self._array = entry, array
        size = array.shape[entry.axis]
        self._start, end = (place + size if place < 0 else place for place in (entry.start, entry.end))
        self.count = (abs(end - self._start) + 1) // entry.part_size

    def __getitem__(self, number: int) -> NDArray[Any]:
        entry = self._entry
        first = self._start + number * entry.stride
        if entry.stride < 0:
            first -= entry.part_size - 1
        places = [slice(None)] * self._array.ndim
        places[entry.axis] = slice(first, first + entry.part_size)
        return self._array[tuple(places)]


Step = _Divide | _If | _Loop


def _step(core: Any, node: Any) -> Step | None:
    """Return the step for a layer, None if OpenVINO runs it."""
    if _is_ours(node):
        return _Divide(node)
    if not any(_is_ours(inner) for body in bodies_of(node) for _, inner in nodes_of(body)):
        return None
    return _If(core, node) if node.get_type_name() == "If" else _Loop(core, node)


def _is_ours(node: Any) -> bool:
    return bool(node.get_type_name() == "Divide" and node.get_friendly_name().startswith(NAME))


def _drop_states(model: Any) -> None:
    """Replace each read of a state by its initial value: every run starts with new states."""
    from openvino import opset1

    for node in model.get_ordered_ops():
        if node.get_type_name() == "ReadValue":
            zeros = _zeros(node.get_output_partial_shape(0), node.get_output_element_type(0))
            first = node.input_value(0) if node.get_input_size() else opset1.constant(zeros).output(0)
            node.output(0).replace(first)


def _zeros(shape: Any, element_type: Any, empty: int | None = None) -> NDArray[Any]:
    """Return zeros of a shape as far as it is known, of size 0 elsewhere and along the `empty` dimension."""
    sizes = [0 if size.is_dynamic or axis == empty else size.get_length() for axis, size in enumerate(shape)]
    return np.zeros(sizes, element_type.to_dtype())


def _parameters_of(outputs: Iterable[Any]) -> list[Any]:
    """Return the Parameters that outputs depend on."""
    found, seen = [], set()
    todo = [output.get_node() for output in outputs]
    while todo:
        node = todo.pop()
        if _id(node) not in seen:
            seen.add(_id(node))
            found += [node] if node.get_type_name() == "Parameter" else []
            todo += [value.get_node() for value in node.input_values()]
    return found


def _id(node: Any) -> int:
    return int(node.get_instance_id())


def _port(output: Any) -> Port:
    return _id(output.get_node()), int(output.get_index())


def _carried(entry: Any) -> int | None:
    """Return the result of the previous iteration that an input takes, None if it takes none."""
    return getattr(entry, "body_value_index", None)
