"""An ONNX graph in a session of ONNX Runtime in which the library of `vinculum.onnxruntime` divides."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from vinculum.errors import ModelError
from vinculum.models.engines.onnxruntime.divider import ADDRESS, NUMBER, dividing_here
from vinculum.models.engines.onnxruntime.running import gives_numbers, is_of_numbers
from vinculum.models.engines.onnxruntime.session import IR_VERSION, new_session, onnxruntime, reason_of
from vinculum.models.engines.onnxruntime.values import is_packed, run_values, to_runtime
from vinculum.models.execution import Division, RunContext
from vinculum.models.model import ADVICE
from vinculum.models.onnx.divisions import number_of
from vinculum.models.onnx.inference import infer_types
from vinculum.models.onnx.rewriter import with_inputs
from vinculum.models.onnx.scopes import model_nodes, name_of, title
from vinculum.onnxruntime import register
from vinculum.ops.policies import Policies
from vinculum.spec.element_types import FLOAT16

_LARGEST_INSIDE = 1024  # Elements of a constant that is stored in the message itself: shapes, axes and the like.
_FEW = 1 << 16  # Bytes of inputs for which copying the outputs takes less than sharing them does.


class _LibraryError(ModelError):
    """An error that the library reports for an operation."""


class OnnxRuntimeProgram:
    """An ONNX graph in ONNX Runtime, prepared at the first run and kept.

    Without an observer, the library divides without Python. A run that fails in a division is repeated with each
    division in Python, which says what is wrong.
    """

    def __init__(
        self, proto: ModelProto, divisions: tuple[Division, ...], constants: Mapping[str, NDArray[Any]]
    ) -> None:
        onnxruntime()
        self._proto, self._divisions, self._constants = proto, divisions, constants
        self._outputs = [value.name for value in proto.graph.output]
        self._attributes = {
            number: {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
            for number, node in _numbered(proto)
        }
        self._external: dict[str, Any] = {}  # Sessions use their memory.
        self._sessions: dict[tuple[Any, ...], tuple[Any, bool]] = {}
        self._lock = Lock()

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for validated inputs."""
        if execution.observer is None:
            with suppress(_LibraryError):
                return self._run(arrays, execution.policies, in_python=False)
        try:
            with dividing_here(execution, self._divisions, self._attributes):
                return self._run(arrays, execution.policies, in_python=True)
        except _LibraryError as error:  # Of a remainder, or of a division in the definition of an operator.
            raise ModelError(str(error)) from None

    def _run(self, arrays: Mapping[str, Any], policies: Policies, *, in_python: bool) -> dict[str, Any]:
        with self._refusals():
            session, of_numbers = self._session(frozenset(arrays.keys() & self._constants), policies, in_python)
            if of_numbers and all(is_of_numbers(array) and array.nbytes <= _FEW for array in arrays.values()):
                return dict(zip(self._outputs, session.run(self._outputs, arrays), strict=True))
            return dict(zip(self._outputs, run_values(session, self._outputs, arrays), strict=True))

    def _session(self, given: frozenset[str], policies: Policies, in_python: bool) -> tuple[Any, bool]:
        """Return a session in which some constants are given as inputs, and whether it `gives_numbers`."""
        # Threads do not survive a fork: the child needs sessions of its own.
        key = (os.getpid(), given, policies, in_python)
        with self._lock:
            if key not in self._sessions:
                options = onnxruntime().SessionOptions()
                if in_python:
                    options.add_session_config_entry("custom_op.vinculum.divider", ADDRESS)
                register(options, zero_divisor=policies.zero_divisor, overflow=policies.overflow)
                model = self._model(given)
                session = new_session(
                    model.SerializeToString(),
                    options=options,
                    initializers=self._external,
                    # Divisions of constants are observed in every run.
                    disabled=["ConstantFolding"] if in_python else [],
                )
                self._sessions[key] = session, gives_numbers(session)
            return self._sessions[key]

    def _model(self, given: frozenset[str]) -> ModelProto:
        """Return the model with numbered divisions, the nodes named for messages, and its constants."""
        proto = with_inputs(self._proto, given, self._constants)
        proto.ir_version = IR_VERSION
        for number, node in _numbered(proto):
            node.attribute.append(helper.make_attribute(NUMBER, number))
        for node in proto.graph.node:
            node.name = name_of(node)
        # Between nodes that it can only run in float32, ONNX Runtime runs a float16 node in float32 too, but not a node
        # that makes an output of the model. So float16 quotients become outputs.
        outputs = {value.name for value in proto.graph.output}
        for node in proto.graph.node:
            at = number_of(node)
            if at is not None and self._divisions[at].element_type in (None, FLOAT16):
                proto.graph.output.extend(ValueInfoProto(name=name) for name in node.output if name not in outputs)
        for name, array in self._constants.items():
            if name in given:
                continue
            if array.size <= _LARGEST_INSIDE or array.dtype == object or is_packed(array.dtype):
                proto.graph.initializer.append(numpy_helper.from_array(array, name))
                continue
            code = helper.np_dtype_to_tensor_dtype(array.dtype)
            place = proto.graph.initializer.add(name=name, data_type=code, dims=array.shape)
            place.data_location = TensorProto.EXTERNAL
            place.external_data.add(key="location", value=name)
            if name not in self._external:
                self._external[name] = to_runtime(name, array)
        # ONNX Runtime runs a Scan only if it knows the shapes of its body's results. It does not infer them behind a
        # division by a scalar in the library, to which it shows a scalar and an unknown shape alike.
        return infer_types(proto) if any(node.op_type == "Scan" for node in model_nodes(proto)) else proto

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """Turn an error of ONNX Runtime into a ModelError that names the node it is about, and says what to do."""
        try:
            yield
        except ModelError as error:
            raise ModelError(f"{error}; {ADVICE}") from None
        # ONNX Runtime's exceptions have no more specific common base.
        except Exception as error:
            said = re.search(r"vinculum: (.*)", str(error))
            if said is not None:
                raise _LibraryError(said[1]) from None
            reason = f"{self._culprit(str(error))} cannot be run by ONNX Runtime: {reason_of(error)}"
            raise ModelError(f"{reason}; {ADVICE}") from None

    def _culprit(self, message: str) -> str:
        """Return the title of the node that a message names."""
        for node in self._proto.graph.node:
            name = name_of(node)
            spellings = (f"'{name}'", f'"{name}"', f"({name})", f"{node.domain}:{node.op_type}(")
            if any(spelling in message for spelling in spellings):
                return title(node)
        return "the model"


def _numbered(proto: ModelProto) -> Iterator[tuple[int, NodeProto]]:
    """Yield the divisions of a graph and its functions, with their numbers."""
    for node in model_nodes(proto):
        number = number_of(node)
        if number is not None:
            yield number, node
