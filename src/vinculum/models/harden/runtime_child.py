"""The other process of `runtime_process`: runs models in a foreign runtime, one after the other, and tells of each.

It is run as a file and imports nothing of this package, so that it starts quickly and holds only the runtime. A job is
pickled on standard input, each result on standard output as soon as there is one: if a model kills the process, the
number of results tells which.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_BFLOAT16_CODE = 16  # onnx.TensorProto.BFLOAT16
_QUIET = 4

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
    types = [tensor.type for tensor in (*session.get_inputs(), *session.get_outputs())]
    if "tensor(bfloat16)" not in types:
        return list(session.run(None, dict(feeds)))
    values = {name: _ort_value(array) for name, array in feeds.items()}
    return [_array(value) for value in session.run_with_ort_values(None, values)]


def _ort_value(array: Any) -> Any:
    from onnxruntime import OrtValue

    if array.dtype != _BFLOAT16:
        return OrtValue.ortvalue_from_numpy(array)
    return OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), _BFLOAT16_CODE)


def _array(value: Any) -> Any:
    if value.data_type() != "tensor(bfloat16)":
        return value.numpy()
    # NumPy has no bfloat16 that ONNX Runtime knows, so its bits are copied.
    from ctypes import c_uint16

    shape = tuple(value.shape())
    count = int(np.prod(shape, dtype=np.int64))
    bits = np.ctypeslib.as_array((c_uint16 * count).from_address(value.data_ptr())) if count else np.empty(0, np.uint16)
    return bits.copy().view(_BFLOAT16).reshape(shape)


def run_openvino(model: Model, feeds: Feeds) -> list[Any]:
    """Return the outputs that OpenVINO computes on the CPU, in the precision that the model declares."""
    import openvino

    core = openvino.Core()
    read = core.read_model(model, b"") if isinstance(model, bytes) else core.read_model(model)
    compiled = core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
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


def main() -> None:
    """Run the job on standard input."""
    results = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("w") as nowhere:  # What the runtime prints is no result.
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    runtime, cases = pickle.load(sys.stdin.buffer)
    for model, feeds in cases:
        try:
            result: tuple[str, Any] = ("outputs", _RUNNERS[runtime](model, feeds))
        except Exception as error:
            result = ("error", f"{type(error).__name__}: {error}")
        pickle.dump(result, results)
        results.flush()


if __name__ == "__main__":
    main()
