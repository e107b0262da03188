"""What the tests of models share."""

from tests.models.conftest import onnx_file

__all__ = ["onnx_file"]
