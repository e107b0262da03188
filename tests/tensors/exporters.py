"""Stand-ins for arrays of other libraries: NumPy arrays exported through DLPack."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

_UNKNOWN_TO_DLPACK = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


class Exporter:
    """An array that may refuse to be exported."""

    layout = "torch.strided"

    def __init__(self, array: Any, *, gradient: bool = False, negated: bool = False, device: int = 1) -> None:
        self.array = np.asarray(array)
        self._gradient, self._negated, self._device = gradient, negated, device

    @property
    def dtype(self) -> str:
        return f"torch.{self.array.dtype.name}"

    def is_neg(self) -> bool:
        return self._negated

    def view(self, dtype: str) -> Any:
        name = dtype.removeprefix("torch.")
        return type(self)(self.array.view(getattr(ml_dtypes, name, name)))

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0

    def __dlpack__(self, **options: Any) -> Any:
        if self._device != 1:
            raise BufferError("Unsupported device type")
        if self._gradient:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if self.array.dtype.name in _UNKNOWN_TO_DLPACK:
            raise BufferError(f"{self.dtype} is not supported by dlpack")
        return self.array.__dlpack__(**options)


class Tensor(Exporter):
    """A stand-in for a PyTorch tensor without a gradient."""

    __module__ = "torch"
    requires_grad = False

    @property
    def is_cuda(self) -> bool:
        return self._device == 2


def from_dlpack(exporter: Any) -> Tensor:
    """Return a tensor in the memory of an array."""
    return Tensor(np.from_dlpack(exporter))


def _no(*_: Any) -> bool:
    return False


TORCH = SimpleNamespace(
    from_dlpack=from_dlpack,
    jit=SimpleNamespace(is_tracing=_no),
    compiler=SimpleNamespace(is_compiling=_no),
    _C=SimpleNamespace(
        _functorch=SimpleNamespace(is_functorch_wrapped_tensor=_no),
        _len_torch_dispatch_stack=int,
    ),
    **{name: f"torch.{name}" for name in (*_UNKNOWN_TO_DLPACK, "uint8", "uint16")},
)
"""The module that `Tensor` is of."""


class Standard(Exporter):
    """An array of the array API standard."""

    @staticmethod
    def __array_namespace__() -> SimpleNamespace:
        return STANDARD


STANDARD = SimpleNamespace(__name__="standard", from_dlpack=lambda exporter: Standard(np.from_dlpack(exporter)))
"""Its namespace."""


class Frozen(Exporter):
    """A stand-in for a JAX array: read-only, with 32 bits instead of 64."""

    __module__ = "jaxlib"


def _narrowed(exporter: Any) -> Frozen:
    array = np.from_dlpack(exporter)
    return Frozen(array.astype(array.dtype.str.replace("8", "4")) if array.dtype.itemsize == 8 else array)


JAX = SimpleNamespace(
    numpy=SimpleNamespace(from_dlpack=_narrowed),
    lax=SimpleNamespace(bitcast_convert_type=lambda array, name: Frozen(array.view(name).array)),
)
"""The package whose arrays `Frozen` are."""
