"""Conversion of ONNX models to another operator set."""
