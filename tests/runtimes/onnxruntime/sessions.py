"""Sessions of ONNX Runtime with or without the library, for models written as ONNX text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx.parser
import onnxruntime

from vinculum.models.engines.onnxruntime.values import to_python, to_runtime
from vinculum.onnxruntime import register

Array = npt.NDArray[Any]

ONNX_NAMES = {"float32": "float", "float64": "double"}


def text_of(node: str, name: str, opset: int = 14, operands: str = "ab") -> str:
    """Return a model of one node, such as ``c = Div(a, b)``, on an element type."""
    of = ONNX_NAMES.get(name, name)
    inputs = ", ".join(f"{of}[{operand}_1, {operand}_2] {operand}" for operand in operands)
    return f'<ir_version: 8, opset_import: ["": {opset}]> model ({inputs}) => ({of}[c_1, c_2] c) {{ {node} }}'


class Session:
    """A session for a model, given as ONNX text or serialized; it has the library if `exact`.

    ONNX Runtime writes the optimised model to `optimized`. `settings` are passed to `vinculum.onnxruntime.register`.
    """

    def __init__(
        self,
        text: str | bytes,
        *,
        exact: bool = True,
        entries: dict[str, str] | None = None,
        threads: int = 1,
        optimized: Path | None = None,
        **settings: Any,
    ) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4  # what goes wrong is raised
        for key, value in (entries or {}).items():
            options.add_session_config_entry(key, value)
        if optimized is not None:
            options.optimized_model_filepath = str(optimized)
        if exact:
            register(options, **settings)
        model = onnx.parser.parse_model(text).SerializeToString() if isinstance(text, str) else text
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.names = [value.name for value in self.session.get_inputs()]

    def __call__(self, *operands: Array) -> Array:
        """Run, and return the first output."""
        held = {name: to_runtime(name, operand) for name, operand in zip(self.names, operands, strict=True)}
        result = to_python("c", self.session.run_with_ort_values(None, held)[0])
        return np.array(result)


def message_of(error: BaseException) -> str:
    """Return what the library says in an error of ONNX Runtime."""
    found = re.search(r"vinculum: (.*)", str(error))
    assert found is not None, str(error)
    return found[1]
