"""A model with its inner values exposed, in both engines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.analysis import hazardous
from tests.fake_runtime import FakeRuntime, installed
from vinculum.errors import ModelError
from vinculum.models.engines.exposed import ExposedModel
from vinculum.models.execution import DivisionRecord

INPUTS = {"x": np.ones((2, 4), np.float32), "mask": np.ones((2, 4), np.float32)}
CONTENT = hazardous.masked_mean().SerializeToString()


@pytest.fixture(autouse=True)
def packages() -> Iterator[None]:
    """Install a fake package for ONNX Runtime."""
    with installed(onnxruntime=FakeRuntime):
        yield


@pytest.mark.parametrize("engine", ["reference", "onnxruntime"])
class TestValues:
    """Any value of the main graph can be requested; inputs are not returned."""

    def test_inner_values_and_outputs(self, engine: str) -> None:
        """Each call may request other values."""
        model = ExposedModel(engine, CONTENT)
        values = model.values(["count", "mean", "x"], INPUTS)
        assert list(values) == ["count", "mean"]
        np.testing.assert_array_equal(values["count"], [[4], [4]])
        assert list(model.values(["total", "kept"], INPUTS)) == ["total", "kept"]

    def test_what_cannot_be_run(self, engine: str) -> None:
        with pytest.raises(ModelError):
            ExposedModel(engine, CONTENT).values(["mean"], {"x": INPUTS["x"]})


def test_divisions_are_told_of() -> None:
    """Also of divisions on which no requested value depends."""
    records: list[DivisionRecord] = []
    ExposedModel("reference", CONTENT, records.append).values(["total"], INPUTS)
    assert [record.division.name for record in records] == ["mean"]
