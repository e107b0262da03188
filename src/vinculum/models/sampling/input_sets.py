"""Whole sets of a model's inputs: edge values that meet one another, small numbers, any encodings, in several sizes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.models.sampling.drawn_inputs import draw
from vinculum.models.sampling.edge_values import edge_values, paired
from vinculum.models.values import ModelTensor, tensor_dtype
from vinculum.spec.element_types import ElementType
from vinculum.text import one_line, quoted

_WORDS = np.array(["", "a", "b", "Vinculum", "ÄÖ"], object)
_MOST_TELLING = 8
_ONE_IN = 8  # Mixed sets hold one edge value among so many drawn ones.
Shapes = dict[str, tuple[int, ...]]
_SETS = 112
# What the sets hold in turn, and how large dimensions are that the model leaves open, 0 standing for large ones. The
# lengths have no common factor, so that every content comes in every size.
_CONTENTS = ("drawn", "edges", "indices", "edges", "mixed", "edges", "encodings", "edges")
_SIZES = (3, 2, 5, 1, 0, 4, 7)
_LARGE = (1000, 257, 64, 17, 9)
_MOST_ELEMENTS = 1 << 14  # Of an input with open dimensions where they are large.
_MOST_TOGETHER = 1 << 23  # Elements of all inputs of a set, but for the first set.
_LARGEST = 1 << 30
_RANKS = (2, 1, 3, 0)  # Where the model leaves even the rank open.


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


def input_sets(tensors: Sequence[ModelTensor], seed: int) -> Iterator[dict[str, Any]]:
    """Yield complete sets of inputs for a model, always the same for a seed.

    Some sets hold edge values, shuffled so that those of different inputs meet; some hold what ``--seed`` draws, whose
    integer divisors are never 0; some small integers from 0 on, which may be indices; some any encoding of the type.
    Dimensions that the model leaves open are small in most sets and larger in some: in every other set all of one
    size, in the others a size for each name, and 1 for some that have none. Inputs that the model has a value of its
    own for are left out of every other set.

    - `seed`: 0 or more. The first set is what ``--seed`` draws for open dimensions of 3.

    ModelError if an input cannot be handed in, or takes more than 1 GiB in the first set.
    """
    used: dict[Hashable, int] = {}
    for number in range(_SETS if tensors else 1):
        given = [
            (place, replace(_innermost(t), name=t.name))
            for place, t in enumerate(tensors)
            if not t.optional or number % 2
        ]
        generator = np.random.default_rng([seed, number])
        shapes = _shapes([t for _, t in given], number, generator)
        # As NumPy counts them: without the dimensions of 0.
        sizes = {t.name: prod(size for size in shapes[t.name] if size) * tensor_dtype(t).itemsize for _, t in given}
        if number and sum(prod(shape) for shape in shapes.values()) > _MOST_TOGETHER:
            continue
        if max(sizes.values(), default=0) > _LARGEST:
            raise ModelError(f"input {quoted(max(sizes, key=sizes.__getitem__))} takes more than 1 GiB in every set")
        contents = Contents(_CONTENTS[number % len(_CONTENTS)], seed + (number << 64), generator)
        try:
            arrays = {t.name: contents.without_edges(replace(t, shape=shapes[t.name]), place) for place, t in given}
            arrays |= contents.edges([t for _, t in given], arrays, used)
        except MemoryError as error:
            raise ModelError(f"the inputs cannot be made: {one_line(error)}") from None
        yield {tensors[place].name: _wrapped(tensors[place], arrays[t.name]) for place, t in given}


def _innermost(tensor: ModelTensor) -> ModelTensor:
    """Return what a sequence or an optional holds in the end, the tensor itself if it is one."""
    return tensor if tensor.element is None else _innermost(tensor.element)


def _wrapped(tensor: ModelTensor, array: NDArray[Any]) -> Any:
    if tensor.element is None:
        return array
    inner = _wrapped(tensor.element, array)
    return [inner, inner] if tensor.element_type == "sequence" else inner


def _shapes(tensors: Sequence[ModelTensor], number: int, generator: np.random.Generator) -> Shapes:
    """Return a shape for each input; the number of the set decides what is open."""
    wanted = _SIZES[number % len(_SIZES)]
    shapes: Shapes = {}
    for size in (wanted,) if wanted else _LARGE:
        shapes = _shapes_of_size(tensors, size, number, generator)
        if all(prod(shapes[t.name]) <= _MOST_ELEMENTS or _is_static(t) for t in tensors):
            break
    return shapes


def _is_static(tensor: ModelTensor) -> bool:
    return tensor.shape is not None and all(isinstance(size, int) for size in tensor.shape)


def _shapes_of_size(tensors: Sequence[ModelTensor], size: int, number: int, generator: np.random.Generator) -> Shapes:
    all_equal = number % 2 == 0 or size in _LARGE
    names = dict.fromkeys(d for t in tensors for d in t.shape or () if isinstance(d, str))
    named = {name: size if all_equal else _SIZES[(number + k) % len(_SIZES)] or 6 for k, name in enumerate(names)}

    def size_of(dimension: int | str | None) -> int:
        if dimension is None:
            return size if all_equal or generator.integers(2) else 1
        return dimension if isinstance(dimension, int) else named[dimension]

    known = {t.name: tuple(size_of(d) for d in t.shape) for t in tensors if t.shape is not None}
    longest = max(known.values(), key=len, default=(size,) * _RANKS[number // 2 % len(_RANKS)])
    shapes: Shapes = {}
    for tensor in tensors:
        # Where the rank is unknown: what broadcasts with the longest.
        dropped = 0 if all_equal else int(generator.integers(len(longest) + 1))
        shapes[tensor.name] = known.get(tensor.name, longest[dropped:])
    return shapes
