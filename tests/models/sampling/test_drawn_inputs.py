"""``--seed`` and ``--dim``: drawn inputs and their sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vinculum.errors import ModelError
from vinculum.models import ModelTensor
from vinculum.models.sampling.drawn_inputs import dimension_sizes, draw, drawn_inputs, settled, useful_size
from vinculum.spec.element_types import ELEMENT_TYPES, FLOAT, INT4, REAL, UINT4, ElementType, Kind
from vinculum.tensors.storage import dtype_of

DRAWN_TYPES = [element_type for element_type in ELEMENT_TYPES if element_type is not REAL]


class TestDistribution:
    """Floats are standard normal, integers small and never 0, bools either; the seed decides all."""

    @pytest.mark.parametrize("element_type", DRAWN_TYPES, ids=str)
    def test_type_shape_and_repetition(self, element_type: ElementType) -> None:
        tensor = ModelTensor("x", element_type, (20, 50))
        first, second = (draw(tensor, 0, 3, {}).array for _ in range(2))
        assert (first.dtype, first.shape) == (dtype_of(element_type), (20, 50))
        np.testing.assert_array_equal(first, second, strict=True)
        others = draw(tensor, 0, 4, {}).array, draw(tensor, 1, 3, {}).array
        assert all(not np.array_equal(first, other) for other in others)

    @pytest.mark.parametrize("element_type", [t for t in DRAWN_TYPES if t.is_integer], ids=str)
    def test_integers(self, element_type: ElementType) -> None:
        array = draw(ModelTensor("x", element_type, (5000,)), 0, 0, {}).array.astype(int)
        largest = {INT4: 7, UINT4: 9}.get(element_type, 9)
        smallest = -largest if element_type.kind is Kind.SIGNED else 1
        assert set(array.tolist()) == {v for v in range(smallest, largest + 1) if v != 0}

    @pytest.mark.parametrize("element_type", [t for t in DRAWN_TYPES if not t.is_integer], ids=str)
    def test_floats(self, element_type: ElementType) -> None:
        array = draw(ModelTensor("x", element_type, (5000,)), 0, 0, {}).array.astype(float)
        assert abs(array.mean()) < 0.1
        assert abs(array.std() - 1) < 0.1

    def test_bools(self) -> None:
        array = draw(ModelTensor("x", "bool", (5000,)), 0, 0, {}).array
        assert array.dtype == np.bool_
        assert 0.45 < array.mean() < 0.55


class TestSizes:
    """Symbolic dimensions: by option, else by the arrays of files, else 1; always the same for one symbol."""

    X = ModelTensor("x", FLOAT, ("N", None, 3))
    Y = ModelTensor("y", FLOAT, ("N", "M"))

    def test_options_and_arrays(self) -> None:
        assert dimension_sizes(["M=0"], [self.X, self.Y], {"x": np.zeros((5, 2, 3))}) == {"N": 5, "M": 0}
        assert dimension_sizes(["N=5"], [self.X, self.Y], {"x": np.zeros((5, 2, 3))}) == {"N": 5}
        assert dimension_sizes(["a=b=2"], [ModelTensor("x", FLOAT, ("a=b",))], {}) == {"a=b": 2}

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["N"], "NAME=SIZE"),
            (["=3"], "NAME=SIZE"),
            (["N=-3"], "NAME=SIZE"),
            (["N=3.0"], "NAME=SIZE"),
            (["N=٣"], "NAME=SIZE"),
            (["N=" + "9" * 5000], "NAME=SIZE"),
            (["K=3"], "symbolic dimensions: 'N', 'M'"),
            (["N=3", "N=4"], "is 3 already"),
        ],
    )
    def test_refusals(self, options: list[str], words: str) -> None:
        with pytest.raises(ModelError, match=words):
            dimension_sizes(options, [self.X, self.Y], {})

    def test_what_is_assumed(self) -> None:
        drawn = draw(self.X, 0, 0, {"M": 4})
        assert (drawn.array.shape, drawn.assumed) == ((1, 1, 3), {"N": 1, "?": 1})
        drawn = draw(self.Y, 0, 0, {"M": 4, "N": 0})
        assert (drawn.array.shape, drawn.assumed) == ((0, 4), {})

    def test_which_are_drawn(self) -> None:
        """Inputs that are not given and have no default value; the position among all inputs determines the numbers."""
        tensors = [ModelTensor("given", FLOAT, ()), ModelTensor("value", FLOAT, (), optional=True), self.Y]
        for large, size in ((False, 1), (True, 17)):
            drawn = drawn_inputs(tensors, {"given": np.zeros((), np.float32)}, 3, {}, large=large)
            assert {name: one.array.tolist() for name, one in drawn.items()} == {
                "y": draw(self.Y, 2, 3, {}, size).array.tolist()
            }


class TestRefusals:
    """What cannot be drawn, or would take too much memory, is refused before it is tried."""

    @pytest.mark.parametrize(
        ("tensor", "words"),
        [
            *(
                (ModelTensor("x", FLOAT, shape), "more than 1 GiB; give it with --input x=FILE")
                for shape in ((2**28 + 1,), (2**62, 2**62), (2**30, 0, 2**30))
            ),
            (ModelTensor("x", FLOAT, None), "its rank is not known"),
            (ModelTensor("x", "string", (3,)), "it holds no numbers"),
            (ModelTensor("x", "sequence", None), "its rank is not known"),
        ],
    )
    def test_not_drawn(self, tensor: ModelTensor, words: str) -> None:
        with pytest.raises(ModelError, match=words):
            draw(tensor, 0, 0, {})


class TestUsefulSizes:
    """Open dimensions get the largest candidate that keeps inputs small; static ones keep their size."""

    @pytest.mark.parametrize(
        ("shape", "size"),
        [(("N",), 1001), (("N", 8), 257), (("N", "M"), 17), (("N", 3, "H", "W"), 9), ((None, 4000), 1), ((2, 3), 1001)],
    )
    def test_size(self, shape: Any, size: int) -> None:
        tensor = ModelTensor("x", FLOAT, shape)
        assert useful_size([tensor], {}) == size
        (known,) = settled([tensor], {}, size)
        assert draw(tensor, 0, 0, {}, size).array.shape == known.shape

    def test_given_sizes_are_kept(self) -> None:
        tensors = [ModelTensor("x", FLOAT, ("N", "M")), ModelTensor("y", FLOAT, ("N",)), ModelTensor("z", FLOAT, None)]
        size = useful_size(tensors, {"M": 2})
        assert size == 1001
        assert [tensor.shape for tensor in settled(tensors, {"M": 2}, size)] == [(1001, 2), (1001,), None]
