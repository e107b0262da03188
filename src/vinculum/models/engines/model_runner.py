"""Runs whole models in a foreign runtime, one after the other; it lives in a process of its own, and imports little."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

_QUIET = 4
_NUMBERS = {"float16": "float16", "float32": "float", "float64": "double", "bool": "bool"}
_NUMBERS |= {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
"""NumPy's own types, and what ONNX Runtime calls them."""

Model = bytes | str
"""A serialised model, or the path of a file."""
Feeds = Mapping[str, Any] | None
"""The inputs, or None if the model is only to be loaded."""


def run_onnxruntime(model: Model, feeds: Feeds) -> list[Any]:
    """Return the outputs that ONNX Runtime computes on the CPU."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _QUIET
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    if feeds is None:
        return []
    names = [output.name for output in session.get_outputs()]
    plain = {f"tensor({name})" for name in _NUMBERS.values()}
    if {output.type for output in session.get_outputs()} <= plain and all(map(_is_plain, feeds.values())):
        return list(session.run(names, dict(feeds)))
    # It imports the onnx package, which takes longer than most models.
    from vinculum.models.engines.onnxruntime.values import to_python, to_runtime

    values = {name: to_runtime(name, array) for name, array in feeds.items()}
    return [to_python(*named) for named in zip(names, session.run_with_ort_values(names, values), strict=True)]


def _is_plain(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.name in _NUMBERS


def run_openvino(model: Model, feeds: Feeds) -> list[Any]:
    """Return the outputs that OpenVINO computes on the CPU, in the precision that the model declares."""
    import openvino

    from vinculum.models.engines.openvino.tensors import IN_FLOAT32

    core = openvino.Core()
    read = core.read_model(model, b"") if isinstance(model, bytes) else core.read_model(model)
    compiled = core.compile_model(read, "CPU", IN_FLOAT32)
    if feeds is None:
        return []
    results = compiled.create_infer_request().infer(dict(feeds))
    return [np.array(results[port]) for port in compiled.outputs]


def run_reference(model: Model, feeds: Feeds) -> list[Any]:
    """Return the outputs that the onnx package's reference evaluator computes."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    proto = onnx.ModelProto.FromString(model) if isinstance(model, bytes) else onnx.load(model)
    evaluator = ReferenceEvaluator(proto)
    return [] if feeds is None else list(evaluator.run(None, dict(feeds)))


_RUNNERS: dict[str, Callable[[Model, Feeds], list[Any]]] = {
    "onnxruntime": run_onnxruntime,
    "openvino": run_openvino,
    "reference": run_reference,
}


class ModelRunner:
    """A runtime that models can be run in."""

    def __init__(self, runtime: str) -> None:
        self._run = _RUNNERS[runtime]

    def run(self, model: Model, feeds: Feeds) -> list[Any]:
        """Return the outputs that the runtime computes; none if the model is only loaded."""
        return self._run(model, feeds)
