"""Arrays of other libraries: their elements are viewed through DLPack, and results are returned in the same way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from vinculum.errors import ElementTypeError

# NumPy and CuPy do not read these from DLPack: they are exchanged as unsigned integers with the same bits.
_ENCODINGS = {
    "bfloat16": (np.dtype(ml_dtypes.bfloat16), "uint16"),
    "float8_e4m3fn": (np.dtype(ml_dtypes.float8_e4m3fn), "uint8"),
    "float8_e5m2": (np.dtype(ml_dtypes.float8_e5m2), "uint8"),
}

_CUDA_DEVICES = (2, 13)  # DLPack's numbers: memory of a CUDA device, and memory that it shares with the processor


@dataclass(frozen=True)
class Library:
    """A library of arrays."""

    name: str
    from_dlpack: Callable[[Any], Any]  # Makes the library's array from a DLPack exporter, in the same memory.
    bit_cast: Callable[[Any, str], Any] | None = None  # To a type by name; None if DLPack has all its types.
    writable: bool = True
    stream: Callable[[Any], int] | None = None  # The CUDA stream on which the library uses an array; None if unknown.

    def exported(self, array: Any) -> tuple[Any, np.dtype[Any] | None]:
        """Return an exporter of an array's elements: itself and None, or its encodings and their type."""
        dtype, bits = _ENCODINGS.get(element_type_name(array.dtype), (None, ""))
        if self.bit_cast is None or dtype is None:
            return array, None
        return self.bit_cast(array, bits), dtype

    def adopted(self, results: Any) -> Any:
        """Return results, in unshared memory, as an array of the library.

        ElementTypeError if the library narrows their element type: JAX makes 32-bit types of 64-bit ones unless x64 is
        enabled.
        """
        name = element_type_name(results.dtype)
        if self.bit_cast is not None and name in _ENCODINGS:
            return self.bit_cast(self.from_dlpack(results.view(_ENCODINGS[name][1])), name)
        adopted = self.from_dlpack(results)
        if element_type_name(adopted.dtype) != name:
            raise ElementTypeError(
                f"{self.name} converted quotients of type {name} to {adopted.dtype}; pass NumPy arrays, or let "
                f"{self.name} keep {name}"
            )
        return adopted


def element_type_name(dtype: object) -> str:
    """Return the NumPy name of an element type of any library."""
    return str(dtype).rpartition(".")[2]  # torch.int32


def packages_of(value: object) -> frozenset[str]:
    """Return the top-level packages of a value's class and of its ancestors."""
    kind: Any = type(value)
    return _packages_of_type(kind)


@lru_cache(maxsize=1024)
def _packages_of_type(kind: type) -> frozenset[str]:
    return frozenset(ancestor.__module__.partition(".")[0] for ancestor in kind.__mro__)


def library_of(value: object) -> Library | None:
    """Return the library that an array belongs to; None for NumPy arrays and other objects."""
    if isinstance(value, (np.ndarray, np.generic, type)):
        return None
    packages = packages_of(value)
    if "torch" in packages:
        torch = sys.modules["torch"]
        return Library(
            "PyTorch",
            torch.from_dlpack,
            lambda array, name: array.view(getattr(torch, name)),
            stream=lambda array: torch.cuda.current_stream(array.device).cuda_stream,
        )
    if packages & {"jax", "jaxlib"}:
        jax = sys.modules["jax"]
        return Library("JAX", jax.numpy.from_dlpack, jax.lax.bitcast_convert_type, writable=False)
    if hasattr(value, "__array_namespace__"):
        namespace = value.__array_namespace__()
        return Library(namespace.__name__, namespace.from_dlpack)
    return None


def in_library_of(operands: tuple[object, ...], results: Any) -> Any:
    """Return results as an array of the library that the first operand with one belongs to; as they are for NumPy."""
    library = next(filter(None, map(library_of, operands)), None)
    return results if library is None else library.adopted(results)


def is_followed(value: object) -> bool:
    """Whether a value is a tensor whose operations PyTorch records, to trace, compile, map or differentiate them."""
    if isinstance(value, (np.ndarray, np.generic, type)) or "torch" not in packages_of(value):
        return False
    tensor: Any = value
    torch = sys.modules["torch"]
    return (
        tensor.requires_grad
        or torch.jit.is_tracing()
        or torch.compiler.is_compiling()
        or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        or type(tensor).__module__.startswith("torch._subclasses")
        or torch._C._len_torch_dispatch_stack() > 0
    )


def on_cuda_device(value: object) -> bool:
    """Whether a value is an array in the memory of a CUDA device."""
    if isinstance(value, (np.ndarray, np.generic, type)):
        return False
    if "torch" in packages_of(value):
        return bool(value.is_cuda)  # type: ignore[attr-defined]  # Under torch.compile, a tensor has every attribute.
    try:
        if hasattr(value, "__cuda_array_interface__"):
            return True
        return value.__dlpack_device__()[0] in _CUDA_DEVICES  # type: ignore[attr-defined]
    except Exception:  # Such as a sparse tensor's; viewing the value raises it again.
        return False
