"""Each transfer function alone, on operands at the edges of their types, against ONNX Runtime."""

from __future__ import annotations

from itertools import chain

import pytest
from onnx.defs import get_all_schemas

from tests.analysis.operators import TRIALS
from tests.analysis.trying import complaints, of_every_type
from vinculum.analysis.transfer.registry import BODY_TOO, COMMUTATIVE, IMPURE, TABLE

_ROUNDS = 12
_OPERATORS = sorted({trial.operator for trial in TRIALS})


@pytest.mark.parametrize("operator", _OPERATORS)
def test_what_is_computed_lies_inside(operator: str) -> None:
    assert list(chain.from_iterable(complaints(*each, 1, _ROUNDS) for each in of_every_type(operator))) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("operator", _OPERATORS)
def test_ten_thousand_times(operator: str) -> None:
    assert list(chain.from_iterable(complaints(*each, 2, 10_000) for each in of_every_type(operator))) == []


class TestRegistry:
    """What the tables hold."""

    def test_at_least_150_operators_of_the_standard(self) -> None:
        current = {schema.name for schema in get_all_schemas() if schema.domain == "" and not schema.deprecated}
        assert len({name for _, name in TABLE} & current) >= 150

    def test_only_operators_of_the_standard(self) -> None:
        names = {schema.name for schema in get_all_schemas() if schema.domain == ""} | {"Scatter", "Upsample"}
        assert {name for _, name in TABLE} <= names

    def test_what_is_said_of_operators_is_said_of_known_ones(self) -> None:
        names = {name for _, name in TABLE}
        assert names >= BODY_TOO
        assert names >= COMMUTATIVE
        assert set(TABLE) >= IMPURE
