"""Boundary shapes of each broadcasting rule: first shapes that it accepts, then shapes that it must refuse.

They include the examples of broadcasting in the documents and in our readings, and square shapes, for which a wrong
axis gives wrong numbers instead of an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vinculum.spec.model import AttributeValue, Broadcasting

Shape = tuple[int, ...]


@dataclass(frozen=True)
class ShapePair:
    """Two shapes, or Reciprocal's one, and the attributes that join them.

    Attributes
    ----------
    tags : tuple of str
        Tags of clauses, one of which a tested version has.
    dividend, divisor : tuple of int
        The shapes; for Reciprocal both are the shape of its operand.
    aligned : tuple of int or None
        The divisor's shape with dimensions of size 1 inserted so that NumPy broadcasts the two in the same way; None
        if the version must refuse them.
    tried : str
        The scenario, as in the id.
    attributes : Mapping
        The attributes that the model sets.
    everywhere : bool
        Whether it is one of the few pairs that run for every element type.
    zero : bool
        Whether the divisor is 0, although nothing is divided as the result is empty.
    default_written : bool
        Whether it differs from another pair of shapes only in that the model sets the default rule explicitly.
    """

    tags: tuple[str, ...]
    dividend: Shape
    divisor: Shape
    aligned: Shape | None
    tried: str
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    everywhere: bool = False
    zero: bool = False
    default_written: bool = False


def _fits(
    tags: tuple[str, ...], dividend: Shape, divisor: Shape, aligned: Shape | None = None,
    axis: int | None = None, *, everywhere: bool = False,
) -> ShapePair:  # fmt: skip
    """Return shapes that fit; without `aligned` NumPy broadcasts them in the same way as they are."""
    tried = "empty tensors" if 0 in dividend + divisor else "distinct numbers"
    aligned = divisor if aligned is None else aligned
    return ShapePair(tags, dividend, divisor, aligned, tried, _written(axis), everywhere)


def _empty_by_zero(tags: tuple[str, ...], dividend: Shape, divisor: Shape) -> ShapePair:
    tags, tried = ("empty-result-divides-nothing", *tags), "an empty dividend and a divisor of 0"
    return ShapePair(tags, dividend, divisor, divisor, tried, everywhere=True, zero=True)


def _beyond(
    tried: str, tags: tuple[str, ...], dividend: Shape, divisor: Shape,
    axis: int | None = None, *, everywhere: bool = False,
) -> ShapePair:  # fmt: skip
    return ShapePair(tags, dividend, divisor, None, tried, _written(axis), everywhere)


def _written(axis: int | None) -> Mapping[str, AttributeValue]:
    return {} if axis is None else {"axis": axis}


_DOCUMENTED = (2, 3, 4, 5)  # The dividend of ONNX's examples.
_EQUAL = ("equal-shapes-by-default", "auto-broadcast-none", "[C1]")
_BY_DEFAULT = ("equal-shapes-by-default",)
_DIFFER = "shapes that differ"

_EQUAL_EDGES = (
    _fits(_EQUAL, (), (), everywhere=True),
    _fits(_EQUAL, (0,), (0,), everywhere=True),
    _fits(_EQUAL, _DOCUMENTED, _DOCUMENTED, everywhere=True),
    _fits(_EQUAL, (2, 0, 3), (2, 0, 3)),
    _fits(_EQUAL, (1, 1), (1, 1)),
    _fits(_EQUAL, (2, 1, 3, 1, 2, 2), (2, 1, 3, 1, 2, 2)),
    _beyond(_DIFFER, _EQUAL, (2, 3), (3,), everywhere=True),
    _beyond(_DIFFER, _EQUAL, (2, 3), ()),
    _beyond(_DIFFER, _EQUAL, (), (2, 3)),
    _beyond(_DIFFER, _EQUAL, (3,), (1,)),
    _beyond(_DIFFER, _EQUAL, (1,), (3,)),
    _beyond(_DIFFER, _EQUAL, (2, 3), (2, 1)),
    _beyond(_DIFFER, _EQUAL, (2, 3), (3, 2)),
    _beyond(_DIFFER, _EQUAL, (6,), (2, 3)),
    _beyond(_DIFFER, _EQUAL, (1,), ()),
    _beyond(_DIFFER, _EQUAL, (0,), (1,)),
    _beyond("an axis without broadcast", _BY_DEFAULT, _DOCUMENTED, (3, 4), axis=1),
)

_ONE_ELEMENT = ("one-element-divisor",)
_SUFFIX = ("broadcast-suffix",)
_AXIS = ("broadcast-axis",)
_OUTPUT = ("output-of-dividend-shape",)
_NO_STRETCH = ("no-one-dim-expansion",)
_NEGATIVE = ("negative-axis-undefined",)

_LIMITED_EDGES = (
    _fits(_ONE_ELEMENT, _DOCUMENTED, (), everywhere=True),
    _fits(_ONE_ELEMENT, _DOCUMENTED, (1, 1)),
    _fits(_ONE_ELEMENT, (3,), (1,)),
    _fits(_ONE_ELEMENT, _DOCUMENTED, (1,), axis=1),
    _fits(_ONE_ELEMENT, (), ()),
    _fits(_OUTPUT, (2, 3), (1, 1)),
    _fits(_OUTPUT, _DOCUMENTED, _DOCUMENTED),
    _fits(_SUFFIX, _DOCUMENTED, (5,), everywhere=True),
    _fits(_SUFFIX, _DOCUMENTED, (4, 5)),
    _fits(_SUFFIX, _DOCUMENTED, (3, 4, 5)),
    _fits(_SUFFIX, (3, 3), (3,)),
    _fits(_SUFFIX, (2, 3, 1), (3, 1)),
    _fits(_SUFFIX, (2, 1, 3, 2, 1, 2), (2, 1, 2)),
    _fits(_SUFFIX, (0, 3), (3,)),
    _fits(_SUFFIX, (3, 0), (0,)),
    _fits(_AXIS, _DOCUMENTED, (3, 4), (3, 4, 1), axis=1, everywhere=True),
    _fits(_AXIS, _DOCUMENTED, (2,), (2, 1, 1, 1), axis=0),
    _fits(_AXIS, (3, 3), (3,), (3, 1), axis=0, everywhere=True),
    _fits(_AXIS, (3, 3), (3,), (3,), axis=1),
    _fits(_AXIS, (4, 4, 4), (4,), (4, 1, 1), axis=0),
    _fits(_AXIS, (4, 4, 4), (4,), (4, 1), axis=1),
    _fits(_AXIS, (4, 4, 4), (4, 4), (4, 4, 1), axis=0),
    _fits(_AXIS, _DOCUMENTED, (2, 3), (2, 3, 1, 1), axis=0),
    _fits(_AXIS, _DOCUMENTED, (4, 5), axis=2),
    _fits(_AXIS, _DOCUMENTED, _DOCUMENTED, axis=0),
    _fits(_AXIS, (2, 3, 2, 3, 2, 3), (2, 3), (2, 3, 1, 1), axis=2),
    _fits(_AXIS, (2, 0), (2,), (2, 1), axis=0),
    _empty_by_zero(_ONE_ELEMENT, (0,), (1,)),
    _empty_by_zero(_ONE_ELEMENT, (0, 3), ()),
    _beyond("a dimension of 1 to be stretched", _NO_STRETCH, (2, 3), (2, 1), everywhere=True),
    _beyond("a dimension of 1 to be stretched", _NO_STRETCH, _DOCUMENTED, (3, 1, 5)),
    _beyond("a dimension of 1 to be stretched", _NO_STRETCH, _DOCUMENTED, (1, 3, 4, 5)),
    _beyond("a dimension of 1 to be stretched", _NO_STRETCH, _DOCUMENTED, (3, 1), axis=1),
    _beyond("a dividend smaller than the divisor", _OUTPUT, (5,), _DOCUMENTED, everywhere=True),
    _beyond("a dividend smaller than the divisor", _OUTPUT, (1,), (3,)),
    _beyond("a dividend smaller than the divisor", _OUTPUT, (), (3,)),
    _beyond("a dividend to be stretched", _OUTPUT, (3, 1), (1, 3)),
    _beyond("a one-element divisor of more dimensions", _ONE_ELEMENT, (3,), (1, 1)),
    _beyond("a divisor that is no suffix", _SUFFIX, (2, 3), (2,)),
    _beyond("a divisor that is no suffix", _SUFFIX, _DOCUMENTED, (3, 4)),
    _beyond("a divisor that is no suffix", _SUFFIX, (3,), (4,)),
    _beyond("an axis at which the shapes differ", _AXIS, _DOCUMENTED, (3, 4), axis=0),
    _beyond("an axis at which the shapes differ", _AXIS, _DOCUMENTED, (5,), axis=0),
    _beyond("a run that is not contiguous", _AXIS, _DOCUMENTED, (3, 5), axis=1),
    _beyond("a run beyond the last dimension", _AXIS, _DOCUMENTED, (4, 5), axis=3),
    _beyond("an axis out of range", _AXIS, _DOCUMENTED, (5,), axis=4),
    _beyond("a negative axis", _NEGATIVE, _DOCUMENTED, (5,), axis=-1, everywhere=True),
    _beyond("a negative axis", _NEGATIVE, _DOCUMENTED, (3, 4), axis=-3),
)

_MULTIDIRECTIONAL = ("multidirectional-broadcasting", "auto-broadcast-numpy")
_NO_FIT = "shapes that do not broadcast"

_MULTIDIRECTIONAL_EDGES = (
    _fits(_MULTIDIRECTIONAL, (), (), everywhere=True),
    _fits(_MULTIDIRECTIONAL, _DOCUMENTED, (), everywhere=True),
    _fits(_MULTIDIRECTIONAL, (2, 1), (1, 3), everywhere=True),
    _fits(_MULTIDIRECTIONAL, (0, 3), (3,), everywhere=True),
    _fits(_MULTIDIRECTIONAL, (), (2, 3)),
    _fits(_MULTIDIRECTIONAL, _DOCUMENTED, (5,)),
    _fits(_MULTIDIRECTIONAL, (4, 5), _DOCUMENTED),
    _fits(_MULTIDIRECTIONAL, (1, 4, 5), (2, 3, 1, 1)),
    _fits(_MULTIDIRECTIONAL, (3, 4, 5), (2, 1, 1, 1)),
    _fits(_MULTIDIRECTIONAL, (8, 1, 6, 1), (7, 1, 5)),
    _fits(_MULTIDIRECTIONAL, (7, 1, 5), (8, 1, 6, 1)),
    _fits(_MULTIDIRECTIONAL, (3, 1, 2), (2, 1, 4, 2), everywhere=True),
    _fits(_MULTIDIRECTIONAL, (3, 3), (3,)),
    _fits(_MULTIDIRECTIONAL, (3, 3), (3, 1)),
    _fits(_MULTIDIRECTIONAL, (3, 1), (3, 3)),
    _fits(_MULTIDIRECTIONAL, (2, 3, 4), (2, 1, 4)),
    _fits(_MULTIDIRECTIONAL, (1,), (3,)),
    _fits(_MULTIDIRECTIONAL, (3,), (1, 1)),
    _fits(_MULTIDIRECTIONAL, (17, 1), (1, 33)),
    _fits(_MULTIDIRECTIONAL, (2, 1, 3, 1, 2, 1), (1, 2, 1, 3, 1, 2), everywhere=True),
    _fits(_MULTIDIRECTIONAL, (1, 2, 1, 2, 1, 3, 1, 2), (2, 1, 2, 1, 3, 1, 2, 1)),
    _fits(_MULTIDIRECTIONAL, _DOCUMENTED, _DOCUMENTED),
    _fits(_MULTIDIRECTIONAL, (0,), (1,)),
    _fits(_MULTIDIRECTIONAL, (1,), (0,)),
    _fits(_MULTIDIRECTIONAL, (0, 1), (1, 3)),
    _fits(_MULTIDIRECTIONAL, (2, 0, 3), (1, 3)),
    _fits(_MULTIDIRECTIONAL, (), (0,)),
    _empty_by_zero(_MULTIDIRECTIONAL, (0,), (1,)),
    _empty_by_zero(_MULTIDIRECTIONAL, (0, 3), ()),
    _beyond(_NO_FIT, _MULTIDIRECTIONAL, (2, 3), (2,), everywhere=True),
    _beyond(_NO_FIT, _MULTIDIRECTIONAL, (3,), (4,)),
    _beyond(_NO_FIT, _MULTIDIRECTIONAL, (2, 3), (3, 2)),
    _beyond(_NO_FIT, _MULTIDIRECTIONAL, (2, 3, 4), (2, 4)),
    _beyond(_NO_FIT, _MULTIDIRECTIONAL, _DOCUMENTED, (3, 4)),
    _beyond(_NO_FIT, _MULTIDIRECTIONAL, (8, 1, 6, 1), (7, 2, 5)),
    _beyond(_NO_FIT, _MULTIDIRECTIONAL, (0,), (2,)),
)

_PDPD = ("auto-broadcast-pdpd",)
_PDPD_AXIS = ("pdpd-axis",)
_PDPD_NO_FIT = "a divisor that does not fit"

_PDPD_EDGES = (
    _fits(_PDPD, _DOCUMENTED, _DOCUMENTED),
    _fits(_PDPD, _DOCUMENTED, ()),
    _fits(_PDPD, _DOCUMENTED, (1, 1)),
    _fits(_PDPD, _DOCUMENTED, (5,), everywhere=True),
    _fits(_PDPD, _DOCUMENTED, (4, 5)),
    _fits(_PDPD, _DOCUMENTED, (1, 5)),
    _fits(_PDPD, _DOCUMENTED, (4, 1)),
    _fits(_PDPD, _DOCUMENTED, (3, 1, 1)),
    _fits(_PDPD, (0, 3), (3,)),
    _fits(_PDPD_AXIS, _DOCUMENTED, (3, 4), (3, 4, 1), axis=1, everywhere=True),
    _fits(_PDPD_AXIS, _DOCUMENTED, (3, 1), (3, 1, 1), axis=1),
    _fits(_PDPD_AXIS, _DOCUMENTED, (4, 5), axis=2),
    _fits(_PDPD_AXIS, _DOCUMENTED, (4, 5), axis=-1),
    _fits(_PDPD_AXIS, _DOCUMENTED, (5,), axis=3),
    _fits(_PDPD_AXIS, _DOCUMENTED, (5,), axis=-1),
    _fits(_PDPD_AXIS, _DOCUMENTED, (1, 3), (1, 3, 1, 1), axis=0),
    _fits(_PDPD_AXIS, _DOCUMENTED, (2,), (2, 1, 1, 1), axis=0),
    _fits(_PDPD_AXIS, _DOCUMENTED, (2, 3), (2, 3, 1, 1), axis=0),
    _fits(_PDPD_AXIS, (3, 3), (3,), (3, 1), axis=0),
    _fits(_PDPD_AXIS, (4, 4, 4), (4,), (4, 1), axis=1),
    _fits(_PDPD_AXIS, (2, 3, 2, 3, 2, 3), (2, 3), (2, 3, 1, 1), axis=2),
    _fits(_PDPD_AXIS, (2, 0), (2,), (2, 1), axis=0),
    _beyond(_PDPD_NO_FIT, _PDPD, (8, 1, 6, 1), (7, 1, 5), everywhere=True),
    _beyond(_PDPD_NO_FIT, _PDPD, (8, 1, 6, 1), (7, 1, 5), axis=1),
    _beyond(_PDPD_NO_FIT, _PDPD, _DOCUMENTED, (3, 4)),
    _beyond(_PDPD_NO_FIT, _PDPD, (5,), _DOCUMENTED),
    _beyond(_PDPD_NO_FIT, _PDPD, (1, 3), (2, 3)),
    _beyond(_PDPD_NO_FIT, _PDPD_AXIS, _DOCUMENTED, (3, 5), axis=1),
    _beyond("a run beyond the last dimension", _PDPD_AXIS, _DOCUMENTED, (4, 5), axis=3),
    _beyond("an axis out of range", _PDPD_AXIS, _DOCUMENTED, (5,), axis=4),
    _beyond("a negative axis other than -1", _PDPD_AXIS, _DOCUMENTED, (5,), axis=-2),
)

EDGES: Mapping[Broadcasting, tuple[ShapePair, ...]] = {
    Broadcasting.EQUAL: _EQUAL_EDGES,
    Broadcasting.LIMITED: _LIMITED_EDGES,
    Broadcasting.MULTIDIRECTIONAL: _MULTIDIRECTIONAL_EDGES,
    Broadcasting.PDPD: _PDPD_EDGES,
}
