"""Writing an IR of an ONNX model, in OpenVINO's process."""

from __future__ import annotations

from pathlib import Path

from vinculum.models.engines.openvino.reading import Names, numbered
from vinculum.models.engines.openvino.tensors import reason_of


class Writer:
    """Reads and writes models; this object lives in OpenVINO's process."""

    def write(self, source: Path, target: Path, names: Names) -> dict[int, bool] | str:
        """Write a model with numbered divisions; return the numbers found, each with whether it divides integers.

        The result is a text, the reason, if OpenVINO refuses the model. The names are those that the divisions get.
        """
        import openvino

        try:
            model = openvino.Core().read_model(source)
            found = numbered(model, names)
            integers = {number: node.get_output_element_type(0).is_integral() for number, node in found.items()}
            for number, node in found.items():
                node.set_friendly_name(names[number][0])
                if integers[number]:
                    node.set_attribute("m_pythondiv", False)
            openvino.save_model(model, target, compress_to_fp16=False)
        except RuntimeError as error:  # The only exception that OpenVINO raises.
            return reason_of(error)
        return integers
