"""Sets of inputs for a model: pairs of edge values, small numbers, random encodings, in several sizes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.models.sampling.drawn_inputs import LARGEST_INPUT, draw, settled, useful_size
from vinculum.models.sampling.edge_values import edge_values, paired
from vinculum.models.values import ModelTensor, innermost, tensor_dtype
from vinculum.spec.element_types import ElementType
from vinculum.text import one_line, quoted

_WORDS = np.array(["", "a", "b", "Vinculum", "ÄÖ"], object)
_MOST_EFFECTIVE = 8
_ONE_IN = 8  # In mixed sets, one value in so many is an edge value.
Shapes = dict[str, tuple[int, ...]]
_SETS = 112
# The contents of the sets in turn, and the sizes of open dimensions, 0 standing for large ones. The lengths have no
# common factor, so that every content comes in every size.
_CONTENTS = ("drawn", "edges", "indices", "edges", "mixed", "edges", "encodings", "edges")
_SIZES = (3, 2, 5, 1, 0, 4, 7)
_LARGE = (1000, 257, 64, 17, 9)
_MOST_ELEMENTS = 1 << 14  # Of an input with large open dimensions.
_MOST_TOGETHER = 1 << 23  # Elements of all inputs of a set, except the first set.
_RANKS = (2, 1, 3, 0)  # For inputs of open rank.
_LITTLE = (1, 3, 5, 7)  # Sizes of open dimensions that leave a remainder beside SIMD vectors, or fill none.


@dataclass(frozen=True)
class Contents:
    """The contents of one set of inputs."""

    kind: str  # ``"drawn"``, ``"edges"``, ``"indices"``, ``"mixed"`` or ``"encodings"``.
    seed: int  # For values that are drawn as by ``--seed``.
    generator: np.random.Generator  # For all other values.

    def without_edges(self, tensor: ModelTensor, place: int) -> NDArray[Any]:
        """Return an array for an input, before any edge values."""
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
        """Return edge values for the inputs that get any, continuing after those used in earlier sets."""
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
        """Return edge values for inputs of one type, two of them paired systematically and the others at random.

        Over the sets, two inputs of equal size get all pairs. If the sizes differ, the smaller one gets all values,
        and the larger one mostly the most effective ones.
        """
        arrays = {name: self._most_effective(element_type, shape) for name, shape in shapes.items()}
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

    def _most_effective(self, element_type: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return edge values, the most effective ones about as often as all others together."""
        values, size = edge_values(element_type), prod(shape)
        first = min(_MOST_EFFECTIVE, size)
        telling = first if 2 * first > _MOST_EFFECTIVE else _MOST_EFFECTIVE  # Small inputs get others in every set.
        rest = self.generator.integers(0, len(values), size=(size - first) // 2)
        repeated = np.arange(size - first - len(rest)) % _MOST_EFFECTIVE
        places = np.concatenate([self.generator.permutation(telling)[:first], rest, repeated])
        return np.asarray(values[self.generator.permutation(places) % len(values)].reshape(shape))


def _in_turn(values: NDArray[Any]) -> NDArray[Any]:
    """Return all values in groups of a few, with the first few repeated before each group."""
    few = _MOST_EFFECTIVE // 2
    parts = [values[start : start + few] for start in range(few, len(values), few)]
    return np.concatenate([part for later in parts for part in (values[:few], later)])


def _next(used: dict[Hashable, int], what: Hashable, size: int) -> int:
    """Return how many values were used before, and count `size` more."""
    start = used.get(what, 0)
    used[what] = start + size
    return start


def edge_sets(tensors: Sequence[ModelTensor], sizes: Mapping[str, int], seed: int) -> Iterator[dict[str, Any]]:
    """Yield sets of edge cases for the inputs of a model that are not optional, always the same for a seed.

    The first sets give open dimensions sizes that fill no vector or leave a remainder, all others one useful size.
    Some, and the first ones all, have MIN/-1 and x/0 first, in the middle and last.

    ModelError as for `input_sets`.
    """
    needed = [tensor for tensor in tensors if not tensor.optional]
    usual = settled(needed, sizes, useful_size(needed, sizes))
    little = [settled(needed, sizes, size) for size in _LITTLE]
    for turn, small in enumerate(little if usual != little[0] else ()):
        yield from (_with_hazards(needed, inputs, turn) for inputs in islice(input_sets(small, seed + turn), 1, 2))
    # The first set has no edge cases.
    for number, inputs in enumerate(islice(input_sets(usual, seed), 1, None)):
        yield inputs if number % 4 else _with_hazards(needed, inputs, number // 4)


def _with_hazards(tensors: Sequence[ModelTensor], inputs: dict[str, Any], turn: int) -> dict[str, Any]:
    """Return inputs with MIN/-1 and x/0 written where operands meet, whichever of them is broadcast.

    Runtimes may divide the last elements, which fill no vector, by other instructions. Every other input of a type is
    taken for a divisor, the remaining ones in every second turn.
    """
    places: dict[ElementType, int] = {}
    changed = dict(inputs)
    for tensor in tensors:
        t, given = tensor.element_type, inputs.get(tensor.name)
        if isinstance(t, ElementType) and isinstance(given, np.ndarray) and given.size:
            places[t] = places.get(t, turn) + 1
            divides, has_minimum = places[t] % 2 == 0, t.is_integer and t.minimum < 0
            array = changed[tensor.name] = given.copy()
            ends = (0,) * array.ndim, (-1,) * array.ndim
            for is_end, index in enumerate((tuple(size // 2 for size in array.shape), *ends)):
                overflows = has_minimum and bool(is_end) == (turn % 4 < 2)
                if divides or overflows:
                    array[index] = (-1 if overflows else 0) if divides else t.minimum
    return changed


def input_sets(tensors: Sequence[ModelTensor], seed: int) -> Iterator[dict[str, Any]]:
    """Yield complete sets of inputs for a model, always the same for a seed.

    Some sets hold edge values, shuffled so that different ones are paired; some hold values drawn as by ``--seed``,
    whose integers are never 0; some small integers from 0 on, which may be indices; some random encodings of the type.
    Open dimensions are small in most sets and larger in some. In every other set all of them have the same size; in the
    others each name has a size, and some dimensions without a name have size 1. Every other set omits optional inputs.

    - `seed`: 0 or more. The first set holds the values that ``--seed`` draws for open dimensions of 3.

    ModelError if an input cannot be passed to a model, or takes more than 1 GiB in the first set.
    """
    used: dict[Hashable, int] = {}
    for number in range(_SETS if tensors else 1):
        taken = [(place, t) for place, t in enumerate(tensors) if not t.optional or number % 2]
        given = [(place, replace(innermost(t), name=t.name)) for place, t in taken]
        generator = np.random.default_rng([seed, number])
        shapes = _shapes([t for _, t in given], number, generator)
        # Dimensions of 0 are not counted, as in NumPy.
        sizes = {t.name: prod(size for size in shapes[t.name] if size) * tensor_dtype(t).itemsize for _, t in given}
        if number and sum(prod(shape) for shape in shapes.values()) > _MOST_TOGETHER:
            continue
        if max(sizes.values(), default=0) > LARGEST_INPUT:
            raise ModelError(f"input {quoted(max(sizes, key=sizes.__getitem__))} takes more than 1 GiB in every set")
        contents = Contents(_CONTENTS[number % len(_CONTENTS)], seed + (number << 64), generator)
        try:
            arrays = {t.name: contents.without_edges(replace(t, shape=shapes[t.name]), place) for place, t in given}
            arrays |= contents.edges([t for _, t in given], arrays, used)
        except MemoryError as error:
            raise ModelError(f"the inputs cannot be made: {one_line(error)}") from None
        yield {tensors[place].name: _wrapped(tensors[place], arrays[t.name]) for place, t in given}


def _wrapped(tensor: ModelTensor, array: NDArray[Any]) -> Any:
    if tensor.element is None:
        return array
    inner = _wrapped(tensor.element, array)
    return [inner, inner] if tensor.element_type == "sequence" else inner


def _shapes(tensors: Sequence[ModelTensor], number: int, generator: np.random.Generator) -> Shapes:
    """Return a shape for each input; the number of the set determines the sizes of open dimensions."""
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
        # An input of unknown rank gets a shape that broadcasts with the longest one.
        dropped = 0 if all_equal else int(generator.integers(len(longest) + 1))
        shapes[tensor.name] = known.get(tensor.name, longest[dropped:])
    return shapes
