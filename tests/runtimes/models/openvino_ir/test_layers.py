"""Shapes that layers give, as OpenVINO infers them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.cases import case
from vinculum.errors import BroadcastError
from vinculum.models.openvino_ir.layers import (
    Sizes,
    reshaped,
    squeezed,
    unsqueezed,
)

SHAPES: list[Sizes] = [(), (1,), (2, 3), (1, 6, 1), (1, 1), (None, 3), (None, None), (0, 3), (1, None)]
AXES: list[list[int]] = [[], [0], [-1], [1], [0, 2], [2, 0], [0, 0], [1, -3], [0, -1], [-2, -1, 0], [3], [-4], [0, 3]]
PATTERNS: list[list[int]] = [
    [],
    [-1],
    [6],
    [3, 2],
    [0, -1],
    [-1, 0],
    [0, 0],
    [0, 3, 1],
    [1, 0, -1],
    [5],
    [-1, -1],
    [-2, 3],
    [4, -1],
    [0, 0, 0],
]


def _by_openvino(kind: str, shape: Sizes, numbers: list[int] | None, **attributes: Any) -> Sizes | str | None:
    """Return the shape that the openvino package infers, ``"refused"`` if it does not take it."""
    import openvino
    import openvino.opset13 as opset

    factory = openvino.utils.node_factory.NodeFactory("opset1")
    parameter = opset.parameter(openvino.PartialShape([-1 if size is None else size for size in shape]), np.float32)
    constants = [] if numbers is None else [opset.constant(np.array(numbers, np.int64))]
    try:
        result = factory.create(kind, [parameter, *constants], attributes).get_output_partial_shape(0)
    except RuntimeError:
        return "refused"
    if result.rank.is_dynamic:
        return None
    return tuple(dim.get_length() if dim.is_static else None for dim in result)


class TestUnsqueeze:
    """A 1 at each axis, counted in the result."""

    @pytest.mark.parametrize("shape", SHAPES)
    def test_like_openvino(self, shape: Sizes) -> None:
        for axes in AXES:
            with case(axes):
                expected = _by_openvino("Unsqueeze", shape, axes)
                if expected == "refused":
                    with pytest.raises(BroadcastError, match=r"^(its axes are empty|axis -?\d+ is )"):
                        unsqueezed(shape, axes)
                else:
                    assert unsqueezed(shape, axes) == expected


class TestSqueeze:
    """Without the dimensions named, but for those that are known not to be 1; without all of size 1 if none is."""

    @pytest.mark.parametrize("shape", SHAPES)
    def test_like_openvino(self, shape: Sizes) -> None:
        for axes in AXES:
            with case(axes):
                expected = _by_openvino("Squeeze", shape, axes)
                if expected == "refused":
                    with pytest.raises(BroadcastError, match=r"^axis -?\d+ is outside of rank"):
                        squeezed(shape, axes)
                else:
                    assert squeezed(shape, axes) == expected

    @pytest.mark.parametrize("shape", SHAPES)
    def test_without_axes(self, shape: Sizes) -> None:
        assert squeezed(shape, []) == _by_openvino("Squeeze", shape, None)


class TestReshape:
    """Sizes, -1 for what is left, and 0 for what is there or for 0."""

    @pytest.mark.parametrize("shape", SHAPES)
    def test_like_openvino(self, shape: Sizes) -> None:
        for pattern, special_zero in product(PATTERNS, (True, False)):
            with case(pattern, f"{special_zero=}"):
                expected = _by_openvino("Reshape", shape, pattern, special_zero=special_zero)
                try:
                    actual: Sizes | str = reshaped(shape, pattern, special_zero)
                except BroadcastError:
                    actual = "refused"
                if actual == "refused" and expected != "refused":
                    # The package checks the number of elements, and what -1 is beside 0, less strictly than
                    # its device does.
                    assert isinstance(expected, tuple)
                    assert _cannot_be(shape, expected) or (-1 in pattern and 0 in pattern and not special_zero)
                else:
                    assert actual == expected


def _cannot_be(shape: Sizes, result: Sizes) -> bool:
    """Whether no sizes give both shapes the same number of elements."""
    if None in shape or None in result:
        return False
    return int(np.prod([size or 0 for size in shape])) != int(np.prod([size or 0 for size in result]))
