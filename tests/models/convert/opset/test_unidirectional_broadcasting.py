"""Between B on a run of A's dimensions and multidirectional broadcasting: every form, against the joined shapes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from vinculum.errors import BroadcastError
from vinculum.models.convert.opset.unidirectional_broadcasting import LegacyForm, legacy_form, trailing_ones
from vinculum.tensors.broadcasting import limited, multidirectional


class TestTrailingOnes:
    """The dimensions of size 1 that put B where `axis` says."""

    @pytest.mark.parametrize(
        ("rank_a", "rank_b", "axis", "ones"),
        [(4, 2, 1, 1), (4, 1, 0, 3), (4, 2, 2, 0), (4, 2, None, 0), (4, 0, 0, 4), (2, 1, 2, 0)],
    )
    def test_count(self, rank_a: int, rank_b: int, axis: int | None, ones: int) -> None:
        assert trailing_ones(rank_a, rank_b, axis) == ones


class TestKnownShapes:
    """Whatever multidirectional broadcasting joins, Div-6 can be told."""

    def shapes(self) -> list[tuple[int, ...]]:
        return [shape for rank in range(4) for shape in product((1, 2, 3), repeat=rank)]

    def test_every_pair_up_to_rank_3(self) -> None:
        """The operands as the form makes them are joined by Div-6's own rule to the same quotients."""
        tried = 0
        for a, b in product(self.shapes(), repeat=2):
            try:
                joined = multidirectional(a, b)
            except BroadcastError:
                assert legacy_form(a, b) is None
                continue
            form = legacy_form(a, b)
            assert form is not None
            left, right = (np.arange(np.prod(shape, dtype=int)).reshape(shape) for shape in (a, b))
            wanted = [np.broadcast_to(operand, joined.shape) for operand in (left, right)]
            left = self._said(left, form.stretch_a, form)
            right = self._said(right, form.stretch_b, form) if form.stretch_b else right.squeeze(form.squeeze_b)
            assert left.shape == joined.shape
            assert np.array_equal(left, wanted[0])
            assert np.array_equal(self._laid(left, right, form), wanted[1])
            tried += 1
        assert tried > 500

    def _said(self, operand: np.ndarray, axes: tuple[int, ...], form: LegacyForm) -> np.ndarray:
        operand = operand.reshape((1,) * (len(form.shape) - operand.ndim) + operand.shape)
        repeats = [size if d in axes else 1 for d, size in enumerate(form.shape)]
        return np.tile(operand, [r for r in repeats if isinstance(r, int)])

    def _laid(self, a: np.ndarray, b: np.ndarray, form: LegacyForm) -> np.ndarray:
        """Return B over A's shape by the rule of Div-6, which the engine implements."""
        if not form.attributes.get("broadcast"):
            assert a.shape == b.shape
            return b
        alignment = limited(a.shape, b.shape, form.attributes.get("axis"))
        strides = [0 if d is None else b.strides[d] for d in alignment.b]
        return np.lib.stride_tricks.as_strided(b, a.shape, strides)


class TestUnknownDimensions:
    """Names and ranks suffice where they settle the question."""

    @pytest.mark.parametrize(
        ("a", "b", "attributes"),
        [
            (("N", 3), ("N", 3), {}),
            (("N", None), (None,), None),
            ((None, 4), (1, 4), {"broadcast": 1}),
            ((None, None), (1, 1), {"broadcast": 1}),
            ((None, None), (), {"broadcast": 1}),
            (("N", "C", "H"), ("C", 1), {"broadcast": 1, "axis": 1}),
            (("N", "C"), ("M", "C"), None),
            (("N", 4), (None, 4), None),
            ((None, 4), (None, 4), None),
        ],
    )
    def test_form(
        self,
        a: tuple[int | str | None, ...],
        b: tuple[int | str | None, ...],
        attributes: dict[str, int] | None,
    ) -> None:
        form = legacy_form(a, b)
        assert (None if form is None else form.attributes) == attributes
        assert form is None or not (form.stretch_a or form.stretch_b)

    def test_a_dimension_of_unknown_size_is_repeated_over(self) -> None:
        form = legacy_form(("N", 1, None), (1, 7, 1))
        assert form is not None
        assert form.stretch_a == (1,)
        assert (form.stretch_b, form.squeeze_b, form.attributes) == ((), (0, 2), {"broadcast": 1, "axis": 1})
