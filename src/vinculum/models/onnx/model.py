"""An ONNX graph as a `Model`, run by one of the engines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, TypeProto, ValueInfoProto

from vinculum.errors import ModelError
from vinculum.models.declared_data import check_size
from vinculum.models.engines.reference.evaluator import EvaluatedGraph
from vinculum.models.execution import Division
from vinculum.models.model import Model, Runnable
from vinculum.models.onnx.checks import check_structure
from vinculum.models.onnx.divisions import division_nodes, division_of, inner_divisions, mark
from vinculum.models.onnx.file import readable
from vinculum.models.onnx.functions import link_functions
from vinculum.models.onnx.inference import with_types
from vinculum.models.onnx.scopes import declared_element_type, declared_shape
from vinculum.models.onnx.tensors import Initializers
from vinculum.models.values import UNKNOWN, ModelTensor
from vinculum.spec.element_types import ElementType
from vinculum.text import quoted


class OnnxProgram(EvaluatedGraph):
    """An ONNX graph and its functions, run by the reference evaluator by default."""

    def __init__(self, proto: ModelProto, divisions: tuple[Division, ...], constants: Initializers) -> None:
        super().__init__(proto, divisions, constants)
        self._parts = proto, divisions, constants
        self._others: dict[str, Runnable] = {}
        self._lock = Lock()

    def read_data(self) -> None:
        """Read the initializers that are stored in files."""
        self._parts[2].read()

    def in_engine(self, engine: str) -> Runnable:
        """Return the graph for ONNX Runtime or OpenVINO."""
        # Imported here, since they need optional packages.
        with self._lock:
            if engine not in self._others:
                if engine == "openvino":
                    from vinculum.models.engines.openvino.onnx import OnnxInOpenVino

                    self._others[engine] = OnnxInOpenVino(*self._parts)
                else:
                    from vinculum.models.engines.onnxruntime.program import OnnxRuntimeProgram

                    self._others[engine] = OnnxRuntimeProgram(*self._parts)
            return self._others[engine]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the programs of other engines, which are created again when they are needed."""
        return {name: value for name, value in super().__getstate__().items() if name not in ("_others", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle without programs of other engines."""
        vars(self).update(state, _others={}, _lock=Lock())


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
    constants = Initializers(proto.graph.initializer)
    del proto.graph.initializer[:]
    inputs = tuple(_declared_input(value, constants) for value in proto.graph.input)
    outputs = tuple(_declared(value.name, value.type) for value in inferred.graph.output)
    divisions = _divisions(inferred, function_names)
    for number, (_, node) in enumerate(division_nodes(proto, function_names)):
        mark(node, number)
    inner = tuple(inner_divisions(inferred, function_names))
    return Model(inputs, outputs, divisions, OnnxProgram(proto, divisions, constants), inner)


def _declared_input(value: ValueInfoProto, constants: Mapping[str, NDArray[Any]]) -> ModelTensor:
    tensor = _declared(value.name, value.type, value.name in constants)
    innermost = tensor
    while innermost.element is not None:
        innermost = innermost.element
    if innermost.element_type == UNKNOWN:
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


def _divisions(inferred: ModelProto, function_names: dict[str, str]) -> tuple[Division, ...]:
    return tuple(division_of(scope, node) for scope, node in division_nodes(inferred, function_names))
