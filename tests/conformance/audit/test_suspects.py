"""What may have crashed a runtime: both kinds are looked for, whatever else the model divides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from tests.models.built_models import build, node
from vinculum.conformance.audit.recomputation import suspects

MIN = -(2**63)


@pytest.mark.parametrize(
    ("dividend", "divisor", "words"),
    [
        ([MIN, 1], [-1, 0], ["are MIN/-1", "are zero"]),
        ([MIN, 1], [-1, 1], ["are MIN/-1"]),
        ([7, 1], [-1, 0], ["are zero"]),
        ([7, 1], [-1, 1], []),
    ],
)
def test_divisions(tmp_path: Path, dividend: list[int], divisor: list[int], words: list[str]) -> None:
    declared = (TensorProto.INT64, [2])
    model = build([node("c = Div(a, b)")], {"a": declared, "b": declared}, {"c": declared})
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    found = suspects(path, {"a": np.array(dividend), "b": np.array(divisor)})
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


def test_of_what_is_no_model(tmp_path: Path) -> None:
    assert suspects(tmp_path / "missing.onnx", {}) == ()
