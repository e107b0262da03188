"""Division of arrays in the memory of a CUDA device, where the quotients stay; nothing else imports CuPy.

PyTorch, JAX and CuPy arrays are viewed through DLPack, others through ``__cuda_array_interface__``. PyTorch's tensors
are divided on its current stream, others on CuPy's. The division waits for the device only if a policy raises, or if a
library, such as JAX, does not say on which stream it uses its arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from vinculum.device_arrays.kernels import NARROW, float_kernel, integer_kernel
from vinculum.errors import ElementTypeError
from vinculum.kernels.contract import Exceptions, Index
from vinculum.ops.operator import Operator, alignment_of
from vinculum.ops.policies import raise_exceptions
from vinculum.spec.element_types import ElementType, Kind
from vinculum.spec.model import IntegerRounding
from vinculum.tensors import storage
from vinculum.tensors.broadcasting import Alignment
from vinculum.tensors.libraries import Library, library_of, on_cuda_device
from vinculum.tensors.shapes import SymbolicShape
from vinculum.tensors.type_checking import check_element_types
from vinculum.text import kind_of, pip_install

try:
    import cupy
except ImportError:
    raise ElementTypeError(
        "an operand lies in the memory of a CUDA device, where CuPy divides, which is not installed: "
        f"{pip_install('cupy')}, or move the operands to CPU memory"
    ) from None


@dataclass(frozen=True)
class DeviceOperand:
    """An operand as the kernels take it."""

    elements: Any  # On the device, or a NumPy scalar; encodings for narrow floating-point types.
    dtype: np.dtype[Any]
    library: Library | None = None
    stream: int | None = None  # On which the library uses it; None if unknown.


def as_operand(value: object, name: str) -> DeviceOperand:
    """View an operand in its memory; ElementTypeError unless it is on a CUDA device, or one element in CPU memory."""
    if not on_cuda_device(value):
        array = storage.as_operand(value, name)
        storage.element_type_of(array, name)
        if array.ndim:
            raise ElementTypeError(
                f"{name} lies in CPU memory and the other operand on a CUDA device; move one of them: only an array "
                "without dimensions may lie elsewhere"
            )
        return DeviceOperand(_encodings(storage.native(array))[()], storage.native_dtype(array.dtype))
    library = library_of(value)
    try:
        exported, dtype = library.exported(value) if library else (value, None)
        elements = cupy.from_dlpack(exported) if hasattr(exported, "__dlpack__") else cupy.asarray(exported)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ElementTypeError(f"{name} is {kind_of(value)} that CuPy cannot view ({reason})") from None
    stream = None
    if library is not None and library.stream is not None:
        stream = library.stream(value)
    elif type(value) is cupy.ndarray:
        stream = cupy.cuda.get_current_stream(elements.device.id).ptr
    return DeviceOperand(_encodings(elements), dtype or elements.dtype, library, stream)


def element_type_of(operand: DeviceOperand, name: str) -> ElementType:
    """Return the element type of an operand; ElementTypeError if no operator divides it."""
    return storage.element_type_of(np.empty(0, operand.dtype), name)


def shape_of(operand: DeviceOperand) -> SymbolicShape:
    """Return the shape of an operand."""
    return tuple(operand.elements.shape)


def divide(operator: Operator, operands: Sequence[DeviceOperand], out: object) -> Any:
    """Return the quotients on the operands' device, in `out` or as an array of the first operand's library.

    The errors are those of NumPy arrays; those of policies come after the division. ElementTypeError also if operands
    and `out` lie on different devices.
    """
    types = tuple(element_type_of(x, name) for x, name in zip(operands, operator.spec.operand_names, strict=True))
    element_type = check_element_types(operator.spec, types)
    dtype = storage.dtype_of(element_type)
    alignment = alignment_of(operator, *(shape_of(x) for x in operands))  # type: ignore[arg-type]  # no size is unknown
    arrays = [x.elements for x in operands]
    if len(arrays) == 2:
        arrays[1] = _aligned(arrays[1], alignment)
    else:
        arrays.insert(0, _encodings(np.ones((), dtype))[()])
    used = [*operands] if out is None else [*operands, _checked_out(out, dtype, alignment)]
    with _device_of(used), _stream_of(used):
        result = cupy.empty(alignment.shape, arrays[1].dtype) if out is None else used[-1].elements
        crossed = any(_overlaps(x, result) for x in arrays)
        quotients = cupy.empty_like(result) if crossed else result
        exceptions = _divide(operator, element_type, arrays[0], arrays[1], quotients)
        if exceptions is not None:
            raise_exceptions(exceptions, operator.policies, operator.spec, partial=out is not None)
        if crossed:
            result[...] = quotients
        if out is not None:
            return out
        quotients = quotients.view(dtype)
        library = next((x.library for x in operands if x.library is not None), None)
        return quotients if library is None else library.adopted(quotients)


def _encodings(array: Any) -> Any:
    """View an array of a narrow floating-point type as the encodings that the kernels take."""
    return array.view(f"u{array.dtype.itemsize}") if str(array.dtype) in NARROW else array


def _aligned(divisor: Any, alignment: Alignment) -> Any:
    """Return a divisor with the result's rank, by adding and dropping dimensions of size 1."""
    if isinstance(divisor, np.generic):
        return divisor
    return divisor.reshape([1 if own is None else divisor.shape[own] for own in alignment.b])


def _on_device(operands: Sequence[DeviceOperand]) -> list[DeviceOperand]:
    return [x for x in operands if not isinstance(x.elements, np.generic)]


def _device_of(operands: Sequence[DeviceOperand]) -> Any:
    """Return the common device of operands, as a context that makes it CuPy's current device."""
    devices = {x.elements.device.id: x.elements.device for x in _on_device(operands)}
    if len(devices) > 1:
        raise ElementTypeError(
            f"operands and out lie on CUDA devices {' and '.join(map(str, sorted(devices)))}; move them to one"
        )
    return next(iter(devices.values()))


@dataclass(frozen=True)
class _Stream:
    """A stream by its number, as CUDA's stream protocol has it."""

    number: int

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.number


@contextmanager
def _stream_of(operands: Sequence[DeviceOperand]) -> Iterator[None]:
    """Make the stream of the operands' library CuPy's current one, in order with the stream that was current before."""
    own = cupy.cuda.get_current_stream()
    streams = {x.stream for x in _on_device(operands)}
    others = [number for number in streams if number is not None and number != own.ptr]
    stream = cupy.cuda.Stream.from_external(_Stream(others[0])) if others else own
    if stream is not own:
        stream.wait_event(own.record())
    try:
        with stream:
            yield
    finally:
        if None in streams:
            stream.synchronize()  # The library may use the memory again on an unknown stream.
        if stream is not own:
            own.wait_event(stream.record())


def _checked_out(out: object, dtype: np.dtype[Any], alignment: Alignment) -> DeviceOperand:
    if not on_cuda_device(out):
        raise ElementTypeError(f"out is {kind_of(out)} in CPU memory; the operands lie on a CUDA device")
    operand = as_operand(out, "out")
    if operand.library is not None and not operand.library.writable:
        raise ElementTypeError(f"out is an array of {operand.library.name}, which may not be written; leave it out")
    if operand.dtype != dtype:
        raise ElementTypeError(f"out has type {operand.dtype}; the result has type {dtype}, as the operands do")
    storage.check_out_layout(operand.elements.shape, operand.elements.strides, alignment.shape, dtype.itemsize)
    return operand


def _overlaps(operand: Any, result: Any) -> bool:
    """Whether a quotient may overwrite an operand that has not been read yet."""
    if isinstance(operand, np.generic) or not cupy.may_share_memory(operand, result):
        return False
    places = [(x.data.ptr, x.shape, x.strides) for x in (operand, result)]
    return places[0] != places[1]


def _divide(operator: Operator, element_type: ElementType, dividend: Any, divisor: Any, out: Any) -> Exceptions | None:
    """Divide on the current device, and return the exceptions that a policy raises for."""
    if element_type.kind is Kind.FLOAT:
        float_kernel(element_type.numpy)(dividend, divisor, out)
        return None
    policies = operator.policies
    exceptional = cupy.zeros(1, "int32")
    kernel = integer_kernel(
        floor=operator.spec.rounding(operator.attributes) is IntegerRounding.FLOOR,
        zero_divisor=policies.zero_divisor,
        overflow=policies.overflow,
    )
    kernel(dividend, divisor, out, exceptional)
    if "raise" not in (policies.zero_divisor, policies.overflow) or not int(exceptional[0]):
        return None
    zeros = _found(divisor == 0, out.shape)
    overflows: tuple[int, Index | None] = (0, None)
    if element_type.kind is Kind.SIGNED and policies.overflow != "wrap":
        overflows = _found((dividend == element_type.minimum) & (divisor == -1), out.shape)
    return Exceptions(out.size, *zeros, *overflows)


def _found(condition: Any, shape: tuple[int, ...]) -> tuple[int, Index | None]:
    """Return how many elements of a result meet a condition, and the index of the first in row-major order."""
    everywhere = cupy.broadcast_to(cupy.asarray(condition), shape)
    count = int(cupy.count_nonzero(everywhere))
    first = np.unravel_index(int(cupy.argmax(everywhere)), shape) if count else None
    return count, None if first is None else tuple(int(i) for i in first)
