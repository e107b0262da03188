"""What the tests of conversions share: one division as a model, and running a model that is not in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from numpy.typing import NDArray
from onnx import ModelProto

from tests.models.built_models import check_file
from vinculum.models.onnx.file import normalise
from vinculum.models.onnx.model import model_of

Shape = Sequence[int | str | None]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., dict[str, NDArray[Any]]]:
    """Return a function that checks a model with onnx.checker and runs it by our engine."""

    def execute(
        proto: ModelProto, arrays: Mapping[str, NDArray[Any]], *, check: bool = True, **policies: Any
    ) -> dict[str, NDArray[Any]]:
        file = tmp_path / "run.onnx"
        file.write_bytes(proto.SerializeToString())
        if check:
            check_file(file)
        copy = ModelProto()
        copy.CopyFrom(proto)
        normalise(copy, file)
        return model_of(copy, file).run(arrays, **({"zero_divisor": "zero"} | policies))

    return execute
