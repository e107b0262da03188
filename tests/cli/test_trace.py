"""``vinculum trace``: what it reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vinculum.models import source

EXAMPLE = Path(__file__).parents[2] / "examples" / "layer_norm" / "model.onnx"


def test_the_model_is_read_once(
    here: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model is as large as its weights, and a file may change between two readings."""
    read: list[Path] = []
    content_of = source._content_of

    def noted(file: Path) -> bytes:
        read.append(file)
        return content_of(file)

    monkeypatch.setattr(source, "_content_of", noted)
    assert here("trace", EXAMPLE, "--seed", "0", "--engine", "reference") in (0, 1), capsys.readouterr().err
    assert read == [EXAMPLE]
