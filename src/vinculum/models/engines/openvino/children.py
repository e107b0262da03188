"""Objects that live in OpenVINO's process beside `cut_model`; it imports no more than they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.models.engines.openvino.cut_model import NAME, nodes_of
from vinculum.models.engines.openvino.tensors import IN_FLOAT32, reason_of, to_array, to_tensor


class Compiled:
    """Parts that OpenVINO has compiled, by their keys; this object lives in OpenVINO's process."""

    def __init__(self) -> None:
        import openvino

        self._core = openvino.Core()
        self._requests: dict[Any, Any] = {}

    def compile_and_run(self, key: Any, content: bytes, inputs: Mapping[str, NDArray[Any]]) -> Any:
        """Compile a part, and return what `run` does."""
        try:
            model = self._core.read_model(content, b"")
            self._requests[key] = self._core.compile_model(model, "CPU", IN_FLOAT32).create_infer_request()
        except RuntimeError as error:  # All that OpenVINO raises.
            return reason_of(error)
        return self.run(key, inputs)

    def run(self, key: Any, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]] | str | None:
        """Return the outputs of a part, None if it has not been compiled, a text if OpenVINO refuses."""
        if key not in self._requests:
            return None
        request = self._requests[key]
        try:
            for port in request.get_compiled_model().inputs:
                name = next(name for name in (*port.get_names(), port.get_node().get_friendly_name()) if name in inputs)
                request.set_tensor(port, to_tensor(inputs[name]))
            request.infer()
            return [to_array(tensor) for tensor in request.output_tensors]
        except RuntimeError as error:
            return reason_of(error)


class Writer:
    """Reads and writes models; this object lives in OpenVINO's process."""

    def write(self, source: Path, target: Path, names: Sequence[tuple[str, str]]) -> dict[int, bool] | str:
        """Write a model whose divisions are numbered, and return which are there, and whether they are of integers.

        A text is the reason of OpenVINO's refusal. The names are those of the divisions and of their quotients:
        OpenVINO calls by its quotient what gives an output of a graph.
        """
        import openvino

        try:
            model = openvino.Core().read_model(source)
            called = {f"{NAME}{number}": [number] for number in range(len(names))}
            for number, (_, quotient) in enumerate(names):
                called.setdefault(quotient, []).append(number)
            found: dict[int, bool] = {}
            for node in (node for _, node in nodes_of(model) if node.get_type_name() == "Divide"):
                numbers = [number for number in called.get(node.get_friendly_name(), ()) if number not in found]
                if not numbers:  # What OpenVINO makes of another operator.
                    continue
                number = numbers[0]
                found[number] = node.get_output_element_type(0).is_integral()
                node.set_friendly_name(names[number][0])
                if found[number]:
                    node.set_attribute("m_pythondiv", False)
            openvino.save_model(model, target, compress_to_fp16=False)
        except RuntimeError as error:  # All that OpenVINO raises.
            return reason_of(error)
        return found
