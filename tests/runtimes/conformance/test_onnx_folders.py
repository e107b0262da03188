"""Folders of node tests, run by ONNX Runtime as a stranger does: every kernel that it has agrees with them."""

from __future__ import annotations

import onnxruntime

from tests.conformance.vectors.test_export import agrees, runnable


def test_onnx_runtime() -> None:
    onnxruntime.set_default_logger_severity(4)
    compared, wrong = 0, []
    for line, model, inputs, right in runnable():
        try:
            given = onnxruntime.InferenceSession(model.read_bytes()).run(None, inputs)[0]
        except Exception:  # What it lacks it refuses, by errors that have no base in common.
            continue
        compared += 1
        if not agrees(given, right):
            wrong.append(line.id)
    assert wrong == []
    assert compared > 100
