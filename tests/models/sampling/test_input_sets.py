"""Sets of inputs for a model: pairs of edge values, random values, indices, and several sizes of open dimensions."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import numpy as np
import pytest

from vinculum.errors import ModelError
from vinculum.models import ModelTensor
from vinculum.models.sampling.drawn_inputs import draw
from vinculum.models.sampling.edge_values import edge_values
from vinculum.models.sampling.input_sets import edge_sets, input_sets
from vinculum.models.values import tensor_dtype, validated_inputs
from vinculum.spec.element_types import ELEMENT_TYPES, FLOAT, INT8, INT32, INT64, REAL, ElementType

TYPES: list[ElementType | str] = [element_type for element_type in ELEMENT_TYPES if element_type is not REAL]
OTHERS: list[ElementType | str] = [
    "bool",
    "string",
    "complex64",
    "complex128",
    "float4e2m1",
    "float8e4m3fnuz",
    "float8e8m0",
    "int2",
    "uint2",
]
N = ModelTensor("a", INT8, ("N",)), ModelTensor("b", INT8, ("N",))


def _sets(*tensors: ModelTensor, seed: int = 0) -> list[dict[str, Any]]:
    return list(input_sets(tensors, seed))


class TestComplete:
    """Every set can be handed to the model as it is."""

    @pytest.mark.parametrize("element_type", TYPES + OTHERS, ids=str)
    def test_types_and_shapes(self, element_type: Any) -> None:
        shapes: list[Any] = [(), (2, 0), ("N", 3), (None, "N", None), None]
        for shape in shapes if element_type in (FLOAT, INT8, "string") else shapes[2:4]:
            tensors = tuple(ModelTensor(name, element_type, shape) for name in "ab")
            sets = _sets(*tensors)
            assert len(sets) > 50
            for inputs in sets:
                validated_inputs(tensors, inputs)
                assert all(array.dtype == tensor_dtype(tensors[0]) for array in inputs.values())

    def test_the_seed_decides(self) -> None:
        first, again, other = (str(_sets(*N, seed=seed)) for seed in (0, 0, 1))
        assert first == again != other

    def test_sequences_and_optionals(self) -> None:
        item = ModelTensor("", FLOAT, ("N",))
        sequence = ModelTensor("s", "sequence", None, element=item)
        tensors = (sequence, ModelTensor("o", "optional", None, element=sequence), ModelTensor("p", FLOAT, ("N",)))
        for inputs in _sets(*tensors):
            validated_inputs(tensors, inputs)
            assert len(inputs["s"]) == 2

    def test_optional_inputs_are_left_out_and_given(self) -> None:
        sets = _sets(N[0], ModelTensor("w", FLOAT, ("N",), optional=True))
        assert {tuple(inputs) for inputs in sets} == {("a",), ("a", "w")}
        assert "w" not in sets[0]

    def test_no_inputs(self) -> None:
        assert _sets() == [{}]


class TestContents:
    """The sets contain all pairs of edge values, divisors other than 0, indices, and random encodings."""

    @pytest.mark.parametrize("element_type", [t for t in TYPES if str(t) not in ("int64", "float", "double")], ids=str)
    def test_every_pair_of_edges_meets(self, element_type: ElementType) -> None:
        sets = _sets(ModelTensor("a", element_type, ("N",)), ModelTensor("b", element_type, ("N",)))
        unsigned = f"u{tensor_dtype(ModelTensor('a', element_type, ())).itemsize}"
        met = {
            pair for inputs in sets for pair in zip(*(x.view(unsigned).tolist() for x in inputs.values()), strict=True)
        }
        assert set(product(edge_values(element_type).view(unsigned).tolist(), repeat=2)) <= met

    @pytest.mark.parametrize("shapes", [((), ()), ((7,), (1,)), ((2, 3), (3,)), ((2, 3, 4, 5), (4, 1))], ids=str)
    @pytest.mark.parametrize("seed", range(5))
    def test_min_meets_minus_one_and_zero(self, shapes: Any, seed: int) -> None:
        sets = _sets(*(ModelTensor(n, INT64, s) for n, s in zip("ab", shapes, strict=True)), seed=seed)
        assert all(any(np.any((s["a"] == -(2**63)) & (s["b"] == b)) for s in sets) for b in (-1, 0))

    def test_a_single_input_gets_every_edge(self) -> None:
        values = {value for inputs in _sets(ModelTensor("a", INT64, (3,))) for value in inputs["a"].tolist()}
        assert set(edge_values(INT64).tolist()) <= values

    def test_the_first_set_is_what_a_seed_draws(self) -> None:
        (first, *_) = _sets(*N, seed=7)
        for place, tensor in enumerate(N):
            np.testing.assert_array_equal(first[tensor.name], draw(tensor, place, 7, {"N": 3}).array)
        assert 0 not in first["b"]

    @pytest.mark.parametrize("element_type", [INT32, INT64])
    def test_indices(self, element_type: ElementType) -> None:
        edges = set(map(str, edge_values(FLOAT)))
        sets = _sets(ModelTensor("x", FLOAT, (40,)), ModelTensor("i", element_type, (40,)))
        indices = [inputs for inputs in sets if set(inputs["i"].tolist()) == {0, 1, 2}]
        assert len(indices) > 5
        assert all(set(map(str, inputs["x"])) <= edges for inputs in indices)

    def test_three_inputs(self) -> None:
        sets = _sets(*(ModelTensor(name, INT8, (2,)) for name in "abc"))
        for one, other in (("a", "b"), ("b", "c"), ("a", "c")):
            met = {pair for s in sets for pair in zip(s[one].tolist(), s[other].tolist(), strict=True)}
            assert {(-128, -1), (1, 0)} <= met


class TestSizes:
    """A named dimension has one size in a set; an unnamed one has the size of the others, or 1."""

    def test_names(self) -> None:
        sets = _sets(ModelTensor("a", FLOAT, ("N", "M", 2)), ModelTensor("b", FLOAT, ("M",)))
        sizes = {inputs["a"].shape[:2] for inputs in sets}
        assert all(inputs["b"].shape == inputs["a"].shape[1:2] for inputs in sets)
        assert {1, 2, 3, 5} <= {n for n, _ in sizes}
        assert max(n for n, _ in sizes) > 50
        assert {n == m for n, m in sizes} == {True, False}

    def test_dimensions_without_a_name(self) -> None:
        sets = _sets(ModelTensor("a", FLOAT, (None, 4)), ModelTensor("b", FLOAT, (None, 4)))
        pairs = {(inputs["a"].shape[0], inputs["b"].shape[0]) for inputs in sets}
        assert any(n == m > 1 for n, m in pairs)
        assert any(n > 1 == m for n, m in pairs)
        assert all(n == m or 1 in (n, m) for n, m in pairs)

    def test_unknown_ranks(self) -> None:
        sets = _sets(ModelTensor("a", FLOAT, None), ModelTensor("b", FLOAT, None))
        assert {0, 1, 2, 3} <= {inputs["a"].ndim for inputs in sets}
        assert {inputs["a"].ndim == inputs["b"].ndim for inputs in sets} == {True, False}
        for inputs in sets:
            np.broadcast_shapes(*(array.shape for array in inputs.values()))

    def test_an_unknown_rank_beside_a_known_shape(self) -> None:
        sets = _sets(ModelTensor("a", FLOAT, (2, 3, 4)), ModelTensor("b", FLOAT, None))
        assert {inputs["b"].shape for inputs in sets} == {(2, 3, 4), (3, 4), (4,), ()}


class TestHazards:
    """Sets of edge cases have MIN/-1 and x/0 first, in the middle and last, in small and in odd sizes."""

    @pytest.mark.parametrize("shapes", [(("N",), ("N",)), (("N",), (1,)), (("M", "N"), ("N",)), (("N",), ())], ids=str)
    @pytest.mark.parametrize("seed", range(3))
    def test_places(self, shapes: Any, seed: int) -> None:
        tensors = [ModelTensor(name, INT32, shape) for name, shape in zip("ab", shapes, strict=True)]
        found: dict[str, set[tuple[int, int]]] = {"MIN/-1": set(), "x/0": set()}
        for inputs in islice(edge_sets(tensors, {}, seed), 12):
            a, b = (x.ravel() for x in np.broadcast_arrays(inputs["a"], inputs["b"]))
            for hazard, met in (("MIN/-1", (a == -(2**31)) & (b == -1)), ("x/0", b == 0)):
                found[hazard] |= {(a.size, int(place)) for place in np.flatnonzero(met)}
        for places in found.values():
            assert any(place == size - 1 and size > 1 for size, place in places)
            assert any(place == 0 for _, place in places)
        assert any(size % 4 > size - 1 - place for size, place in found["MIN/-1"])
        assert {1, 3, 5, 7} <= {inputs["a"].shape[-1] for inputs in islice(edge_sets(tensors, {}, seed), 12)}

    def test_three_of_four_are_as_drawn(self) -> None:
        """Static shapes have one size."""
        tensors = [ModelTensor(name, INT32, (1,)) for name in "ab"]
        pairs = zip(islice(edge_sets(tensors, {}, 0), 12), islice(input_sets(tensors, 0), 1, 13), strict=True)
        assert {number for number, (found, drawn) in enumerate(pairs) if found != drawn} <= {0, 4, 8}

    @pytest.mark.parametrize("names", ["ab", "ba"])
    @pytest.mark.parametrize("size", [1, 2, 1001])
    def test_a_size_that_is_given(self, names: str, size: int) -> None:
        """Whichever input is the divisor, the last pair of a set is MIN/-1."""
        tensors = [ModelTensor(name, INT32, ("N",)) for name in names]
        sets = list(islice(edge_sets(tensors, {"N": size}, 0), 12))
        assert {inputs["a"].size for inputs in sets} == {size}
        assert any((inputs["a"][-1], inputs["b"][-1]) == (-(2**31), -1) for inputs in sets)


class TestMemory:
    """Sets are small; large static shapes occur in one set only."""

    def test_large_static_shapes_come_once(self) -> None:
        (only,) = _sets(ModelTensor("a", FLOAT, ((1 << 23) + 1,)))
        assert only["a"].size == (1 << 23) + 1

    def test_no_memory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise MemoryError("Unable to allocate")

        monkeypatch.setattr("vinculum.models.sampling.input_sets.draw", refuse)
        with pytest.raises(ModelError, match="the inputs cannot be made: there is not enough memory"):
            _sets(*N)

    def test_open_dimensions_stay_small(self) -> None:
        for inputs in _sets(ModelTensor("a", FLOAT, ("A", "B", "C", "D", 3))):
            assert inputs["a"].size <= 3 * 9**4

    @pytest.mark.parametrize(
        "tensor",
        [
            ModelTensor("a", FLOAT, (1 << 29,)),
            ModelTensor("a", "float4e2m1", (1 << 31, 5)),
            ModelTensor("a", "string", (1 << 62, 2)),
            ModelTensor("a", "string", (0, 1 << 62, 2)),
            ModelTensor("a", "map", None),
        ],
    )
    def test_what_cannot_be_made(self, tensor: ModelTensor) -> None:
        with pytest.raises(ModelError, match="'a'"):
            _sets(tensor)
