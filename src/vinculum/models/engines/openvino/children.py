"""Objects in OpenVINO's process, in addition to `cut_model`; this module imports no more than they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.models.engines.openvino.reading import NAME, nodes_of
from vinculum.models.engines.openvino.tensors import IN_FLOAT32, reason_of, to_array, to_tensor


class Compiled:
    """Parts compiled by OpenVINO, by their keys; this object lives in OpenVINO's process."""

    def __init__(self) -> None:
        import openvino

        self._core = openvino.Core()
        self._requests: dict[Any, Any] = {}

    def compile_and_run(self, key: Any, content: bytes, inputs: Mapping[str, NDArray[Any]]) -> Any:
        """Compile a part, and return the result of `run`."""
        try:
            model = self._core.read_model(content, b"")
            self._requests[key] = self._core.compile_model(model, "CPU", IN_FLOAT32).create_infer_request()
        except RuntimeError as error:  # The only exception that OpenVINO raises.
            return reason_of(error)
        return self.run(key, inputs)

    def run(self, key: Any, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]] | str | None:
        """Return the outputs of a part, None if it is not compiled, the reason if OpenVINO refuses it."""
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
        """Write a model with numbered divisions; return the numbers found, each with whether it divides integers.

        The result is a text, the reason, if OpenVINO refuses the model. The names are those of the divisions and of
        their quotients: OpenVINO names a layer after its quotient if that is an output of a graph.
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
                if not numbers:  # OpenVINO expands another operator to this Divide.
                    continue
                number = numbers[0]
                found[number] = node.get_output_element_type(0).is_integral()
                node.set_friendly_name(names[number][0])
                if found[number]:
                    node.set_attribute("m_pythondiv", False)
            openvino.save_model(model, target, compress_to_fp16=False)
        except RuntimeError as error:  # The only exception that OpenVINO raises.
            return reason_of(error)
        return found
