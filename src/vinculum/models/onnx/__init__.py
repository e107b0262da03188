"""ONNX models: reading, checking, inspecting and rewriting."""
