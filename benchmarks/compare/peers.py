"""What is measured: our own engine, the packages that it is compared with, and the roofline.

Foreign packages are imported in the process that measures them, and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.compare.cells import Cell
from benchmarks.compare.rightness import are_exact, are_ours, operator_of
from vinculum.conformance.cases.operation import Operation
from vinculum.kernels import backend
from vinculum.kernels.threads import set_threads
from vinculum.sandbox import UnsupportedError
from vinculum.spec.element_types import Kind
from vinculum.spec.openvino_divide import DIVIDE_1

Array = NDArray[Any]
Call = Callable[[], object]


class Peer:
    """A package that divides; it is made in the process where it is measured."""

    title: ClassVar[str]  # In sentences.
    packages: ClassVar[tuple[str, ...]]  # Its import name, then others that its speed depends on.
    single_threaded: ClassVar[bool] = False  # Whether it can use one thread only.
    returns: ClassVar[bool] = False  # Whether calls return the quotients, as it cannot be told where to write them.

    def __init__(self, threads: int) -> None:
        """Import the package, and set its number of threads."""

    def prepare(self, cell: Cell, operands: Sequence[Array], out: Array) -> Call:
        """Return what divides, after everything that can be done once for many calls.

        This or the first call raises any exception if the peer cannot compute this; the message gives the reason.
        """
        raise NotImplementedError

    def is_right(self, cell: Cell, operands: Sequence[Array], quotients: Array) -> bool:
        """Return whether what was computed is right: the bits that our engine gives."""
        return are_ours(cell, operands, quotients)


class Vinculum(Peer):
    """Our engine, prepared once for many divisions, with existing memory for quotients."""

    title = "Vinculum"
    packages = ("vinculum", "numpy")

    def __init__(self, threads: int) -> None:
        set_threads(threads)

    def prepare(self, cell: Cell, operands: Sequence[Array], out: Array) -> Call:
        a, b = (*operands, None)[:2]
        return partial(operator_of(cell), a, b, out)

    def is_right(self, cell: Cell, operands: Sequence[Array], quotients: Array) -> bool:
        """Return whether they equal the reference's."""
        return are_exact(cell, operands, quotients)


class Roofline(Peer):
    """A pass over memory that reads and writes the same number of bytes without dividing."""

    title = "the plain pass over memory"
    packages = ("vinculum",)

    def __init__(self, threads: int) -> None:
        set_threads(threads)

    def prepare(self, cell: Cell, operands: Sequence[Array], out: Array) -> Call:
        return partial(backend().exclusive_or, *self._both(operands), out)

    def is_right(self, cell: Cell, operands: Sequence[Array], quotients: Array) -> bool:
        """Return whether the bits were combined."""
        a, b = (operand.view(f"u{operand.itemsize}") for operand in self._both(operands))
        return np.array_equal(quotients.view(a.dtype), a ^ b)

    def _both(self, operands: Sequence[Array]) -> tuple[Array, Array]:
        # A single operand is combined with a scalar, which needs no memory.
        a, b = (*operands, np.zeros((), operands[0].dtype))[:2]
        return a, b


class Numpy(Peer):
    """NumPy's universal functions; ml_dtypes provides those for bfloat16."""

    title = "NumPy"
    packages = ("numpy", "ml_dtypes")
    single_threaded = True

    def prepare(self, cell: Cell, operands: Sequence[Array], out: Array) -> Call:
        if cell.type.kind is Kind.SIGNED and not cell.is_floor:
            raise UnsupportedError("it has no truncating division of signed integers")
        function = np.reciprocal if len(operands) == 1 else np.floor_divide if cell.type.is_integer else np.divide
        return partial(function, *operands, out=out)


class Torch(Peer):
    """PyTorch, called with tensors that share the arrays' memory."""

    title = "PyTorch"
    packages = ("torch",)

    def __init__(self, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)

    def prepare(self, cell: Cell, operands: Sequence[Array], out: Array) -> Call:
        import torch

        def tensor(array: Array) -> Any:
            if hasattr(np, cell.element_type):
                return torch.from_numpy(array)
            return torch.from_numpy(array.view(np.int16)).view(getattr(torch, cell.element_type))

        *tensors, result = map(tensor, (*operands, out))
        if len(tensors) == 1:
            return partial(torch.reciprocal, *tensors, out=result)
        mode = ("floor" if cell.is_floor else "trunc") if cell.type.is_integer else None
        return partial(torch.div, *tensors, rounding_mode=mode, out=result)


class OnnxRuntime(Peer):
    """ONNX Runtime, in a model of one node; inputs and output are bound once."""

    title = "ONNX Runtime"
    packages = ("onnxruntime",)

    def __init__(self, threads: int) -> None:
        import onnxruntime

        self._options = onnxruntime.SessionOptions()
        self._options.intra_op_num_threads, self._options.inter_op_num_threads = threads, 1
        self._options.log_severity_level = 4

    def prepare(self, cell: Cell, operands: Sequence[Array], out: Array) -> Call:
        if cell.is_floor:
            raise UnsupportedError("ONNX has no floor division")
        import onnxruntime

        from vinculum.conformance.runtimes.models import onnx_model

        operation = _operation(cell, operands)
        content = onnx_model(operation).SerializeToString()
        session = onnxruntime.InferenceSession(content, self._options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, array in operation.inputs.items():
            binding.bind_cpu_input(name, array)
        (output,) = session.get_outputs()
        binding.bind_output(output.name, "cpu", 0, out.dtype, out.shape, out.ctypes.data)
        return partial(session.run_with_iobinding, binding)


class OpenVino(Peer):
    """OpenVINO: Divide in an IR, and Reciprocal, for which it has no layer, in an ONNX model."""

    title = "OpenVINO"
    packages = ("openvino",)

    def __init__(self, threads: int) -> None:
        import openvino

        self._core = openvino.Core()
        self._properties = {
            "INFERENCE_PRECISION_HINT": "f32",  # By default it may compute in lower precision than the model declares.
            "NUM_STREAMS": "1",
            "INFERENCE_NUM_THREADS": str(threads),
        }

    def prepare(self, cell: Cell, operands: Sequence[Array], out: Array) -> Call:
        compiled = self._core.compile_model(self._core.read_model(*_ir(cell, operands)), "CPU", self._properties)
        request = compiled.create_infer_request()
        for place, array in enumerate(operands):
            request.set_input_tensor(place, _tensor(cell, array))
        request.set_output_tensor(0, _tensor(cell, out))
        return partial(request.infer, share_outputs=True)


def _ir(cell: Cell, operands: Sequence[Array]) -> tuple[bytes, bytes]:
    if len(operands) == 1:
        from vinculum.conformance.runtimes.models import onnx_model

        return onnx_model(_operation(cell, operands)).SerializeToString(), b""
    from vinculum.conformance.runtimes.models import openvino_ir

    # The two values give different quotients for signed integers only.
    attributes = {"m_pythondiv": cell.is_floor} if cell.type.kind is Kind.SIGNED else {}
    return openvino_ir(Operation(DIVIDE_1, attributes, tuple(operands), (False, False)))


def _tensor(cell: Cell, array: Array) -> Any:
    import openvino

    if hasattr(np, cell.element_type):
        return openvino.Tensor(array, shared_memory=True)
    kind = getattr(openvino.Type, str(cell.type.openvino))
    return openvino.Tensor(array.view(np.uint16), openvino.Shape(array.shape), kind)


def _operation(cell: Cell, operands: Sequence[Array]) -> Operation:
    return Operation(cell.spec, {}, tuple(operands), (False,) * len(operands))


class Numexpr(Peer):
    """numexpr. It computes narrow types in wider ones, and casts the quotients back to the narrow type."""

    title = "numexpr"
    packages = ("numexpr",)

    def __init__(self, threads: int) -> None:
        os.environ["NUMEXPR_MAX_THREADS"] = str(threads)
        import numexpr

        numexpr.set_num_threads(threads)

    def prepare(self, cell: Cell, operands: Sequence[Array], out: Array) -> Call:
        if cell.is_floor:
            raise UnsupportedError("it has no floor division of integers")
        import numexpr

        names = dict(zip("ab", operands, strict=False))
        expression = "a / b" if len(operands) == 2 else "1 / a"
        numexpr.evaluate(expression, local_dict=names, out=out, casting="unsafe", truediv=False)
        return partial(numexpr.re_evaluate, local_dict=names)


class Jax(Peer):
    """JAX, compiled, with 64-bit types enabled."""

    title = "JAX"
    packages = ("jax", "jaxlib")
    returns = True

    def __init__(self, threads: int) -> None:
        os.environ["NPROC"] = str(threads)
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax

        jax.config.update("jax_enable_x64", True)

    def prepare(self, cell: Cell, operands: Sequence[Array], out: Array) -> Call:
        import jax

        def divide(*arrays: Any) -> Any:
            if len(arrays) == 1:
                return jax.numpy.reciprocal(*arrays)
            if cell.is_floor:
                return jax.numpy.floor_divide(*arrays)
            # It truncates integers; it accepts equal shapes only.
            return jax.lax.div(*jax.numpy.broadcast_arrays(*arrays))

        compiled, placed = jax.jit(divide), [jax.device_put(operand) for operand in operands]
        return lambda: compiled(*placed).block_until_ready()


OURS, ROOFLINE = "vinculum", "limit"
"""Our engine and the roofline, which are always measured."""

PEERS: Mapping[str, type[Peer]] = MappingProxyType(
    {
        "numpy": Numpy,
        "torch": Torch,
        "onnxruntime": OnnxRuntime,
        "openvino": OpenVino,
        "numexpr": Numexpr,
        "jax": Jax,
    }
)
"""The packages that we are compared with."""


def installed() -> dict[str, type[Peer]]:
    """Return the peers whose packages are installed."""
    return {name: peer for name, peer in PEERS.items() if find_spec(peer.packages[0]) is not None}
