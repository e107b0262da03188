"""What the tests of models share: small model files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models.built_models import build


@pytest.fixture
def onnx_file(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that builds a model as `build` does and returns the path of its file."""

    def save(*args: Any, **options: Any) -> Path:
        path = tmp_path / "model.onnx"
        path.write_bytes(build(*args, **options).SerializeToString())
        return path

    return save
