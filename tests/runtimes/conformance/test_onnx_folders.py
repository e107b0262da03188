"""Folders of node tests, run by ONNX Runtime as a stranger does: every kernel that it has agrees with them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnxruntime
from numpy.typing import NDArray

from tests.conformance.vectors.test_onnx_folders import check


def test_onnx_runtime() -> None:
    onnxruntime.set_default_logger_severity(4)
    check(quotient, 100)


def quotient(model: Path, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    given: NDArray[Any] = onnxruntime.InferenceSession(model.read_bytes()).run(None, dict(inputs))[0]
    return given
