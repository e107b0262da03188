"""Conversion from OpenVINO IR to ONNX."""
