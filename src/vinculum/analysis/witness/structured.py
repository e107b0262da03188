"""Inputs to try: those with a structure, the likeliest first, then what follows from inputs that have been tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product, zip_longest
from math import inf, isinf, nextafter, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.assumptions import Range
from vinculum.models.values import ModelTensor, tensor_dtype
from vinculum.spec.element_types import ElementType

Inputs = dict[str, NDArray[Any]]
_LARGEST = 1 << 24  # Elements of all inputs together.
_POWERS = (4, 10, 16, 19, 22, 25, 30, 36)
SIZES = (4, 2, 1, 3, 8, 7, 16, 5)
"""Sizes of open dimensions: a model may run on some of them only."""
_HALVINGS = 64
_TOKENS = 32.0  # Undeclared integers are below this, because they may be indices.


@dataclass(frozen=True, eq=False)
class Candidate:
    """Inputs for a run."""

    how: str  # What they are, in words.
    inputs: Inputs  # By name.
    outside: bool = False  # Whether they leave the declared ranges.


class Space:
    """The inputs that a model takes."""

    def __init__(
        self,
        tensors: Sequence[ModelTensor],  # Those that have to be given.
        ranges: Mapping[str, Range],  # What is declared of them.
        sizes: Mapping[str, tuple[float, float]],  # Bounds of named dimensions.
        seed: int,
    ) -> None:
        self.tensors = tensors
        self.size = SIZES[0]  # Of the open dimensions: one on which the model runs.
        self.generator = np.random.default_rng(seed)
        self._ranges, self._sizes = ranges, sizes

    def limits(self, tensor: ModelTensor) -> tuple[float, float]:
        """Return the smallest and the largest value to try."""
        declared = self._ranges.get(tensor.name)
        kind = tensor.element_type
        if not isinstance(kind, ElementType):
            return 0.0, 1.0
        low: float
        high: float
        if kind.is_integer:
            low, high = (kind.minimum, kind.maximum) if declared else (max(kind.minimum, 0), _TOKENS)
        else:
            low, high = (-np.inf, np.inf) if declared else (-4.0, 4.0)
        if declared is not None:
            low, high = max(low, declared.low), min(high, declared.high)
            if isinf(low) or isinf(high):
                low, high = max(low, min(-4.0, high)), min(high, max(4.0, low))
        return _inside_of(low, high)

    def holds(self, tensor: ModelTensor, array: NDArray[Any]) -> bool:
        """Tell whether values keep what is declared of an input."""
        declared = self._ranges.get(tensor.name)
        return declared is None or bool(((array >= declared.low) & (array <= declared.high)).all())

    def ends_alone(self, tensor: ModelTensor) -> bool:
        """Tell whether its values are its limits and nothing between."""
        declared = self._ranges.get(tensor.name)
        return declared is not None and declared.ends_alone

    def filled(self, tensor: ModelTensor, value: float, size: int) -> NDArray[Any]:
        """Return an input that is one value everywhere."""
        return np.full(self._shape(tensor, size), value).astype(tensor_dtype(tensor))

    def clipped(self, tensor: ModelTensor, values: NDArray[np.float64]) -> NDArray[Any]:
        """Return values brought into the limits of an input, and to its type."""
        low, high = self.limits(tensor)
        if self.ends_alone(tensor):
            values = np.where(values - low < high - values, low, high)
        return np.asarray(np.clip(values, low, high)).astype(tensor_dtype(tensor))  # A scalar stays an array.

    def between(self, tensor: ModelTensor, one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
        """Return the middle of two inputs.

        Undeclared integers may lie beyond the limits, as the ends of their type do, which are tried too. The middle of
        their logarithms leads from such an end to a usual length in a few steps.
        """
        ends = one.astype(np.float64), other.astype(np.float64)
        kind = tensor.element_type
        if tensor.name in self._ranges or not isinstance(kind, ElementType) or not kind.is_integer:
            return self.clipped(tensor, ends[0] / 2 + ends[1] / 2)
        logarithms = [np.copysign(np.log2(1 + np.abs(end)), end) for end in ends]
        middle = logarithms[0] / 2 + logarithms[1] / 2
        whole = np.copysign(np.rint(np.exp2(np.abs(middle)) - 1), middle)
        low, high = _inside_of(kind.minimum, kind.maximum)
        return np.where(one == other, one, np.clip(whole, low, high).astype(one.dtype))

    def drawn(self, tensor: ModelTensor, size: int) -> NDArray[Any]:
        """Return a random input."""
        low, high = self.limits(tensor)
        shape = self._shape(tensor, size)
        if not self.is_float(tensor):
            dtype = np.int64 if high < 2.0**63 else np.uint64
            whole = self.generator.integers(int(low), int(high), shape, dtype, endpoint=True)
            return self.clipped(tensor, np.asarray(whole, np.float64))
        # Twice the half: a range of float64 may be longer than the largest number.
        return self.clipped(tensor, 2 * self.generator.uniform(low / 2, high / 2, shape))

    @staticmethod
    def is_float(tensor: ModelTensor) -> bool:
        """Tell whether it takes floats."""
        return isinstance(tensor.element_type, ElementType) and not tensor.element_type.is_integer

    def fits(self, size: int) -> bool:
        """Tell whether inputs of a size are small enough to be tried."""
        return sum(prod(self._shape(tensor, size)) for tensor in self.tensors) <= _LARGEST

    def _shape(self, tensor: ModelTensor, size: int) -> tuple[int, ...]:
        return tuple(d if isinstance(d, int) else self._size(d, size) for d in tensor.shape or ())

    def _size(self, name: str | None, wanted: int) -> int:
        low, high = self._sizes.get(name or "", (1, np.inf))
        return int(max(low, min(wanted, high)))

    def sizes(self) -> Sequence[int]:
        """Return the sizes of open dimensions to try; one if there are none."""
        has_open = any(not isinstance(d, int) for tensor in self.tensors for d in tensor.shape or ())
        return SIZES if has_open else SIZES[:1]


def _inside_of(low: float, high: float) -> tuple[float, float]:
    """Return the ends as floats: those of integers beyond 2**53 that are not floats move inward."""
    first, last = float(low), float(high)
    first, last = nextafter(first, inf) if first < low else first, nextafter(last, -inf) if last > high else last
    return min(first, last), last


def base(space: Space, size: int) -> Inputs:
    """Return the most ordinary inputs: halves, and ones for integers and masks."""
    made = {}
    for tensor in space.tensors:
        low, high = space.limits(tensor)
        made[tensor.name] = space.filled(tensor, min(max(0.5 if space.is_float(tensor) else 1.0, low), high), size)
    return made


def ordinary(space: Space) -> Candidate:
    """Return what is tried first."""
    return Candidate("inputs of 0.5 (integers: 1)", base(space, space.size))


def drawn(space: Space) -> Candidate:
    """Return random inputs."""
    return Candidate("random inputs", {tensor.name: space.drawn(tensor, space.size) for tensor in space.tensors})


def structured(space: Space) -> Iterator[Candidate]:
    """Yield inputs with a structure; those outside of declared ranges last."""
    if not space.tensors:
        yield Candidate("no inputs", {})
        return
    inside = [_inside(space, tensor, space.size) for tensor in space.tensors]
    # One of each input's in turn: what is likely stands first in each.
    yield from filter(None, chain.from_iterable(zip_longest(*inside)))
    yield from _ends_of_integers(space)
    if len(space.tensors) > 1:
        plain = base(space, space.size)
        zero = {t.name: space.clipped(t, np.zeros(plain[t.name].shape)) for t in space.tensors}
        yield Candidate("all inputs zeros", zero)
    for size in (1, 2, 3) if len(space.sizes()) > 1 else ():
        how, plain = f"every open dimension {size}", base(space, size)
        yield Candidate(how, plain)
        for tensor in space.tensors:
            zeros = space.clipped(tensor, np.zeros(plain[tensor.name].shape))
            yield Candidate(f"{how}, {tensor.name} = zeros", {**plain, tensor.name: zeros})
    yield drawn(space)
    yield from chain.from_iterable(_large(space, tensor) for tensor in space.tensors if space.is_float(tensor))


def _ends_of_integers(space: Space) -> Iterator[Candidate]:
    """Yield -1 and the ends of each integer type, then the smallest in one input and -1 in another of its type."""
    kinds = ((tensor, tensor.element_type) for tensor in space.tensors)
    integers = [(tensor, kind) for tensor, kind in kinds if isinstance(kind, ElementType) and kind.is_integer]
    changes: list[tuple[str, list[tuple[ModelTensor, int]]]] = [
        (f"{tensor.name} = {end} everywhere", [(tensor, end)])
        for tensor, kind in integers
        for end in (-1, kind.minimum, kind.maximum)
        if end >= kind.minimum
    ]
    changes += [
        (f"{tensor.name} = {kind.minimum}, {other.name} = -1", [(tensor, kind.minimum), (other, -1)])
        for tensor, kind in integers
        for other, same in integers
        if tensor is not other and kind == same and kind.minimum
    ]
    for how, numbers in changes:
        plain = base(space, space.size)
        made = {tensor.name: np.full_like(plain[tensor.name], number) for tensor, number in numbers}
        if all(space.holds(tensor, made[tensor.name]) for tensor, _ in numbers):
            yield Candidate(how, {**plain, **made})


def _inside(space: Space, tensor: ModelTensor, size: int) -> list[Candidate]:
    """Return structured values of one input, the others being ordinary."""
    low, high = space.limits(tensor)
    zeros = space.filled(tensor, 0.0, size).astype(np.float64)
    forms: dict[str, NDArray[np.float64]] = {
        "zeros": zeros,
        "ones": zeros + 1,
        "low": zeros + low,
        "high": zeros + high,
    }
    if zeros.ndim and zeros.size > 1:
        first, last, hot = zeros.copy(), zeros.copy(), zeros.copy()
        first[..., 0], last[..., -1] = 1.0, 1.0
        hot.reshape(-1, zeros.shape[-1])[:, 0] = high
        ramp = np.broadcast_to(np.arange(zeros.shape[-1], dtype=np.float64), zeros.shape)
        forms |= {"the first of each row alone": first, "the last of each row alone": last, "one-hot": hot}
        if not space.ends_alone(tensor):
            forms |= {"0, 1, 2, ... in each row": ramp, "-1": zeros - 1}
        halves = zeros.copy()
        halves.reshape(-1)[: zeros.size // 2] = 1.0
        forms["ones, then zeros"] = halves
    plain = base(space, size)
    found, seen = [], {plain[tensor.name].tobytes()}
    for how, values in forms.items():
        array = space.clipped(tensor, values)
        if array.tobytes() not in seen and (array == values.astype(array.dtype)).all():
            seen.add(array.tobytes())
            found.append(Candidate(f"{tensor.name} = {how}", {**plain, tensor.name: array}))
    return found


def _large(space: Space, tensor: ModelTensor) -> Iterator[Candidate]:
    """Yield large numbers of one sign, and normal ones times powers of ten, as far as the element type goes."""
    plain = base(space, space.size)
    dtype = tensor_dtype(tensor)
    normal = np.random.default_rng(0).standard_normal(plain[tensor.name].shape)
    # Beyond where exponentials underflow and overflow.
    made = [(f"{number:g} everywhere", space.filled(tensor, number, space.size)) for number in (-1e4, 1e4)]
    with np.errstate(all="ignore"):
        made += [(f"normal*1e{power}", (normal * 10.0**power).astype(dtype)) for power in (*_POWERS, -25, -40)]
    for how, array in made:
        if how.endswith("everywhere") or np.isfinite(array.astype(np.float64)).all():
            inputs, outside = {**plain, tensor.name: array}, not space.holds(tensor, array)
            yield Candidate(f"{tensor.name} = {how}", inputs, outside)


@dataclass(frozen=True, eq=False)
class Tried:
    """Inputs that were run, and the divisor in question."""

    inputs: Inputs  # By name.
    distance: float  # The distance from the value wanted.
    divisor: NDArray[np.float64] | None  # All of it, if it is small.

    def has(self, sign: int) -> bool:
        """Tell whether an element of the divisor is known to have a sign."""
        return self.divisor is not None and bool((np.sign(self.divisor) == sign).any())


Try = Callable[[Candidate], Tried | None]
"""Runs inputs; None if they cannot be run. Raises `EndOfSearch` when the divisor was zero, or runs are used up."""


class EndOfSearch(Exception):  # noqa: N818  it is no error
    """There is nothing more to be tried."""


def search(space: Space, tried: list[Tried], attempt: Try) -> None:
    """Spend runs on a divisor, the most promising first, until `attempt` ends it."""
    _halve(space, tried, attempt)
    while space.tensors:
        attempt(drawn(space))


def _halve(space: Space, tried: list[Tried], attempt: Try) -> None:
    """Bisect between two inputs at which an element of the divisor has different signs."""
    pair = _signs_differ(tried)
    if pair is None:
        return
    below, above, place = pair
    for _ in range(_HALVINGS):
        middle = {
            tensor.name: space.between(tensor, below.inputs[tensor.name], above.inputs[tensor.name])
            for tensor in space.tensors
        }
        found = attempt(Candidate("halving between two inputs of other signs", middle))
        if found is None or found.divisor is None or any(_equal(middle, one.inputs) for one in (below, above)):
            return
        value = found.divisor.reshape(-1)[place]
        if np.isnan(value):
            return
        below, above = (found, above) if value < 0 else (below, found)


def _equal(one: Inputs, other: Inputs) -> bool:
    return all(np.array_equal(array, other[name]) for name, array in one.items())


def _signs_differ(tried: list[Tried]) -> tuple[Tried, Tried, int] | None:
    for one, other in product(tried, repeat=2):
        if one.divisor is None or other.divisor is None or one.divisor.shape != other.divisor.shape:
            continue
        differ = (one.divisor < 0) & (other.divisor > 0)
        if differ.any() and all(array.shape == other.inputs[name].shape for name, array in one.inputs.items()):
            return one, other, int(np.argmax(differ))
    return None
