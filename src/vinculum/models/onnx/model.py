"""An ONNX graph as a `Model`, run by one of the engines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, TypeProto, ValueInfoProto

from vinculum.errors import ModelError
from vinculum.models.engines.reference.evaluator import Evaluator
from vinculum.models.engines.reference.operators import CURRENT_RUN, Interruption, Run
from vinculum.models.execution import Division, RunContext, read_only
from vinculum.models.model import Model, Runnable
from vinculum.models.onnx.checks import check_structure
from vinculum.models.onnx.divisions import division_nodes, division_of, inner_divisions, mark
from vinculum.models.onnx.file import readable
from vinculum.models.onnx.functions import link_functions
from vinculum.models.onnx.inference import with_types
from vinculum.models.onnx.scopes import declared_element_type, declared_shape, opset_imports
from vinculum.models.onnx.tensors import array_of, check_size, decode, is_external
from vinculum.models.values import UNKNOWN, ModelTensor, innermost
from vinculum.spec.element_types import ElementType
from vinculum.text import one_line, quoted


class OnnxProgram:
    """An ONNX graph and its functions, prepared for each engine at the first run in it and kept.

    - `stored`: the initializers whose data are still in other files.
    """

    def __init__(
        self,
        proto: ModelProto,
        divisions: tuple[Division, ...],
        constants: dict[str, NDArray[Any]],
        stored: dict[str, TensorProto],
    ) -> None:
        self._parts = proto, divisions, constants
        self._stored = stored
        self._others: dict[str, Runnable] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without what is prepared for engines, which is made again when it is needed."""
        return type(self), (*self._parts, self._stored)

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for validated inputs."""
        self.prepare()
        self.read_data()
        _, divisions, constants = self._parts
        token = CURRENT_RUN.set(Run(execution, divisions))
        try:
            # Floating-point exceptions of other operators are no reason for NumPy's warnings.
            with _refusals(), np.errstate(all="ignore"):
                values = self._evaluator.run(None, {**constants, **arrays})
        finally:
            CURRENT_RUN.reset(token)
        return dict(zip(self._evaluator.output_names, values, strict=True))

    def prepare(self) -> None:
        """Create the evaluator, which finds nodes that it cannot run."""
        with _refusals():
            _ = self._evaluator

    def read_data(self) -> None:
        """Read the initializers that are stored in files."""
        self._parts[2].update({name: read_only(array_of(tensor)) for name, tensor in self._stored.items()})
        self._stored = {}

    def in_engine(self, engine: str) -> Runnable:
        """Return the graph for ONNX Runtime or OpenVINO."""
        self.read_data()
        # Imported here, since they need optional packages.
        with self._lock:
            if engine not in self._others:
                if engine == "openvino":
                    from vinculum.models.engines.openvino.programs import OnnxInOpenVino

                    self._others[engine] = OnnxInOpenVino(*self._parts)
                else:
                    from vinculum.models.engines.onnxruntime.program import OnnxRuntimeProgram

                    self._others[engine] = OnnxRuntimeProgram(*self._parts)
            return self._others[engine]

    @cached_property
    def _evaluator(self) -> Evaluator:
        return _evaluator_of(self._parts[0])


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise the error that an interruption carries, and turn a too deep nesting into a ModelError."""
    try:
        yield
    except Interruption as interruption:
        raise interruption.error from None
    except RecursionError as error:
        raise ModelError(f"the model cannot be run: {one_line(error)}") from None


def _evaluator_of(proto: ModelProto) -> Evaluator:
    functions: list[Evaluator] = []
    for function in proto.functions:
        functions.append(Evaluator(function, functions=list(functions)))
    return Evaluator(proto.graph, opsets=opset_imports(proto), functions=functions)


def model_of(proto: ModelProto, file: Path) -> Model:
    """Return the model in the message of a `SourceFile`; the message is changed and must not be used again.

    Large initializers in other files are read when the model is run.

    Errors are as `vinculum.load` raises them.
    """
    with readable(file):
        return _model(proto)


def _model(proto: ModelProto) -> Model:
    function_names = link_functions(proto)
    check_structure(proto)
    inferred = with_types(proto)
    stored = {tensor.name: tensor for tensor in proto.graph.initializer if is_external(tensor)}
    inside = [tensor for tensor in proto.graph.initializer if tensor.name not in stored]
    constants = {tensor.name: decode(tensor, Path(), f"initializer {quoted(tensor.name)}") for tensor in inside}
    defaults = {*constants, *stored}
    del proto.graph.initializer[:]
    inputs = tuple(_declared_input(value, defaults) for value in proto.graph.input)
    outputs = tuple(_declared(value.name, value.type) for value in inferred.graph.output)
    divisions = tuple(division_of(scope, node) for scope, node in division_nodes(inferred, function_names))
    for number, (_, node) in enumerate(division_nodes(proto, function_names)):
        mark(node, number)
    inner = tuple(inner_divisions(inferred, function_names))
    return Model(inputs, outputs, divisions, OnnxProgram(proto, divisions, constants, stored), inner)


def _declared_input(value: ValueInfoProto, defaults: Collection[str]) -> ModelTensor:
    tensor = _declared(value.name, value.type, value.name in defaults)
    if innermost(tensor).element_type == UNKNOWN:
        raise ModelError(f"input {quoted(value.name)} declares no element type")
    return tensor


def _declared(name: str, declared: TypeProto, optional: bool = False) -> ModelTensor:
    kind = declared.WhichOneof("value") or UNKNOWN
    if kind in ("sequence_type", "optional_type"):
        element = _declared(name, getattr(declared, kind).elem_type)
        return ModelTensor(name, kind.removesuffix("_type"), None, optional, element)
    if kind != "tensor_type":
        return ModelTensor(name, kind.removesuffix("_type"), None, optional)
    if declared.tensor_type.elem_type == TensorProto.UNDEFINED:
        return ModelTensor(name, UNKNOWN, declared_shape(declared), optional)
    element_type = declared_element_type(declared.tensor_type.elem_type)
    shape = declared_shape(declared)
    if shape is not None:
        bits = element_type.bits if isinstance(element_type, ElementType) else 8
        check_size(shape, bits, f"value {quoted(name)}")
    return ModelTensor(name, element_type, shape, optional)
