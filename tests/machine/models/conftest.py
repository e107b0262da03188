"""What the tests of models share."""

from tests.models.conftest import ir_file, one_line, onnx_file, onnx_model

__all__ = ["ir_file", "one_line", "onnx_file", "onnx_model"]
