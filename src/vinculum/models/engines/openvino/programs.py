"""ONNX graphs and OpenVINO IRs, which OpenVINO reads and runs in a process of its own, except their divisions.

So a crash of OpenVINO becomes an error here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import count
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic
from typing import Any

from google.protobuf.message import EncodeError
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper
from onnx.inliner import inline_local_functions

from vinculum.errors import MissingPackageError, ModelError, VinculumError
from vinculum.models.engines.openvino.cut_model import Request
from vinculum.models.engines.openvino.reading import NAME, Described
from vinculum.models.engines.reference.operators import quotient
from vinculum.models.execution import Division, LimitError, RunContext, seconds_left, waiting
from vinculum.models.model import ADVICE, Model
from vinculum.models.onnx.divisions import DIVIDES, number_of
from vinculum.models.onnx.rewriter import set_nodes, unique_name, with_inputs
from vinculum.models.onnx.scopes import all_nodes, name_of, opset_imports, subgraphs, title
from vinculum.ops.openvino import divide as openvino_divide
from vinculum.sandbox import End, Isolated, Limits
from vinculum.text import listed, one_line, pip_install

_MAX_OF_INTEGERS = 12
# No limits, since a model's needs are not known: Ctrl-C ends a run that hangs, the system one that exhausts the memory.
_LIMITS = Limits(seconds=inf, start=inf, memory=sys.maxsize)
_COMPILING = 30.0  # Seconds for compiling, added to the time limit of a trial run.


Divide = Callable[[int, NDArray[Any], NDArray[Any]], NDArray[Any]]
"""Returns the quotient of a numbered division."""


class OpenVinoProcess:
    """An object in OpenVINO's process, called by one thread at a time; the process starts at the first call."""

    def __init__(self, maker: str, *arguments: object) -> None:
        self._maker, self._arguments = maker, arguments
        self._lock = Lock()
        self._started: dict[int, Isolated] = {}

    def call(self, method: str, *arguments: object) -> Any:
        """Return the result of a method; a VinculumError that making the object raises is raised here.

        ModelError if the method raises an error, the process ended, or the time limit was exceeded (`LimitError`).
        """
        with self._lock:
            # A forked child shares this process's pipes to OpenVINO, so it starts a process of its own.
            if os.getpid() not in self._started:
                self._started[os.getpid()] = Isolated(self._maker, *self._arguments, limits=_LIMITS)
            with waiting():
                seconds = seconds_left() + _COMPILING
                answer = self._started[os.getpid()].call(method, *arguments, seconds=seconds)
        if answer.end is End.RETURNED:
            return answer.value
        if answer.end is End.HUNG:
            raise LimitError(f"OpenVINO takes longer than a trial run may: {answer.words}")
        if isinstance(answer.value, VinculumError):
            raise answer.value
        ended = "" if answer.end in (End.REFUSED, End.UNSUPPORTED) else "its process ended: "
        raise ModelError(f"the model cannot be run by OpenVINO: {ended}{answer.words}")


class CutProcess(OpenVinoProcess):
    """A `CutModel`, whose arguments it takes; the parts are compiled at the first run and kept."""

    def __init__(self, *arguments: object) -> None:
        super().__init__("vinculum.models.engines.openvino.cut_model:CutModel", *arguments)
        self._runs = count()

    def run(self, inputs: Mapping[str, Any], divide: Divide) -> list[NDArray[Any]]:
        """Return the outputs in the model's order."""
        run = next(self._runs)
        answer = self.call("start", run, dict(inputs))
        deadline = monotonic() + seconds_left()  # Wall time: most work is done in the other process.
        try:
            while isinstance(answer, Request):
                if monotonic() > deadline:
                    raise LimitError("a loop takes longer than a trial run may")
                answer = self.call("resume", run, divide(answer.number, *answer.operands))
        except BaseException:
            self.call("stop", run)
            raise
        results: list[NDArray[Any]] = answer
        return results


def check_installed(who: str) -> None:
    """Check that OpenVINO is installed; MissingPackageError if not."""
    if find_spec("openvino") is None:
        raise MissingPackageError(f"{who} needs the package openvino; install it: {pip_install('openvino')}")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A model without functions, whose divisions OpenVINO will find by their names."""

    proto: ModelProto
    divisions: tuple[NodeProto, ...]  # With the names that they had.
    # Of each division: OpenVINO names a layer after its quotient if that is an output of a graph.
    names: tuple[tuple[str, str], ...]

    def check_found(self, numbers: Mapping[int, object]) -> None:
        """Refuse a model if OpenVINO has read a division in it as another layer."""
        lost = [title(node) for number, node in enumerate(self.divisions) if number not in numbers]
        if lost:
            raise ModelError(f"OpenVINO's reader turns {listed(lost)} into something other than a Divide")


def prepared(proto: ModelProto) -> Prepared:
    """Return a copy of a model, prepared for OpenVINO's reader."""
    try:
        model = inline_local_functions(proto) if proto.functions else deepcopy(proto)
    except (RuntimeError, ValueError, EncodeError) as error:
        raise ModelError(f"the model cannot be run by OpenVINO: {one_line(error)}") from None
    _bound_loops(model.graph, set(), opset_imports(model).get("", 1))
    nodes = [node for node in all_nodes(model.graph.node) if node.domain == "" and node.op_type in DIVIDES]
    divisions = tuple(map(deepcopy, nodes))
    for number, node in enumerate(nodes):
        node.name = f"{NAME}{number}"
    return Prepared(model, divisions, tuple((name_of(node), node.output[0]) for node in divisions))


def _bound_loops(graph: GraphProto, taken: set[str], opset: int) -> None:
    """Replace negative trip counts by 0, their meaning in ONNX: a Loop of OpenVINO takes -1 as no limit."""
    nodes = []
    taken.update(name for node in graph.node for name in node.output)
    for node in graph.node:
        for _, body in subgraphs(node):
            _bound_loops(body, taken, opset)
        if node.domain == "" and node.op_type == "Loop" and node.input[0]:
            if opset < _MAX_OF_INTEGERS:
                raise ModelError(f"{title(node)} needs operator set {_MAX_OF_INTEGERS} or later; convert to it first")
            zero, bounded = (unique_name(f"{node.output[0]}_{word}", taken) for word in ("zero", "trips"))
            nodes.append(helper.make_node("Constant", [], [zero], value_int=0))
            nodes.append(helper.make_node("Max", [node.input[0], zero], [bounded]))
            node.input[0] = bounded
        nodes.append(node)
    set_nodes(graph, nodes)


class OnnxInOpenVino:
    """An ONNX graph, read by OpenVINO at the first run and kept."""

    def __init__(
        self, proto: ModelProto, divisions: tuple[Division, ...], constants: Mapping[str, NDArray[Any]]
    ) -> None:
        check_installed("the engine 'openvino'")
        self._prepared = prepared(proto)
        self._divisions, self._constants = divisions, constants
        self._outputs = [value.name for value in proto.graph.output]
        self._processes: dict[frozenset[str], CutProcess] = {}
        self._lock = Lock()

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for validated inputs."""

        def divide(number: int, dividend: NDArray[Any], divisor: NDArray[Any]) -> NDArray[Any]:
            node = self._prepared.divisions[number]
            own = number_of(node)
            assert own is not None, "every division of a model is numbered when it is read"
            division = self._divisions[own]
            # OpenVINO aligns the operands of versions below 7, as their attributes say.
            opset = max(division.spec.since_version, 7)
            only = None if node.op_type == "Reciprocal" else dividend
            return quotient(execution, division, only, divisor, {"opset": opset})

        try:
            results = self._process(frozenset(arrays.keys() & self._constants)).run(arrays, divide)
        except LimitError:
            raise
        except ModelError as error:
            raise ModelError(f"{error}; {ADVICE}") from None
        return dict(zip(self._outputs, results, strict=True))

    def _process(self, given: frozenset[str]) -> CutProcess:
        """Return a process that holds the model, in which some constants are given as inputs."""
        with self._lock:
            if given not in self._processes:
                process = CutProcess(self._content(given), None, self._prepared.names)
                self._prepared.check_found(dict.fromkeys(process.call("found")))
                self._processes[given] = process
            return self._processes[given]

    def _content(self, given: frozenset[str]) -> bytes:
        proto = with_inputs(self._prepared.proto, given, self._constants)
        stored = [numpy_helper.from_array(array, name) for name, array in self._constants.items() if name not in given]
        proto.graph.initializer.extend(stored)
        try:
            return bytes(proto.SerializeToString())
        except (EncodeError, ValueError) as error:
            raise ModelError(f"the model is too large for OpenVINO's reader of ONNX: {one_line(error)}") from None


def write_ir(proto: ModelProto, target: Path) -> list[str]:
    """Let OpenVINO write an IR of a self-contained model; return the titles of its divisions of integers.

    OpenVINO reads every Div as a Divide that floors. Each is found by its name, in bodies too, and truncates again.

    ModelError if OpenVINO is not installed, cannot read the model, or turns a division into another layer.
    """
    check_installed("writing an IR")
    model = prepared(proto)
    with TemporaryDirectory(dir=target.parent) as place:
        source = Path(place) / "source.onnx"
        source.write_bytes(model.proto.SerializeToString())
        process = OpenVinoProcess("vinculum.models.engines.openvino.reading:Writer")
        found = process.call("write", source, target, model.names)
    if isinstance(found, str):
        raise ModelError(f"the model cannot be written by OpenVINO: {found}")
    model.check_found(found)
    return [title(division) for number, division in enumerate(model.divisions) if found[number]]


def read_openvino_ir(content: bytes, file: Path) -> Model:
    """Return the model of an IR file, given its XML; its data is beside it, in a ``.bin`` of the same name.

    Errors are as in `vinculum.load`.
    """
    check_installed("an OpenVINO IR")
    program = CutProgram(content, file.with_suffix(".bin"))
    read = program.described
    return Model(read.inputs, read.outputs, read.divisions, program, read.inner_divisions)


class CutProgram:
    """An IR in OpenVINO."""

    def __init__(self, content: bytes, data: Path) -> None:
        self._arguments = content, data.absolute()
        self._process = CutProcess(*self._arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without OpenVINO's process, which starts again at the next run."""
        return type(self), self._arguments

    @cached_property
    def described(self) -> Described:
        """What is in the IR."""
        found: Described = self._process.call("described")
        return found

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for validated inputs."""

        def compute(number: int, dividend: NDArray[Any], divisor: NDArray[Any]) -> NDArray[Any]:
            options: dict[str, Any] = {**self.described.attributes[number], **asdict(execution.policies)}
            division = self.described.divisions[number]
            return execution.divide(division, dividend, divisor, lambda a, b: openvino_divide(a, b, **options))

        results = self._process.run(arrays, compute)
        return {output.name: array for output, array in zip(self.described.outputs, results, strict=True)}

    def prepare(self) -> None:
        """Let OpenVINO compile the model."""
        self._process.call("prepare")

    def read_data(self) -> None:
        """Do nothing: OpenVINO maps the ``.bin`` for as long as its process lives."""

    def in_engine(self, engine: str) -> CutProgram:
        """Return the program itself; refuse ONNX Runtime, which reads no IR."""
        if engine == "onnxruntime":
            raise ModelError(
                "the engine 'onnxruntime' runs ONNX models only; run the OpenVINO model with the engine 'reference' or "
                "'openvino'"
            )
        return self
