"""`opset` selects the version of the operator that is in force in that operator set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vinculum import Operator, SpecLookupError, div, reciprocal

IN_FORCE = [(1, 1), (2, 1), (5, 1), (6, 6), (7, 7), (8, 7), (10, 7), (12, 7), (13, 13), (14, 14), (15, 14), (28, 14)]


class TestRefused:
    """An operator-set version is a whole number from 1 on; anything else is one line, whatever was asked before."""

    @pytest.mark.parametrize(
        "opset", [0, -1, -(10**9), 1.5, 7.0, "7", b"7", True, False, [7], (7,), {}, 7j, float("nan")]
    )
    def test_one_line(self, opset: Any) -> None:
        div(
            np.array([1], "float32"), np.array([1], "float32"), opset=7
        )  # so that 7.0 could be mistaken for a 7 seen before
        div(np.array([1], "float32"), np.array([1], "float32"), opset=1)
        for call in (
            lambda: div(np.array([1], "float32"), np.array([1], "float32"), opset=opset),
            lambda: reciprocal(np.array([1], "float32"), opset=opset),
            lambda: Operator("Div", opset=opset),
            lambda: Operator("Divide", opset=opset),
        ):
            with pytest.raises(SpecLookupError, match=r"allowed: a whole number from 1 on$") as refusal:
                call()
            assert str(refusal.value).startswith(f"{opset!r} is not an operator-set version")
            assert isinstance(refusal.value, LookupError)

    def test_numpys_whole_numbers_are_whole_numbers(self) -> None:
        assert Operator("Div", opset=np.int64(10)).spec.since_version == 7  # type: ignore[arg-type]  # an int to users

    @pytest.mark.parametrize(
        ("name", "hint"),
        [
            ("div", "did you mean 'Div'"),
            ("Divison", "did you mean"),
            ("Mul", "allowed: Div"),
            ("", "allowed"),
            (None, ""),
            (5, ""),
        ],
    )
    def test_unknown_operators(self, name: Any, hint: str) -> None:
        with pytest.raises(SpecLookupError, match=rf"no operator {name!r} that divides; .*{hint}"):
            Operator(name)
