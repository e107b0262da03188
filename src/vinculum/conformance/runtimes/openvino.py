"""OpenVINO on any device, called with ONNX models and with its own IR."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from json import dumps
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.protocol import Packaged
from vinculum.conformance.runtimes.reproducer import (
    dtype_source,
    inputs_source,
    ir_lines,
    onnx_program,
    operand_lines,
    packing_lines,
    print_quotient,
    python_program,
    stored,
)
from vinculum.errors import ModelError
from vinculum.models.engines.openvino.tensors import openvino_name, reason_of, to_array, to_tensor
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import Dialect
from vinculum.tensors.storage import element_type_of
from vinculum.text import quoted

_VIRTUAL = ("AUTO", "BATCH", "HETERO", "MULTI")
_PRECISION = {"INFERENCE_PRECISION_HINT": "f32"}
_UNSUPPORTED = re.compile(
    r"unsupported|not supported|not implemented|does not support|no conversion rule", re.IGNORECASE
)


class OpenVino(Packaged):
    """OpenVINO.

    - `options`: ``device``: ``CPU``, the default, or another device that OpenVINO finds. Any other key is a property
      for compiling the model. ``INFERENCE_PRECISION_HINT`` is f32 by default, the precision that the model declares;
      without it OpenVINO may compute in f16 or bf16.
    """

    title = "OpenVINO"
    package = "openvino"

    def __init__(self, options: Mapping[str, str]) -> None:
        self._device = options.get("device", "CPU")
        given = {name: value for name, value in options.items() if name != "device"}
        self._properties = {**_PRECISION, **given}

    def covers(self, operation: Operation) -> bool:
        """Tell whether the operator is one of ONNX's or OpenVINO's."""
        return operation.spec.dialect in (Dialect.ONNX, Dialect.OPENVINO)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient that the model computes; compiled models without constants are cached."""
        from vinculum.conformance.runtimes.models import onnx_model, openvino_ir

        if operation.spec.dialect is Dialect.OPENVINO:
            content, weights = openvino_ir(operation)
        else:
            content, weights = onnx_model(operation).SerializeToString(), b""
        _check_device(self._device)
        compiled = _compiled.__wrapped__ if any(operation.constant) else _compiled
        try:
            model = compiled(content, weights, self._device, tuple(self._properties.items()))
            (quotient,) = _inferred(model, dict(enumerate(operation.inputs.values())))
        except RuntimeError as error:  # The only type that OpenVINO raises.
            raise _refusal(error) from None
        return quotient

    def read(self, *source: Any) -> Any:
        """Return OpenVINO's object for a model, given as a path or as bytes.

        UnsupportedError, ModelError if OpenVINO does not support it or refuses it.
        """
        try:
            return _core().read_model(*source)
        except RuntimeError as error:  # The only type that OpenVINO raises.
            raise _refusal(error) from None

    def run(self, model: Any, inputs: Mapping[int, NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the outputs of a model, compiled for this one run.

        - `model`: As `read` returns it.
        - `inputs`: The inputs by their positions in the model.

        UnsupportedError, ModelError if OpenVINO does not support it or refuses it.
        """
        _check_device(self._device)
        try:
            return _inferred(_core().compile_model(model, self._device, self._properties), inputs)
        except RuntimeError as error:
            raise _refusal(error) from None

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file, which OpenVINO itself reads."""
        model = self.read(str(file))
        return self.run(model, places(model, inputs))

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that makes the model, from ONNX's text or as an IR, and compiles it."""
        lines, result = _run_lines(operation)
        given = f"{dumps(self._device)}, {dumps(self._properties)}"
        if operation.spec.dialect is Dialect.OPENVINO:
            lines = [f"compiled = core.compile_model(core.read_model(xml, data), {given})", *lines]
            made = [*operand_lines(operation), *ir_lines(operation), f"inputs = {inputs_source(operation)}"]
            return python_program(*made, "core = ov.Core()", *lines, print_quotient(result))
        read = 'core.read_model(model.SerializeToString(), b"")'
        lines = ["core = ov.Core()", f"compiled = core.compile_model({read}, {given})", *lines]
        return onnx_program(operation, *packing_lines(operation), *lines, result=result)


def places(model: Any, inputs: Mapping[str, Any]) -> dict[int, Any]:
    """Return inputs by their positions: ONNX names tensors, an IR names Parameters; unused inputs are left out.

    ModelError if an input of the model is not given, as OpenVINO would use uninitialised memory.
    """
    found: dict[int, Any] = {}
    for place, port in enumerate(model.inputs):
        names = (port.get_node().get_friendly_name(), *port.get_names())
        name = next((name for name in names if name in inputs), None)
        if name is None:
            raise ModelError(f"OpenVINO calls an input {quoted(names[-1])}, and the model has none of that name")
        found[place] = inputs[name]
    return found


@cache
def _core() -> Any:
    import openvino

    return openvino.Core()


@cache  # OpenVINO looks for devices for a millisecond.
def _check_device(device: str) -> None:
    devices = _core().available_devices
    name = device.partition(":")[0].partition(".")[0]
    if name not in (*_VIRTUAL, *(known.partition(".")[0] for known in devices)):
        raise ModelError(f"OpenVINO has no device {quoted(device)} here; it has: {', '.join(devices)}")


@lru_cache(maxsize=16)
def _compiled(content: bytes, weights: bytes, device: str, properties: tuple[tuple[str, str], ...]) -> Any:
    return _core().compile_model(_core().read_model(content, weights), device, dict(properties))


def _inferred(compiled: Any, inputs: Mapping[int, NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the outputs of a compiled model."""
    request = compiled.create_infer_request()
    for place, array in inputs.items():
        request.set_input_tensor(place, to_tensor(array))
    request.infer()
    return [to_array(tensor) for tensor in request.output_tensors]


def _refusal(error: Exception) -> Exception:
    """Return OpenVINO's error as one of ours with only the reason: not supported, or a wrong model.

    Errors while a node is validated concern the model, even if their text sounds like "not supported".
    """
    reason = reason_of(error)
    lacks = "While validating" not in str(error) and _UNSUPPORTED.search(reason)
    return UnsupportedError(reason) if lacks else ModelError(reason)


# How types that NumPy lacks are given.
_GIVEN = """
tensor = ov.Tensor(ov.Type.{type}, ov.Shape({name}.shape))
tensor.data.reshape(-1).view(np.uint8)[:] = {stored}.reshape(-1).view(np.uint8)
request.set_input_tensor({place}, tensor)
"""


def _run_lines(operation: Operation) -> tuple[list[str], str]:
    """Return lines that run a compiled model, and the expression of the quotient; types that NumPy lacks are bytes."""
    dividend = operation.operands[0]
    if all(array.dtype.isbuiltin == 1 for array in operation.operands):
        return [], "compiled([*inputs.values()])[0]"
    lines = ["request = compiled.create_infer_request()"]
    for place, (name, array) in enumerate((name.lower(), array) for name, array in operation.inputs.items()):
        told = {"type": openvino_name(element_type_of(array)), "stored": stored(name, operation)}
        lines += _GIVEN.format(place=place, name=name, **told).strip().splitlines()
    lines += ["request.infer()", "result = request.get_output_tensor(0)"]
    lines.append("data = result.data.reshape(-1).view(np.uint8)")
    converted = "view"
    if element_type_of(dividend).bits == 4:
        lines.append("data = np.stack([data & 15, data >> 4], axis=-1).reshape(-1)[: result.get_size()]")
        converted = "astype"
    return lines, f"data.{converted}({dtype_source(dividend.dtype)}).reshape(tuple(result.get_shape()))"
