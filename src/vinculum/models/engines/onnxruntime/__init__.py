"""ONNX Runtime as the engine for the parts of a graph between divisions."""
