"""Each transfer function alone, on operands at the edges of their types, against ONNX Runtime."""

from __future__ import annotations

import pytest
from onnx.defs import get_all_schemas

from tests.analysis.operators import Trial
from tests.analysis.trying import cases, complaints
from vinculum.analysis.transfer.registry import BODY_TOO, COMMUTATIVE, IMPURE, TABLE

_ROUNDS = 12
_IDS = [f"{trial}-{element_type}" for trial, element_type in cases()]


@pytest.mark.parametrize(("trial", "element_type"), cases(), ids=_IDS)
def test_what_is_computed_lies_inside(trial: Trial, element_type: str) -> None:
    assert list(complaints(trial, element_type, 1, _ROUNDS)) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(("trial", "element_type"), cases(), ids=_IDS)
def test_ten_thousand_times(trial: Trial, element_type: str) -> None:
    assert list(complaints(trial, element_type, 2, 10_000)) == []


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
