"""What the tests of models share."""

from tests.models.conftest import one_line, onnx_file, onnx_model

__all__ = ["one_line", "onnx_file", "onnx_model"]
