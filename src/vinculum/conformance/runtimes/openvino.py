"""OpenVINO on any device, called with ONNX models and with its own IR."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.packages import ONE_BY_ONE, check_package, versions_of
from vinculum.errors import ModelError
from vinculum.models.engines.openvino.tensors import reason_of, to_array, to_tensor
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import Dialect
from vinculum.text import quoted

_VIRTUAL = ("AUTO", "BATCH", "HETERO", "MULTI")
_PRECISION = {"INFERENCE_PRECISION_HINT": "f32"}
_UNSUPPORTED = re.compile(
    r"unsupported|not supported|not implemented|does not support|no conversion rule", re.IGNORECASE
)


class OpenVino:
    """OpenVINO.

    Parameters
    ----------
    options : Mapping of str to str
        ``device``: ``CPU``, the default, or another device that OpenVINO finds. Any other key is a property for
        compiling the model. ``INFERENCE_PRECISION_HINT`` is f32 by default, the precision that the model declares;
        without it OpenVINO may compute in f16 or bf16.
    """

    title = "OpenVINO"

    def __init__(self, options: Mapping[str, str]) -> None:
        self._device = options.get("device", "CPU")
        given = {name: value for name, value in options.items() if name != "device"}
        self._properties = {**_PRECISION, **given}

    def check(self) -> None:
        """Raise ModelError if its package is not installed."""
        check_package(self.title, "openvino")

    def start(self) -> None:
        """Divide 1 by 1 with the options."""
        self.answer(ONE_BY_ONE)

    def versions(self) -> Mapping[str, str]:
        """Return its package's version."""
        return versions_of("openvino")

    def covers(self, operation: Operation) -> bool:
        """Tell whether the operator is one of ONNX's or OpenVINO's."""
        return operation.spec.dialect in (Dialect.ONNX, Dialect.OPENVINO)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient that the model computes; compiled models without constants are cached."""
        content, weights = _model(operation)
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

        Raises
        ------
        UnsupportedError, ModelError
            If OpenVINO does not support it or refuses it.
        """
        try:
            return _core().read_model(*source)
        except RuntimeError as error:  # The only type that OpenVINO raises.
            raise _refusal(error) from None

    def run(self, model: Any, inputs: Mapping[int, NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the outputs of a model, compiled for this one run.

        Parameters
        ----------
        model : Model
            As `read` returns it.
        inputs : Mapping of int to array
            The inputs by their positions in the model.

        Raises
        ------
        UnsupportedError, ModelError
            If OpenVINO does not support it or refuses it.
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
        """Return Python source that makes the model, with onnx's helper or as the text of an IR, and compiles it."""
        from vinculum.conformance.runtimes.programs.openvino_source import openvino_program

        return openvino_program(operation, self._device, self._properties)


def places(model: Any, inputs: Mapping[str, Any]) -> dict[int, Any]:
    """Return inputs by their positions: ONNX names tensors, an IR names Parameters; unused inputs are left out.

    Raises
    ------
    ModelError
        If an input of the model is not given, as OpenVINO would use uninitialised memory.
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


def _model(operation: Operation) -> tuple[bytes, bytes]:
    """Return what OpenVINO reads: a model, and the constants in the accompanying file."""
    if operation.spec.dialect is Dialect.OPENVINO:
        from vinculum.conformance.runtimes.programs.openvino_ir import openvino_ir

        return openvino_ir(operation)
    from vinculum.conformance.runtimes.programs.onnx_model import onnx_model

    return onnx_model(operation).SerializeToString(), b""


def _refusal(error: Exception) -> Exception:
    """Return OpenVINO's error as one of ours with only the reason: not supported, or a wrong model.

    Errors while a node is validated concern the model, even if their text sounds like "not supported".
    """
    reason = reason_of(error)
    lacks = "While validating" not in str(error) and _UNSUPPORTED.search(reason)
    return UnsupportedError(reason) if lacks else ModelError(reason)
