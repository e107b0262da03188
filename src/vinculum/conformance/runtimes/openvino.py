"""OpenVINO, of any device, asked in ONNX models and in its own IR."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.question import Question
from vinculum.conformance.runtimes.packages import ONE_BY_ONE, check_elsewhere, check_installed, versions_of
from vinculum.errors import ModelError
from vinculum.models.openvino_ir.constants import unpacked
from vinculum.sandbox import UnsupportedError
from vinculum.spec.element_types import ElementType, by_openvino_name
from vinculum.spec.model import Dialect
from vinculum.tensors.storage import element_type_of_dtype
from vinculum.text import one_line, quoted

_VIRTUAL = ("AUTO", "BATCH", "HETERO", "MULTI")
_PRECISION = {"INFERENCE_PRECISION_HINT": "f32"}
_NODE = r"While validating (?:ONNX )?node '.*?'(?: with friendly_name '.*?')?:"
_PLACES = re.compile(rf"Exception from \S+:\d+:|Check '.*?' failed at \S+:\d+:|{_NODE}")
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
        check_installed(self.title, "openvino", "pip install 'vinculum[openvino]'")
        if self._options:
            check_elsewhere(f"{__name__}:OpenVino", self._options)

    def start(self) -> None:
        """Divide one by one, as the options say."""
        self.answer(ONE_BY_ONE)

    def versions(self) -> Mapping[str, str]:
        """Return its package's version."""
        return versions_of("openvino")

    def covers(self, question: Question) -> bool:
        """Tell whether it is a question about an operator of ONNX or of its own."""
        return question.spec.dialect in (Dialect.ONNX, Dialect.OPENVINO)

    def answer(self, question: Question) -> NDArray[Any]:
        """Return the quotient that the model computes; one without constants is compiled once for many questions."""
        content, weights, inputs = _model(question)
        _check_device(self._device)
        compiled = _compiled.__wrapped__ if any(question.constant) else _compiled
        try:
            model = compiled(content, weights, self._device, tuple(self._properties.items()))
            (quotient,) = _inferred(model, dict(enumerate(inputs.values())))
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

    def reproducer(self, question: Question) -> str:
        """Return Python source that makes the model, with onnx's helper or as the text of an IR, and compiles it."""
        from vinculum.conformance.runtimes.openvino_reproducer import reproducer

        return reproducer(question, self._device, self._properties)


@cache
def _core() -> Any:
    import openvino

    return openvino.Core()


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
        request.set_input_tensor(place, _tensor(array))
    request.infer()
    return [_array(tensor) for tensor in request.output_tensors]


def _model(question: Question) -> tuple[bytes, bytes, Mapping[str, NDArray[Any]]]:
    """Return what OpenVINO reads, and the inputs in the model's order."""
    if question.spec.dialect is Dialect.OPENVINO:
        from vinculum.conformance.programs.openvino_ir import openvino_program

        program = openvino_program(question)
        return program.xml, program.data, program.inputs
    from vinculum.conformance.programs.onnx_model import onnx_program

    asked = onnx_program(question)
    return asked.model.SerializeToString(), b"", asked.inputs


def _tensor(array: NDArray[Any]) -> Any:
    """Return a tensor with an array's bytes, since NumPy and OpenVINO do not know each other's types."""
    import openvino

    from vinculum.models.convert.to_openvino.writer import openvino_name, packed

    if array.dtype == object:  # Of a whole model's inputs strings are.
        return openvino.Tensor(array.astype(np.str_))
    element_type = element_type_of_dtype(array.dtype) or "bool"
    # Not on the bytes themselves: of those a tensor does not know that they must live as long as it.
    tensor = openvino.Tensor(getattr(openvino.Type, openvino_name(element_type)), openvino.Shape(array.shape))
    if array.size:
        tensor.data.reshape(-1).view(np.uint8)[:] = np.frombuffer(packed(array, element_type), np.uint8)
    return tensor


def _array(tensor: Any) -> NDArray[Any]:
    """Return a copy of a tensor's bytes as an array."""
    name = tensor.get_element_type().get_type_name()
    if name == "string":
        return np.array(tensor.str_data, object)
    element_type: ElementType | str = "bool" if name == "boolean" else by_openvino_name(name)
    data = np.array(tensor.data).reshape(-1).view(np.uint8)
    return unpacked(data, element_type, tensor.get_size()).reshape(tuple(tensor.get_shape()))


def _refusal(error: Exception) -> Exception:
    """Return OpenVINO's error with its reason only: that it lacks something, or else that the model is wrong.

    Errors that begin while a node is validated are about the model, whatever their words are.
    """
    words = " ".join(_PLACES.sub("", str(error)).split())
    reason = one_line(Exception(words))
    lacks = "While validating" not in str(error) and _UNSUPPORTED.search(words)
    return UnsupportedError(reason) if lacks else ModelError(reason)
