"""What inputs are filled with: edge values that meet those of other inputs, small numbers, any encodings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.models.sampling.drawn_inputs import draw
from vinculum.models.sampling.edge_values import edge_values, paired
from vinculum.models.values import ModelTensor, tensor_dtype
from vinculum.spec.element_types import ElementType

_WORDS = np.array(["", "a", "b", "Vinculum", "ÄÖ"], object)
_MOST_TELLING = 8
_ONE_IN = 8  # Mixed sets hold one edge value among so many drawn ones.


@dataclass(frozen=True)
class Contents:
    """What one set of inputs holds."""

    kind: str  # ``"drawn"``, ``"edges"``, ``"indices"``, ``"mixed"`` or ``"encodings"``.
    seed: int  # Decides what is drawn as ``--seed`` does.
    generator: np.random.Generator  # Decides the rest.

    def without_edges(self, tensor: ModelTensor, place: int) -> NDArray[Any]:
        """Return an array of a shape for an input."""
        shape, dtype = tuple(int(size or 0) for size in tensor.shape or ()), tensor_dtype(tensor)
        if tensor.element_type == "string":
            return self.generator.choice(_WORDS, shape)
        if self.kind == "indices" and str(tensor.element_type) in ("int32", "int64"):
            return np.asarray(self.generator.integers(0, 3, shape)).astype(dtype)
        if not isinstance(tensor.element_type, ElementType) and tensor.element_type != "bool":
            return np.asarray(self.generator.standard_normal(shape)).astype(dtype)
        if self.kind == "encodings" and isinstance(tensor.element_type, ElementType):
            return self._encodings(tensor.element_type, shape)
        return draw(tensor, place, self.seed, {}).array

    def _encodings(self, element_type: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
        dtype = edge_values(element_type).dtype
        if element_type.is_integer:
            wide = np.int64 if element_type.minimum else np.uint64
            values = self.generator.integers(element_type.minimum, element_type.maximum, shape, wide, endpoint=True)
            return np.asarray(values).astype(dtype)
        drawn = self.generator.bytes(prod(shape) * dtype.itemsize)
        return np.frombuffer(bytearray(drawn), dtype).reshape(shape)

    def edges(
        self, tensors: Sequence[ModelTensor], others: dict[str, NDArray[Any]], used: dict[Hashable, int]
    ) -> dict[str, NDArray[Any]]:
        """Return edge values for the inputs that get any, those first that the sets before have not used."""
        if self.kind not in ("edges", "indices", "mixed"):
            return {}
        of_type: dict[ElementType, list[ModelTensor]] = {}
        for tensor in tensors:
            indices = self.kind == "indices" and str(tensor.element_type) in ("int32", "int64")
            if isinstance(tensor.element_type, ElementType) and not indices:
                of_type.setdefault(tensor.element_type, []).append(tensor)
        arrays: dict[str, NDArray[Any]] = {}
        for element_type, group in of_type.items():
            arrays |= self._edges_of_type(element_type, {t.name: others[t.name].shape for t in group}, used)
        if self.kind == "mixed":
            rare = {name: self.generator.integers(_ONE_IN, size=array.shape) == 0 for name, array in arrays.items()}
            return {name: np.where(rare[name], array, others[name]) for name, array in arrays.items()}
        return arrays

    def _edges_of_type(
        self, element_type: ElementType, shapes: Mapping[str, tuple[int, ...]], used: dict[Hashable, int]
    ) -> dict[str, NDArray[Any]]:
        """Return edge values for inputs of one type, two of them meeting systematically and the others by chance.

        Two of equal size go through all pairs from set to set. Of two others the smaller goes through all values,
        and meets the most telling ones in the larger.
        """
        arrays = {name: self._most_telling(element_type, shape) for name, shape in shapes.items()}
        chosen = self.generator.permutation(list(shapes))[:2] if self.kind != "mixed" else ()
        names = [name for name in shapes if name in chosen]
        smaller, *larger = sorted(names, key=lambda name: prod(shapes[name])) or [""]
        if larger and prod(shapes[smaller]) == prod(shapes[larger[0]]):
            size = prod(shapes[smaller])
            operands = paired(element_type, _next(used, (element_type, *names), size), size)
            places = self.generator.permutation(size)
            for name, operand in zip(names, operands, strict=True):
                arrays[name] = operand[places].reshape(shapes[name])
        elif smaller:
            size, values = prod(shapes[smaller]), _in_turn(edge_values(element_type))
            start = _next(used, (element_type, smaller), size)
            through = values[np.arange(start, start + size) % len(values)]
            arrays[smaller] = self.generator.permutation(through).reshape(shapes[smaller])
        return arrays

    def _most_telling(self, element_type: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return edge values, the most telling ones about as often as all others together."""
        values, size = edge_values(element_type), prod(shape)
        first = min(_MOST_TELLING, size)
        telling = first if 2 * first > _MOST_TELLING else _MOST_TELLING  # Very few are others in every set.
        rest = self.generator.integers(0, len(values), size=(size - first) // 2)
        repeated = np.arange(size - first - len(rest)) % _MOST_TELLING
        places = np.concatenate([self.generator.permutation(telling)[:first], rest, repeated])
        return np.asarray(values[self.generator.permutation(places) % len(values)].reshape(shape))


def _in_turn(values: NDArray[Any]) -> NDArray[Any]:
    """Return all values, the first few of them after every few."""
    few = _MOST_TELLING // 2
    parts = [values[start : start + few] for start in range(few, len(values), few)]
    return np.concatenate([part for later in parts for part in (values[:few], later)])


def _next(used: dict[Hashable, int], what: Hashable, size: int) -> int:
    """Return how many were used before, and count `size` more."""
    start = used.get(what, 0)
    used[what] = start + size
    return start
