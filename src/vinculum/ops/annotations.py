"""The types of operands and options, for type checkers; nothing imports this module at run time.

Arrays of other libraries are described by attributes that NumPy's lack, so that checkers need not have the libraries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypedDict, TypeVar

import numpy as np

from vinculum.ops.policies import Overflow, ZeroDivisor

IntegerT = TypeVar("IntegerT", np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
FloatT = TypeVar("FloatT", np.float16, np.float32, np.float64)
# Values, not a bound: two operands of different types have no element type in common.
_ElementT_co = TypeVar("_ElementT_co", bound=np.generic, covariant=True)


class Elements(Protocol[_ElementT_co]):
    """An array or a scalar of NumPy."""

    @property
    def dtype(self) -> np.dtype[_ElementT_co]:
        """The element type."""


class Tensor(Protocol):
    """A tensor of PyTorch."""

    @property
    def requires_grad(self) -> bool:
        """Whether PyTorch differentiates it."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        """Export it."""


class JaxArray(Protocol):
    """An array of JAX."""

    def block_until_ready(self) -> Any:
        """Wait for it."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        """Export it."""


class DaskArray(Protocol):
    """An array of Dask."""

    def rechunk(self, *args: Any, **kwargs: Any) -> Any:
        """Cut it into other chunks."""

    def __dask_graph__(self) -> Any:
        """Return its graph."""


class DeviceArray(Protocol):
    """An array of CuPy, or another one in the memory of a CUDA device."""

    @property
    def __cuda_array_interface__(self) -> Any:
        """Its address, shape and type."""


LibraryArray: TypeAlias = Tensor | JaxArray | DaskArray | DeviceArray
ArrayT = TypeVar("ArrayT", bound=LibraryArray)
Operand: TypeAlias = Elements[Any] | LibraryArray
Mask: TypeAlias = Elements[np.bool] | LibraryArray | None
OutT = TypeVar("OutT")


class Policies(TypedDict, total=False):
    """The policies for integers."""

    zero_divisor: ZeroDivisor
    overflow: Overflow


class Div(Policies, Generic[OutT], total=False):
    """The options of `vinculum.div`."""

    opset: int | None
    axis: int | None
    broadcast: int | None
    consumed_inputs: Sequence[int] | None
    out: OutT | None
    where: Mask


class Reciprocal(TypedDict, Generic[OutT], total=False):
    """The options of `vinculum.reciprocal`."""

    opset: int | None
    consumed_inputs: Sequence[int] | None
    out: OutT | None
    where: Mask


class Divide(Policies, Generic[OutT], total=False):
    """The options of `vinculum.divide`."""

    m_pythondiv: bool
    auto_broadcast: str
    axis: int
    out: OutT | None
    where: Mask


class FloorDivide(Policies, Generic[OutT], total=False):
    """The options of `vinculum.floor_divide`."""

    out: OutT | None


class Remainder(TypedDict, Generic[OutT], total=False):
    """The options of `vinculum.remainder`."""

    out: OutT | None
    zero_divisor: ZeroDivisor
