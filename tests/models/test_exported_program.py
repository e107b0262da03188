"""Programs of PyTorch where PyTorch is not installed: one line says what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

import vinculum
from vinculum.errors import ModelError
from vinculum.models import exported_program


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exported_program, "find_spec", lambda _: None)
    path = tmp_path / "mean.pt2"
    path.write_bytes(b"anything")
    with pytest.raises(ModelError) as refused:
        vinculum.check(path)
    told = str(refused.value)
    assert told.endswith("its exporter needs torch and onnxscript; install: pip install torch onnxscript")
    assert repr(str(path)) in told
