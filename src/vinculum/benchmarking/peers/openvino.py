"""OpenVINO on the CPU, compiled once, with tensors that share the arrays' memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.benchmarking.cells import TYPES, Cell
from vinculum.benchmarking.peers.protocol import Prepared
from vinculum.benchmarking.rightness import rounding_of
from vinculum.conformance.cases.operation import Operation
from vinculum.spec.element_types import Kind
from vinculum.spec.model import IntegerRounding
from vinculum.spec.openvino_divide import DIVIDE_1

_PROPERTIES = {
    "INFERENCE_PRECISION_HINT": "f32",  # By default it may compute in lower precision than the model declares.
    "NUM_STREAMS": "1",
}


class OpenVino:
    """OpenVINO: Divide in an IR, and Reciprocal, for which it has no layer, in an ONNX model."""

    title = "OpenVINO"
    packages = ("openvino",)
    install = "pip install 'vinculum-div[openvino]'"
    most_threads = None

    def __init__(self) -> None:
        self._core: Any = None
        self._threads = 1

    def start(self, threads: int) -> None:
        """Import it; each model is compiled for that number of threads."""
        import openvino

        self._core, self._threads = openvino.Core(), threads

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        """Return a call of a compiled model whose tensors share the arrays' memory."""
        properties = {**_PROPERTIES, "INFERENCE_NUM_THREADS": str(self._threads)}
        compiled = self._core.compile_model(self._core.read_model(*_model(cell, operands)), "CPU", properties)
        request = compiled.create_infer_request()
        # OpenVINO does not keep the arrays alive, on whose memory its tensors depend; `held` does.
        for place, array in enumerate(operands):
            request.set_input_tensor(place, _tensor(cell, array))
        request.set_output_tensor(0, _tensor(cell, out))
        held = (request, *operands, out)
        return Prepared(partial(_infer, held), lambda: out)


def _infer(held: tuple[Any, ...]) -> None:
    held[0].infer(share_outputs=True)


def _model(cell: Cell, operands: Sequence[NDArray[Any]]) -> tuple[bytes, bytes]:
    at_run_time = (False,) * len(operands)
    if len(operands) == 1:
        from vinculum.conformance.runtimes.programs.onnx_model import onnx_model

        operation = Operation(cell.spec, {}, tuple(operands), at_run_time)
        return onnx_model(operation).SerializeToString(), b""
    from vinculum.conformance.runtimes.programs.openvino_ir import openvino_ir

    signed = TYPES[cell.element_type].kind is Kind.SIGNED
    # The two values give different quotients for signed integers only.
    attributes = {"m_pythondiv": rounding_of(cell) is IntegerRounding.FLOOR} if signed else {}
    return openvino_ir(Operation(DIVIDE_1, attributes, tuple(operands), at_run_time))


def _tensor(cell: Cell, array: NDArray[Any]) -> Any:
    import openvino

    if hasattr(np, cell.element_type):
        return openvino.Tensor(array, shared_memory=True)
    kind = getattr(openvino.Type, str(TYPES[cell.element_type].openvino))
    return openvino.Tensor(array.view(np.uint16), openvino.Shape(array.shape), kind)
