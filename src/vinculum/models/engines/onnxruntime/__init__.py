"""ONNX Runtime, for what lies between divisions."""
