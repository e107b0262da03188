"""PyTorch, called through its functions on tensors of a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.function_calls import Function, can_be_called, function_for
from vinculum.conformance.runtimes.options import check_names, chosen
from vinculum.conformance.runtimes.packages import check_package, versions_of
from vinculum.conformance.runtimes.programs.reproducer import (
    operand_lines,
    operand_names,
    print_quotient,
    python_program,
)
from vinculum.errors import ModelError
from vinculum.sandbox import UnsupportedError

_BITS: dict[int, np.dtype[Any]] = {8: np.dtype(np.uint8), 16: np.dtype(np.int16)}
_ROUNDING_MODES = {Function.TRUNCATING_DIVIDE: "trunc", Function.FLOOR_DIVIDE: "floor"}


class Torch:
    """PyTorch.

    Parameters
    ----------
    options : Mapping of str to str
        ``device``: the device of the tensors, ``"cpu"`` or ``"cuda"``.

    Raises
    ------
    AttributeValueError
        If another option or value is given.
    """

    title = "PyTorch"

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)
        check_names("torch", options, ("device",))
        self._device = chosen("torch", "device", options, ("cpu", "cuda"), "cpu")

    def check(self) -> None:
        """Raise ModelError if PyTorch is not installed."""
        check_package(self.title, "torch", f"{__name__}:Torch", self._options)

    def versions(self) -> Mapping[str, str]:
        """Return the version of PyTorch."""
        return versions_of("torch")

    def covers(self, operation: Operation) -> bool:
        """Tell whether a function call can express this."""
        return can_be_called(operation)

    def start(self) -> None:
        """Import PyTorch, and find the device."""
        import torch

        if self._device == "cuda" and not torch.cuda.is_available():
            raise ModelError("this PyTorch finds no CUDA device here; leave device=cuda out")

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the result of the function; its NotImplementedError becomes UnsupportedError."""
        import torch

        operands = [_tensor(torch, operand, self._device) for operand in operation.operands]
        try:
            quotient = _function(torch, function_for(operation))(*operands)
        except NotImplementedError as error:
            raise UnsupportedError(str(error)) from None
        return _array(torch, quotient.cpu())

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that calls the same function."""
        named = zip(operand_names(operation), operation.operands, strict=True)
        spelt = [_tensor_source(name, operand, self._device) for name, operand in named]
        function = function_for(operation)
        mode = f', rounding_mode="{_ROUNDING_MODES[function]}"' if function in _ROUNDING_MODES else ""
        name = "reciprocal" if function is Function.RECIPROCAL else "div"
        return python_program(
            *operand_lines(operation),
            f"quotient = torch.{name}({', '.join(spelt)}{mode}){'.cpu()' if self._device != 'cpu' else ''}",
            _print_source(operation),
        )


def _tensor_source(name: str, array: NDArray[Any], device: str) -> str:
    tensor = f"torch.from_numpy({name})"
    if not hasattr(np, array.dtype.name):
        bits = _BITS[8 * array.dtype.itemsize].name
        tensor = f"torch.from_numpy({name}.view(np.{bits})).view(torch.{array.dtype.name})"
    return tensor if device == "cpu" else f'{tensor}.to("{device}")'


def _print_source(operation: Operation) -> str:
    """Return the line that prints the quotient; for operands of two types, only PyTorch knows its type."""
    dtype, *others = (operand.dtype for operand in operation.operands)
    if any(other != dtype for other in others):
        return "print(quotient)"
    if hasattr(np, dtype.name):
        return print_quotient("quotient.numpy()")
    bits = _BITS[8 * dtype.itemsize].name
    return print_quotient(f"quotient.view(torch.{bits}).numpy().view(ml_dtypes.{dtype.name})")


def _function(torch: Any, function: Function) -> Callable[..., Any]:
    if function is Function.RECIPROCAL:
        return torch.reciprocal  # type: ignore[no-any-return]  # PyTorch's types are not checked
    mode = _ROUNDING_MODES.get(function)
    return lambda a, b: torch.div(a, b, rounding_mode=mode)


def _tensor(torch: Any, array: NDArray[Any], device: str) -> Any:
    """Return a tensor of the same bits; types that NumPy lacks are passed as integers."""
    writable = np.array(array)  # PyTorch warns about tensors that share read-only memory.
    if hasattr(np, array.dtype.name):
        return torch.from_numpy(writable).to(device)
    name = array.dtype.name
    if not hasattr(torch, name):
        raise UnsupportedError(f"PyTorch has no tensors of {name}")
    return torch.from_numpy(writable.view(_BITS[8 * array.dtype.itemsize])).view(getattr(torch, name)).to(device)


def _array(torch: Any, tensor: Any) -> NDArray[Any]:
    """Return an array of the same bits."""
    name = str(tensor.dtype).removeprefix("torch.")
    if hasattr(np, name):
        return np.asarray(tensor.numpy())
    width = {1: torch.uint8, 2: torch.int16}[tensor.element_size()]
    bits: NDArray[Any] = tensor.view(width).numpy()
    return bits.view(np.dtype(name))
