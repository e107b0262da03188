"""Validation of the arrays that a model is given."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.models.built_models import one_line
from vinculum.errors import BroadcastError, ElementTypeError, ModelError
from vinculum.models.values import ModelTensor, validated_inputs
from vinculum.spec.element_types import BFLOAT16, FLOAT, INT4

TENSORS = (
    ModelTensor("a", FLOAT, ("N", 3)),
    ModelTensor("b", FLOAT, (None, "N")),
    ModelTensor("c", FLOAT, None, optional=True),
)
A, B = np.ones((2, 3), np.float32), np.ones((5, 2), np.float32)


class TestAdmitted:
    """Valid inputs are passed on without a copy."""

    def test_as_read_only_views(self) -> None:
        arrays = validated_inputs(TENSORS, {"a": A, "b": B})
        assert np.shares_memory(arrays["a"], A)
        assert not arrays["a"].flags.writeable
        assert A.flags.writeable

    def test_big_endian_arrays_have_the_same_element_type(self) -> None:
        arrays = validated_inputs(TENSORS, {"a": A.astype(">f4"), "b": B})
        assert arrays["a"].dtype == np.float32

    @pytest.mark.parametrize(
        ("element_type", "array"),
        [
            (BFLOAT16, np.ones(2, ml_dtypes.bfloat16)),
            (INT4, np.ones(2, ml_dtypes.int4)),
            ("bool", np.array([True, False])),
            ("complex64", np.ones(2, np.complex64)),
            ("float8e5m2fnuz", np.ones(2, ml_dtypes.float8_e5m2fnuz)),
            ("string", np.array(["x", "y"])),
            ("string", np.array(["x", "y"], object)),
        ],
    )
    def test_every_kind_of_element_type(self, element_type: Any, array: Any) -> None:
        arrays = validated_inputs((ModelTensor("x", element_type, (2,)),), {"x": array})
        assert arrays["x"].tolist() == array.tolist()


class TestRefused:
    """Bad input: a missing or surplus input, a wrong type or shape."""

    @pytest.mark.parametrize(
        ("given", "kind", "parts"),
        [
            ({"a": A}, ModelError, ("no array for input 'b' (float, shape (?, N))",)),
            ({"a": A, "b": B, "z": A}, ModelError, ("no input 'z'", "'a', 'b', 'c'")),
            (
                {"a": A.astype(np.float64), "b": B},
                ElementTypeError,
                ("input 'a'", "double", "declares float: convert it with .astype('float32')"),
            ),
            *(
                ({"a": value, "b": B}, ElementTypeError, ("input 'a'",))
                for value in ([[1.0, 2.0, 3.0]], 1.0, "x", None)
            ),
            ({"a": A[0], "b": B}, BroadcastError, ("input 'a' has shape (3,)", "(N, 3)", "ranks differ")),
            ({"a": A[:, :2], "b": B}, BroadcastError, ("input 'a' has shape (2, 2)", "dimension 1 differs")),
            ({"a": A, "b": B[:, :1]}, BroadcastError, ("input 'b' has shape (5, 1)", "N is 2 by input 'a'")),
        ],
    )
    def test_by_name(self, given: Any, kind: type[Exception], parts: tuple[str, ...]) -> None:
        with one_line(kind, *parts):
            validated_inputs(TENSORS, given)

    def test_a_kind_that_nothing_stands_for(self) -> None:
        with one_line(ModelError, "'s'", "map", "nothing else"):
            validated_inputs((ModelTensor("s", "map", None),), {"s": A})


class TestSequencesAndOptionals:
    """A sequence is a list of what it declares, an optional is None or what it declares; they nest."""

    ROWS = ModelTensor("s", "sequence", None, element=ModelTensor("s", FLOAT, ("N", 3)))
    PERHAPS = ModelTensor("o", "optional", None, element=ROWS)

    @pytest.mark.parametrize("given", [[], [A], (A, A[:1])])
    def test_a_sequence(self, given: Any) -> None:
        admitted = validated_inputs((self.ROWS,), {"s": given})["s"]
        assert isinstance(admitted, list)
        assert [item.tolist() for item in admitted] == [item.tolist() for item in given]
        assert all(np.shares_memory(a, b) and not a.flags.writeable for a, b in zip(admitted, given, strict=True))

    def test_an_optional(self) -> None:
        assert validated_inputs((self.PERHAPS,), {"o": None}) == {"o": None}
        assert len(validated_inputs((self.PERHAPS,), {"o": [A]})["o"]) == 1
        with one_line(ModelError, "no array for input 'o' (optional of sequence of float, shape (N, 3))"):
            validated_inputs((self.PERHAPS,), {})

    @pytest.mark.parametrize(
        ("given", "kind", "parts"),
        [
            (A, ElementTypeError, ("input 's' is a ndarray", "pass a list")),
            (None, ElementTypeError, ("input 's' is a NoneType",)),
            ([A, A.astype(np.float64)], ElementTypeError, ("item 1 of input 's'", "double", "declares float")),
            ([A, None], ElementTypeError, ("item 1 of input 's' is a NoneType",)),
            ([A[0]], BroadcastError, ("item 0 of input 's' has shape (3,)", "ranks differ")),
        ],
    )
    def test_refused(self, given: object, kind: type[Exception], parts: tuple[str, ...]) -> None:
        with one_line(kind, *parts):
            validated_inputs((self.ROWS,), {"s": given})
