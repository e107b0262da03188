"""The declarations of a model's inputs and outputs, and the validation of given inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import BroadcastError, ElementTypeError, ModelError
from vinculum.models.execution import read_only
from vinculum.spec.element_types import ElementType
from vinculum.tensors.shapes import SymbolicShape
from vinculum.tensors.storage import as_operand, dtype_of, element_type_of_dtype, native
from vinculum.text import kind_of, listed, quoted, shape_text

Value = NDArray[Any] | list[Any] | dict[Any, Any] | None
"""A tensor, a sequence of values, a map, or an empty optional."""

UNKNOWN = "unknown"
"""The element type of an output that the file does not declare."""


@dataclass(frozen=True, repr=False)
class ModelTensor:
    """An input or an output of a model.

    Attributes
    ----------
    name : str
        The name in the file.
    element_type : ElementType or str
        The ONNX name for a type that cannot be divided: ``"bool"``, ``"string"``, ``"sequence"``, ``"optional"``.
    shape : tuple of (int, str or None), or None
        For each dimension a size, a symbolic name, or None if unknown; None if the rank is unknown.
    optional : bool
        Whether the model has a default value for this input.
    element : ModelTensor, optional
        The element type of a sequence or an optional.
    """

    name: str
    element_type: ElementType | str
    shape: SymbolicShape | None
    optional: bool = False
    element: ModelTensor | None = None

    def __repr__(self) -> str:
        return f"<tensor {self}>"

    def __str__(self) -> str:
        return f"{quoted(self.name)} ({self._type()})"

    def _type(self) -> str:
        if self.element is not None:
            return f"{self.element_type} of {self.element._type()}"
        return f"{self.element_type}, shape {shape_text(self.shape)}"


def innermost(tensor: ModelTensor) -> ModelTensor:
    """Return the tensor in nested sequences and optionals, or the given one if it is neither."""
    return tensor if tensor.element is None else innermost(tensor.element)


def validated_inputs(tensors: tuple[ModelTensor, ...], given: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Return read-only views of the given inputs, after validating them against the model's declarations.

    ModelError if an input is missing or surplus.
    ElementTypeError if an input is not an array (for a sequence: a list of arrays; for an optional: possibly None), or
    has another element type.
    BroadcastError if an input has another rank or size, or a symbolic dimension has two sizes.
    """
    declared = {tensor.name: tensor for tensor in tensors}
    if not isinstance(given, Mapping):
        given = _by_name(declared, given)
    surplus = [str(name) for name in given if name not in declared]
    if surplus:
        raise ModelError(f"the model has no input {listed(surplus)}; its inputs: {listed(list(declared))}")
    missing = [str(tensor) for tensor in tensors if tensor.name not in given and not tensor.optional]
    if missing:
        raise ModelError(f"no array for input {', '.join(missing[:10])}; pass one for each")
    symbols: dict[str, tuple[int, str]] = {}
    return {name: _validated(declared[name], value, f"input {quoted(name)}", symbols) for name, value in given.items()}


def _by_name(declared: Mapping[str, ModelTensor], given: Sequence[Any]) -> dict[str, Any]:
    if not isinstance(given, list | tuple):
        raise ModelError(
            f"the inputs are {kind_of(given)}; give a dict of arrays by name, or a list of them in the order "
            f"{listed(list(declared))}"
        )
    if len(given) > len(declared):
        raise ModelError(f"{len(given)} inputs given; the model has {len(declared)}: {listed(list(declared))}")
    return dict(zip(declared, given, strict=False))


def _validated(tensor: ModelTensor, value: Any, title: str, symbols: dict[str, tuple[int, str]]) -> Value:
    if tensor.element is not None and tensor.element_type == "optional":
        return None if value is None else _validated(tensor.element, value, title, symbols)
    if tensor.element is not None:
        if not isinstance(value, list | tuple):
            raise ElementTypeError(f"{title} is {kind_of(value)}; the model declares a sequence: pass a list")
        # Named dimensions may differ between the items of a sequence.
        return [_validated(tensor.element, item, f"item {i} of {title}", {}) for i, item in enumerate(value)]
    array = _typed(tensor, native(as_operand(value, title)), title)
    _check_shape(tensor, array.shape, title, symbols)
    return read_only(array)


def _typed(tensor: ModelTensor, array: NDArray[Any], title: str) -> NDArray[Any]:
    """Return the array; ElementTypeError unless it has the declared element type."""
    if tensor.element_type == "string":
        if array.dtype.kind in "OUST":
            return array.astype(object) if array.dtype.kind != "O" else array
    elif array.dtype == tensor_dtype(tensor):
        return array
    known = element_type_of_dtype(array.dtype)
    advice = "" if tensor.element_type == "string" else f": convert it with .astype({tensor_dtype(tensor).name!r})"
    given = known or array.dtype
    raise ElementTypeError(f"{title} has element type {given}; the model declares {tensor.element_type}{advice}")


def tensor_dtype(tensor: ModelTensor) -> np.dtype[Any]:
    """Return the NumPy type of the arrays that a declared tensor takes; ModelError if it is not a tensor."""
    if isinstance(tensor.element_type, ElementType):
        return dtype_of(tensor.element_type)
    from onnx import TensorProto, helper

    codes = {name.lower(): code for name, code in TensorProto.DataType.items() if code}
    if tensor.element_type not in codes:
        raise ModelError(f"input {tensor} is not a tensor, sequence or optional; nothing else can be passed")
    return helper.tensor_dtype_to_np_dtype(codes[tensor.element_type])


def _check_shape(tensor: ModelTensor, actual: tuple[int, ...], title: str, symbols: dict[str, tuple[int, str]]) -> None:
    declared = tensor.shape
    if declared is None:
        return
    stated = f"{title} has shape {actual}; the model declares {shape_text(declared)}"
    if len(declared) != len(actual):
        raise BroadcastError(f"{stated}: the ranks differ")
    for axis, (wanted, size) in enumerate(zip(declared, actual, strict=True)):
        if isinstance(wanted, int) and wanted != size:
            raise BroadcastError(f"{stated}: dimension {axis} differs")
        if isinstance(wanted, str):
            bound, owner = symbols.setdefault(wanted, (size, tensor.name))
            if bound != size:
                symbol = quoted(wanted)[1:-1]
                raise BroadcastError(f"{stated}, but {symbol} is {bound} by input {quoted(owner)}")
