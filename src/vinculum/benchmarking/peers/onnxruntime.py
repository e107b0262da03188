"""ONNX Runtime on the CPU, inputs and output bound once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from vinculum.benchmarking.cells import Cell
from vinculum.benchmarking.peers.protocol import Prepared
from vinculum.conformance.cases.operation import Operation
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import Dialect

_QUIET = 4


class OnnxRuntime:
    """ONNX Runtime, in a model of one node."""

    title = "ONNX Runtime"
    packages = ("onnxruntime",)
    install = "pip install 'vinculum-div[onnxruntime]'"
    most_threads = None

    def __init__(self) -> None:
        self._threads = 1

    def start(self, threads: int) -> None:
        """Import it; each session gets that number of threads."""
        import onnxruntime  # noqa: F401  # imported now, so that no cell is charged with it

        self._threads = threads

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        """Return a call of a session whose inputs and output share the arrays' memory."""
        if cell.spec.dialect is not Dialect.ONNX:
            raise UnsupportedError("ONNX has no floor division")
        import onnxruntime

        from vinculum.conformance.runtimes.programs.onnx_model import onnx_model

        operation = Operation(cell.spec, {}, tuple(operands), (False,) * len(operands))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self._threads, 1
        options.log_severity_level = _QUIET
        content = onnx_model(operation).SerializeToString()
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, array in operation.inputs.items():
            binding.bind_cpu_input(name, array)
        (output,) = session.get_outputs()
        binding.bind_output(output.name, "cpu", 0, out.dtype, out.shape, out.ctypes.data)
        return Prepared(partial(session.run_with_iobinding, binding), lambda: out)
