"""ONNX models in another operator set."""
