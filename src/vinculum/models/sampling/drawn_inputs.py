"""``--seed N``: random inputs in place of files, the same in every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.models.values import ModelTensor, tensor_dtype
from vinculum.spec.element_types import ElementType, Kind
from vinculum.tensors.shapes import SymbolicShape
from vinculum.text import listed, quoted, shape_text

LARGEST_INPUT = 2**30  # Bytes.
_OPEN = (1001, 257, 65, 17, 9, 3)  # Odd, so that a remainder is left beside SIMD vectors.
_SMALL = 1 << 12  # Elements.


@dataclass(frozen=True, eq=False)
class DrawnInput:
    """An input drawn from a seed."""

    array: NDArray[Any]
    assumed: dict[str, int]  # The sizes chosen for open dimensions, by name, ``"?"`` for those without one.


def dimension_sizes(
    options: Sequence[str], tensors: Sequence[ModelTensor], given: Mapping[str, NDArray[Any]]
) -> dict[str, int]:
    """Return the sizes of symbolic dimensions, from options ``NAME=SIZE`` and from given arrays.

    ModelError if an option has another form, names no dimension of an input, or contradicts an array or another option.
    """
    sizes: dict[str, int] = {}
    symbols: list[str] = []
    for tensor in tensors:
        actual = given[tensor.name].shape if tensor.name in given else ()
        declared = tensor.shape or ()
        symbols += [d for d in declared if isinstance(d, str) and d not in symbols]
        if len(actual) == len(declared):
            sizes |= {d: size for d, size in zip(declared, actual, strict=True) if isinstance(d, str)}
    for option in options:
        symbol, _, text = option.rpartition("=")
        # 19 digits are enough for every size; int() itself refuses numbers of thousands of digits.
        if not symbol or not (text.isascii() and text.isdigit() and len(text) <= 19):
            raise ModelError(f"--dim {quoted(option)} is not of the form NAME=SIZE, a whole number")
        if symbol not in symbols:
            raise ModelError(f"no input has a dimension {quoted(symbol)}; symbolic dimensions: {listed(symbols)}")
        if sizes.setdefault(symbol, int(text)) != int(text):
            raise ModelError(f"--dim {quoted(option)}: {quoted(symbol)} is {sizes[symbol]} already; give one size")
    return sizes


def useful_size(tensors: Sequence[ModelTensor], sizes: Mapping[str, int]) -> int:
    """Return a size for open dimensions: the largest candidate that keeps the inputs small, 1 if none does."""
    shapes = [[size if isinstance(size, int) else sizes.get(size or "") for size in t.shape or ()] for t in tensors]
    opened = [shape for shape in shapes if None in shape]
    return next((size for size in _OPEN if all(prod(size if d is None else d for d in s) < _SMALL for s in opened)), 1)


def settled(tensors: Sequence[ModelTensor], sizes: Mapping[str, int], others: int) -> list[ModelTensor]:
    """Return inputs with all dimensions fixed: named ones from `sizes`, others of size `others`."""
    return [t if t.shape is None else replace(t, shape=_settled(t.shape, sizes, others)) for t in tensors]


def _settled(shape: SymbolicShape, sizes: Mapping[str, int], others: int) -> tuple[int, ...]:
    return tuple(size if isinstance(size, int) else sizes.get(size or "", others) for size in shape)


def drawn_inputs(
    tensors: Sequence[ModelTensor],
    given: Mapping[str, NDArray[Any]],
    seed: int,
    sizes: Mapping[str, int],
    *,
    large: bool = False,
) -> dict[str, DrawnInput]:
    """Return the inputs that are not given and have no default value, drawn.

    - `sizes`: of symbolic dimensions; others are 1, or with `large` a useful size.
    """
    others = useful_size(tensors, sizes) if large else 1
    return {
        tensor.name: draw(tensor, position, seed, sizes, others)
        for position, tensor in enumerate(tensors)
        if tensor.name not in given and not tensor.optional
    }


def draw(tensor: ModelTensor, position: int, seed: int, sizes: Mapping[str, int], others: int = 1) -> DrawnInput:
    """Return an input from ``numpy.random.default_rng([seed, position])``, independent of all other inputs.

    Floats have the standard normal distribution; integers are 1 to 9, signed ones with a random sign; bools are random.

    ModelError if the input's rank is not known, its element type is not supported, or it would take more than 1 GiB.
    """
    if tensor.shape is None:
        raise ModelError(f"input {tensor} cannot be drawn: its rank is not known; {_instead(tensor)}")
    if tensor.element_type != "bool" and not isinstance(tensor.element_type, ElementType):
        raise ModelError(f"input {tensor} cannot be drawn: it holds no numbers; {_instead(tensor)}")
    shape, dtype = _settled(tensor.shape, sizes, others), tensor_dtype(tensor)
    if prod(size for size in shape if size) * dtype.itemsize > LARGEST_INPUT:
        taken = f"shape {shape_text(shape)} takes more than 1 GiB"
        raise ModelError(f"input {tensor} is not drawn: {taken}; {_instead(tensor)}, or a smaller --dim")
    assumed = {d or "?": others for d in tensor.shape if not isinstance(d, int) and (d or "") not in sizes}
    return DrawnInput(_drawn(tensor, np.random.default_rng([seed, position]), shape, dtype), assumed)


def _drawn(
    tensor: ModelTensor, generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> NDArray[Any]:
    if not isinstance(tensor.element_type, ElementType):
        return np.asarray(generator.integers(0, 2, shape, np.int8) == 1)
    if not tensor.element_type.is_integer:
        precision = np.float64 if dtype.itemsize == 8 else np.float32
        return np.asarray(generator.standard_normal(shape, precision)).astype(dtype)
    largest = min(9, tensor.element_type.maximum)
    magnitudes = np.asarray(generator.integers(1, largest + 1, shape, np.int8))
    if tensor.element_type.kind is Kind.SIGNED:
        magnitudes = magnitudes * (1 - 2 * np.asarray(generator.integers(0, 2, shape, np.int8)))
    return magnitudes.astype(dtype)


def _instead(tensor: ModelTensor) -> str:
    return f"give it with --input {tensor.name}=FILE"
