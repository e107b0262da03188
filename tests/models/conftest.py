"""What the tests of models share: small model files, and the demand that an error be one clear line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from onnx import ModelProto

from tests.models.built_models import build


@pytest.fixture
def onnx_model() -> Callable[..., ModelProto]:
    """Return the function that builds a model of nodes."""
    return build


@pytest.fixture
def onnx_file(tmp_path: Path, onnx_model: Callable[..., ModelProto]) -> Callable[..., Path]:
    """Return a function that builds a model as `onnx_model` does and returns the path of its file."""

    def save(*args: Any, **options: Any) -> Path:
        path = tmp_path / "model.onnx"
        path.write_bytes(onnx_model(*args, **options).SerializeToString())
        return path

    return save


@pytest.fixture
def one_line() -> Callable[..., AbstractContextManager[None]]:
    """Return a context manager that demands an error of exactly one class, its message one line with a text in it."""

    @contextmanager
    def demand(kind: type[Exception], *parts: str) -> Iterator[None]:
        with pytest.raises(kind) as caught:
            yield
        message = str(caught.value)
        assert type(caught.value) is kind
        assert "\n" not in message
        for part in parts:
            assert part in message

    return demand
