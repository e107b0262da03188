"""OpenVINO, of any device, asked in ONNX models and in its own IR."""

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
        ``device``: ``CPU``, its default, or what else OpenVINO finds here. Any other key is a property that the model
        is compiled with. ``INFERENCE_PRECISION_HINT`` is f32 unless it is given: the precision that the model declares,
        where OpenVINO by itself may compute in f16 or bf16.
    """

    title = "OpenVINO"

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)
        self._device = options.get("device", "CPU")
        given = {name: value for name, value in options.items() if name != "device"}
        self._properties = {**_PRECISION, **given}

    def check(self) -> None:
        """Refuse to go on if its package is not installed, or it does not start as the options say."""
        check_package(self.title, "openvino", f"{__name__}:OpenVino", self._options)

    def start(self) -> None:
        """Divide one by one, as the options say."""
        self.answer(ONE_BY_ONE)

    def versions(self) -> Mapping[str, str]:
        """Return its package's version."""
        return versions_of("openvino")

    def covers(self, operation: Operation) -> bool:
        """Tell whether it is an operation about an operator of ONNX or of its own."""
        return operation.spec.dialect in (Dialect.ONNX, Dialect.OPENVINO)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient that the model computes; one without constants is compiled once for many operations."""
        content, weights = _model(operation)
        _check_device(self._device)
        compiled = _compiled.__wrapped__ if any(operation.constant) else _compiled
        try:
            model = compiled(content, weights, self._device, tuple(self._properties.items()))
            (quotient,) = _inferred(model, dict(enumerate(operation.inputs.values())))
        except RuntimeError as error:  # All that OpenVINO raises.
            raise _refusal(error) from None
        return quotient

    def read(self, *source: Any) -> Any:
        """Return the model in a file, by its path, or in bytes, as OpenVINO holds it.

        Raises
        ------
        UnsupportedError, ModelError
            As OpenVINO refuses it.
        """
        try:
            return _core().read_model(*source)
        except RuntimeError as error:  # All that OpenVINO raises.
            raise _refusal(error) from None

    def run(self, model: Any, inputs: Mapping[int, NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the outputs of a model, compiled for this one run.

        Parameters
        ----------
        model : Model
            As `read` returns it.
        inputs : Mapping of int to array
            By their places in the model.

        Raises
        ------
        UnsupportedError, ModelError
            As OpenVINO refuses it.
        """
        _check_device(self._device)
        try:
            return _inferred(_core().compile_model(model, self._device, self._properties), inputs)
        except RuntimeError as error:
            raise _refusal(error) from None

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file, by OpenVINO's own reading of it."""
        model = self.read(str(file))
        return self.run(model, places(model, inputs))

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that makes the model, with onnx's helper or as the text of an IR, and compiles it."""
        from vinculum.conformance.runtimes.programs.openvino_source import openvino_program

        return openvino_program(operation, self._device, self._properties)


def places(model: Any, inputs: Mapping[str, Any]) -> dict[int, Any]:
    """Return inputs by their places: ONNX names tensors, an IR its Parameters; what is unused has none.

    Raises
    ------
    ModelError
        If one is to be given that has none of their names: OpenVINO would take whatever its memory holds.
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
    """Return what OpenVINO reads: a model, and the constants beside it."""
    if operation.spec.dialect is Dialect.OPENVINO:
        from vinculum.conformance.runtimes.programs.openvino_ir import openvino_ir

        return openvino_ir(operation)
    from vinculum.conformance.runtimes.programs.onnx_model import onnx_model

    return onnx_model(operation).SerializeToString(), b""


def _refusal(error: Exception) -> Exception:
    """Return OpenVINO's error with its reason only: that it lacks something, or else that the model is wrong.

    Errors that begin while a node is validated are about the model, whatever their words are.
    """
    reason = reason_of(error)
    lacks = "While validating" not in str(error) and _UNSUPPORTED.search(reason)
    return UnsupportedError(reason) if lacks else ModelError(reason)
