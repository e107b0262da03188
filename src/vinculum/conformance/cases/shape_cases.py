"""The cases of shapes of an operator version: pairs of shapes at the limits of its broadcasting rules and just beyond.

Each rule has the pairs that it accepts and refuses, over all pairs of ranks up to 5. Square shapes show a wrong
alignment by wrong quotients, shapes of distinct dimensions by a refusal. A few shapes are examples of the documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np

from vinculum.conformance.cases.builder import CaseBuilder
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.operation import DIVISOR, Placement
from vinculum.conformance.cases.values import Operands, dividends, divisors
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue, Broadcasting, OperatorSpec

Shape = tuple[int, ...]
Tags = tuple[str, ...]


@dataclass(frozen=True)
class Shapes:
    """Two shapes and the numbers in them, or Reciprocal's one.

    - `dividend`, `divisor`: The shapes; the dividend is None for Reciprocal.
    - `fitted`: The divisor's shape with dimensions of size 1 inserted so that NumPy broadcasts the two in the same way;
      None if the version must refuse them.
    - `zero`: Whether the divisor is 0, although nothing is divided as the result is empty.
    """

    dividend: Shape | None
    divisor: Shape
    fitted: Shape | None
    zero: bool = False

    def operands(self, element_type: ElementType) -> Operands:
        """Return descending dividends, and ascending divisors or zeros."""
        divisor = divisors(self.divisor, element_type)
        divisor = np.zeros_like(divisor) if self.zero else divisor
        return (divisor,) if self.dividend is None else (dividends(self.dividend, element_type), divisor)

    def aligned(self, element_type: ElementType) -> Operands:
        """Return the same, the divisor in the shape in which NumPy broadcasts it as the version does."""
        *dividend, divisor = self.operands(element_type)
        return (*dividend, divisor.reshape(self.fitted or ()))


@dataclass(frozen=True)
class ShapePair:
    """Shapes, and the attributes that join them.

    - `tags`: Tags of clauses, one of which a tested version has.
    - `tried`: The scenario, as in the id.
    - `attributes`: The attributes that the model sets.
    - `everywhere`: Whether it is one of the few pairs that run for every element type.
    - `default_written`: Whether it differs from another pair of shapes only in that the model sets the default rule
      explicitly.
    """

    tags: Tags
    shapes: Shapes
    tried: str
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    everywhere: bool = False
    default_written: bool = False


_RANKS = range(6)
_SIZE = 3
_DOCUMENTED = (2, 3, 4, 5)  # The dividend of ONNX's examples.
_DISTINCT = (*_DOCUMENTED, 6, 7)
_EVEN = (2, 4, 2, 4)
_OF_ONE_SIZE: tuple[tuple[Shape, Shape], ...] = (((2, 3), (3, 2)), ((2, 3), (6,)))
"""Shapes that no rule joins, although a runtime that looks at the number of elements alone divides them."""
_EVERYWHERE: Mapping[Broadcasting, set[tuple[Shape | None, Shape, object]]] = {
    Broadcasting.EQUAL: {((), (), None), ((0,), (0,), None), (_DOCUMENTED, _DOCUMENTED, None), ((2, 3), (3,), None)},
    Broadcasting.LIMITED: {
        (_DOCUMENTED, (), None), (_DOCUMENTED, (5,), None), (_DOCUMENTED, (3, 4), 1), ((3, 3), (3,), 0),
        ((2, 3), (2, 1), None), ((5,), _DOCUMENTED, None), (_DOCUMENTED, (5,), -1),
    },
    Broadcasting.MULTIDIRECTIONAL: {
        ((), (), None), (_DOCUMENTED, (), None), ((3, 3, 3), (3,), None), ((1, 3, 1), (3, 1, 3), None),
        ((3, 1) * 3, (1, 3) * 3, None), ((0, 3), (3,), None), ((2, 3), (2,), None), (_EVEN[-2:], _EVEN[-2:], None),
        ((3,), (), None),
    },
    Broadcasting.PDPD: {(_DOCUMENTED, (5,), None), (_DOCUMENTED, (3, 4), 1), ((8, 1, 6, 1), (7, 1, 5), None)},
}  # fmt: skip
"""Dividend, divisor and axis of the pairs that run for every element type."""


def _square(rank: int) -> Shape:
    return (_SIZE,) * rank


def _gapped(rank: int, parity: int) -> Shape:
    """Return a shape in which every second dimension is 1, by its place from the end."""
    return tuple(1 if place % 2 == parity else _SIZE for place in reversed(range(rank)))


def _fits(tags: Tags, dividend: Shape, divisor: Shape, axis: int | None = None) -> ShapePair:
    """Return shapes that fit: at the last dimensions, or with the divisor's first dimension at `axis`."""
    following = 0 if axis is None or axis < 0 else len(dividend) - len(divisor) - axis
    tried = "empty tensors" if 0 in dividend + divisor else "distinct numbers"
    return ShapePair(tags, Shapes(dividend, divisor, divisor + (1,) * following), tried, _written(axis))


def _beyond(tried: str, tags: Tags, dividend: Shape, divisor: Shape, axis: int | None = None) -> ShapePair:
    return ShapePair(tags, Shapes(dividend, divisor, None), tried, _written(axis))


def _written(axis: int | None) -> Mapping[str, AttributeValue]:
    return {} if axis is None else {"axis": axis}


def _empty_by_zero(tags: Tags) -> Iterator[ShapePair]:
    tags, tried = ("empty-result-divides-nothing", *tags), "an empty dividend and a divisor of 0"
    for dividend, divisor in (((0,), (1,)), ((0, 3), ())):
        yield ShapePair(tags, Shapes(dividend, divisor, divisor, zero=True), tried)


def _equal() -> Iterator[ShapePair]:
    tags, tried = ("equal-shapes-by-default", "auto-broadcast-none", "[C1]"), "shapes that differ"
    for shape in (*map(_square, _RANKS), _DOCUMENTED, _EVEN, (4, 2), (0,), (2, 0, 3), (1, 1), _gapped(6, 0)):
        yield _fits(tags, shape, shape)
    for a, b in product(_RANKS, repeat=2):
        if a != b:
            yield _beyond(tried, tags, _square(a), _square(b))
        elif a:
            yield _beyond(tried, tags, _DISTINCT[:a], _DISTINCT[1 : a + 1])
    others: tuple[tuple[Shape, Shape], ...] = (
        ((2, 3), (3,)), ((3, 3), (3, 1)), ((1, 3), (3, 3)), *_OF_ONE_SIZE, ((6,), (2, 3)), ((1,), ()), ((0,), (1,)),
    )  # fmt: skip
    for dividend, divisor in others:
        yield _beyond(tried, tags, dividend, divisor)
    yield _beyond("an axis without broadcast", tags[:1], _DOCUMENTED, (3, 4), 1)


def _multidirectional() -> Iterator[ShapePair]:
    tags, tried = ("multidirectional-broadcasting", "auto-broadcast-numpy"), "shapes that do not broadcast"
    for a, b in product(_RANKS, repeat=2):
        yield _fits(tags, _square(a), _square(b))
        if a and b:
            parity = (a + b) % 2
            yield _fits(tags, _gapped(a, parity), _gapped(b, 1 - parity))
            # Aligned at the first dimensions instead of the last, most of these would fit.
            yield _beyond(tried, tags, _DISTINCT[:a], _DISTINCT[:b] if a != b else _DISTINCT[1 : a + 1])
    for rank in (6, 8):
        yield _fits(tags, _gapped(rank, 0), _gapped(rank, 1))
    documented: tuple[tuple[Shape, Shape], ...] = (
        (_DOCUMENTED, ()), (_DOCUMENTED, (5,)), (_DOCUMENTED, _DOCUMENTED), ((4, 5), _DOCUMENTED),
        ((1, 4, 5), (2, 3, 1, 1)), ((3, 4, 5), (2, 1, 1, 1)), ((8, 1, 6, 1), (7, 1, 5)), ((7, 1, 5), (8, 1, 6, 1)),
    )  # fmt: skip
    for dividend, divisor in (*documented, *_evens(), *_channels(), ((17, 1), (1, 33))):
        yield _fits(tags, dividend, divisor)
    for empty, other in (((0,), ()), ((0,), (1,)), ((0, 3), (3,)), ((0, 1), (1, 3)), ((2, 0, 3), (1, 3))):
        yield _fits(tags, empty, other)
        yield _fits(tags, other, empty)
    yield from _empty_by_zero(tags)
    for dividend, divisor in (*_OF_ONE_SIZE, ((8, 1, 6, 1), (7, 2, 5)), ((0,), (2,))):
        yield _beyond(tried, tags, dividend, divisor)


def _evens() -> Iterator[tuple[Shape, Shape]]:
    """Yield shapes whose dimensions are even, as those of the other shapes are odd, and matrices of both kinds."""
    ranks = range(1, len(_EVEN) + 1)
    yield from ((_EVEN[-a:], _EVEN[-b:]) for a, b in product(ranks, repeat=2))
    for rows, columns in ((4, 3), (3, 4)):
        yield from (((rows, columns), divisor) for divisor in ((rows, columns), (columns,), (rows, 1)))


def _channels() -> Iterator[tuple[Shape, Shape]]:
    """Yield matrices and images of as many channels as vectors have elements, and one more, with a divisor for each."""
    for channels in (16, 17):
        yield (8, channels), (channels,)
        yield (channels, 8), (channels, 1)
        yield (2, channels, 4, 4), (channels, 1, 1)


def _runs() -> Iterator[tuple[Shape, Shape, int | None]]:
    """Yield a dividend, each contiguous run of its dimensions, and the run's axis, which a suffix may leave out."""
    for dividend in (*map(_square, _RANKS), _DOCUMENTED, (4, 2), (2, 0)):
        for start, end in combinations(range(len(dividend) + 1), 2):
            yield dividend, dividend[start:end], start
            if end == len(dividend):
                yield dividend, dividend[start:], None


def _beside_runs() -> Iterator[tuple[str, Shape, int]]:
    """Yield a scenario, and a run of the documented dividend with an axis at which it does not fit."""
    for start, end in combinations(range(len(_DOCUMENTED) + 1), 2):
        outside = end == len(_DOCUMENTED)
        tried = "a run beyond the last dimension" if outside else "an axis at which the shapes differ"
        yield tried, _DOCUMENTED[start:end], start + 1


def _with_ones() -> Iterator[tuple[Shape, int | None]]:
    """Yield the runs of the documented dividend with their first or last dimension 1, and the axis."""
    for start, end in combinations(range(len(_DOCUMENTED) + 1), 2):
        run = _DOCUMENTED[start:end]
        if len(run) > 1:
            yield (1, *run[1:]), start
            yield (*run[:-1], 1), start if end < len(_DOCUMENTED) else None


def _limited() -> Iterator[ShapePair]:
    one, suffix, at_axis = ("one-element-divisor",), ("broadcast-suffix",), ("broadcast-axis",)
    output, no_stretch = ("output-of-dividend-shape",), ("no-one-dim-expansion",)
    for dividend, divisor, axis in _runs():
        yield _fits(output if dividend == divisor else suffix if axis is None else at_axis, dividend, divisor, axis)
    for rank in _RANKS:
        yield _fits(one, _square(rank), ())
    for rank in range(len(_DOCUMENTED) + 1):
        yield _fits(one, _DOCUMENTED, (1,) * rank)
    yield _fits(one, _DOCUMENTED, (1,), 1)
    yield _fits(one, (3,), (1,))
    yield _fits(suffix, (0, 3), (3,))
    yield from _empty_by_zero(one)
    for a, b in combinations(_RANKS, 2):
        yield _beyond("a dividend smaller than the divisor", output, _square(a), _square(b))
        if a:
            yield _beyond("a divisor that is no suffix", suffix, _DISTINCT[:b], _DISTINCT[:a])
    for dividend, divisor in _OF_ONE_SIZE:
        yield _beyond("a divisor that is no suffix", suffix, dividend, divisor)
    yield _beyond("a one-element divisor of more dimensions", one, (3,), (1, 1))
    yield _beyond("a dividend smaller than the divisor", output, (5,), _DOCUMENTED)
    yield _beyond("a dividend to be stretched", output, (3, 1), (1, 3))
    for divisor, axis in (*_with_ones(), ((1, 5), None)):
        yield _beyond("a dimension of 1 to be stretched", no_stretch, _DOCUMENTED, divisor, axis)
    yield _beyond("a dimension of 1 to be stretched", no_stretch, (2, 3), (2, 1))
    for tried, divisor, axis in _beside_runs():
        yield _beyond(tried, at_axis, _DOCUMENTED, divisor, axis)
    yield _beyond("a run that is not contiguous", at_axis, _DOCUMENTED, (3, 5), 1)
    yield _beyond("an axis out of range", at_axis, _DOCUMENTED, (5,), 5)
    yield _beyond("a negative axis", ("negative-axis-undefined",), _DOCUMENTED, (5,), -1)
    yield _beyond("a negative axis", ("negative-axis-undefined",), _DOCUMENTED, (3, 4), -3)


def _pdpd() -> Iterator[ShapePair]:
    tags, at_axis, tried = ("auto-broadcast-pdpd",), ("pdpd-axis",), "a divisor that does not fit"
    for dividend, divisor, axis in _runs():
        yield _fits(tags if axis is None else at_axis, dividend, divisor, axis)
    for divisor, axis in _with_ones():
        yield _fits(tags if axis is None else at_axis, _DOCUMENTED, divisor, axis)
    for rank in _RANKS:
        yield _fits(tags, _square(rank), ())
    for divisor in ((), (1, 1), (3, 1, 1), (1, 5)):
        yield _fits(tags, _DOCUMENTED, divisor)
    for start in range(1, len(_DOCUMENTED)):
        yield _fits(at_axis, _DOCUMENTED, _DOCUMENTED[start:], -1)
    yield _fits(tags, (0, 3), (3,))
    for a, b in combinations(_RANKS, 2):
        yield _beyond(tried, tags, _square(a), _square(b))
        if a:
            yield _beyond(tried, tags, _DISTINCT[:b], _DISTINCT[:a])
    for dividend, divisor in (*_OF_ONE_SIZE, ((8, 1, 6, 1), (7, 1, 5)), ((1, 3), (2, 3))):
        yield _beyond(tried, tags, dividend, divisor)
    yield _beyond(tried, tags, (8, 1, 6, 1), (7, 1, 5), 1)
    for scenario, divisor, axis in _beside_runs():
        yield _beyond(scenario, at_axis, _DOCUMENTED, divisor, axis)
    yield _beyond("an axis out of range", at_axis, _DOCUMENTED, (5,), 5)
    yield _beyond("a negative axis other than -1", at_axis, _DOCUMENTED, (5,), -2)


def _marked(rule: Broadcasting, pairs: Iterable[ShapePair]) -> Iterator[ShapePair]:
    for pair in pairs:
        key = pair.shapes.dividend, pair.shapes.divisor, pair.attributes.get("axis")
        yield replace(pair, everywhere=pair.shapes.zero or key in _EVERYWHERE[rule])


SHAPE_PAIRS: Mapping[Broadcasting, tuple[ShapePair, ...]] = {
    rule: tuple(_marked(rule, pairs()))
    for rule, pairs in {
        Broadcasting.EQUAL: _equal,
        Broadcasting.LIMITED: _limited,
        Broadcasting.MULTIDIRECTIONAL: _multidirectional,
        Broadcasting.PDPD: _pdpd,
    }.items()
}


QUICK, DEFAULT, FULL = Level
LATER = {QUICK: DEFAULT, DEFAULT: FULL}
_RECIPROCAL: tuple[Shape, ...] = (
    *((), (0,), (1,), (1, 1, 1), (2, 0, 3), _DOCUMENTED, (2, 1, 3, 1, 2, 2), (4, 6), (17, 33)),
)


def shape_cases(builder: CaseBuilder) -> Iterator[Case]:
    """Yield the cases of every pair of shapes of the version, at the limits of its rules and just beyond."""
    for pair in shape_pairs(builder.spec):
        fits = pair.shapes.fitted is not None
        if fits or pair.everywhere or builder.chosen:
            level, constants = _asked(builder, pair, fits)
            numbers = pair.shapes
            yield from builder.cases(
                pair.tried, shape_words(pair), pair.tags, pair.attributes, numbers, level, constants, refused=not fits
            )


def _asked(builder: CaseBuilder, pair: ShapePair, fits: bool) -> tuple[Level, tuple[Placement, ...] | None]:
    """Return the first level that runs a pair of shapes with run-time operands, and its other placements."""
    chosen, newest = builder.chosen, builder.newest_of_its_shapes
    if pair.everywhere:
        first = DEFAULT if pair.default_written else QUICK
        return (first, DIVISOR if newest and fits else ()) if chosen else (LATER[first], None)  # A level later.
    if not fits:  # That shapes are refused hardly depends on element types and constants.
        return (DEFAULT if newest and chosen and not builder.element_type.is_integer else FULL), None
    return (DEFAULT if newest else FULL, ()) if chosen else (FULL, None)


def shape_pairs(spec: OperatorSpec) -> Iterator[ShapePair]:
    """Yield the pairs of shapes of an operator version, for each broadcasting rule that its attributes can select.

    The version has a clause that they test, and the attributes that they set.
    """
    if len(spec.inputs) == 1:
        for shape in _RECIPROCAL:
            tried = "an empty tensor" if 0 in shape else "distinct numbers"
            yield ShapePair(("element-by-element",), Shapes(None, shape, shape), tried, everywhere=shape in ((), (0,)))
        return
    selector = spec.broadcasting_attribute
    declared = spec.attribute(selector) if selector else None
    tags = {clause.tag for clause in spec.clauses}
    for value, rule in spec.broadcasting.items():
        is_default = declared is None or value == declared.default
        for pair in SHAPE_PAIRS[rule]:
            if tags.isdisjoint(pair.tags) or any(spec.attribute(name) is None for name in pair.attributes):
                continue
            if is_default:
                yield pair
            if declared is not None and (pair.everywhere or not is_default) and value is not None:
                attributes = {declared.name: value, **pair.attributes}
                yield replace(pair, attributes=attributes, default_written=is_default)


def shape_words(pair: ShapePair) -> str:
    """Return the text for a pair of shapes in the id: the shapes, and the attributes that the model sets."""
    dividend, divisor = pair.shapes.dividend, pair.shapes.divisor
    if dividend is None:
        return f"shape {divisor}" if divisor else "a scalar"
    words = f"{dividend or 'a scalar'} by {divisor or 'a scalar'}"
    return ", ".join([words, *(f"{name}={value}" for name, value in pair.attributes.items())])
