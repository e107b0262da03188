"""Conversion from ONNX to OpenVINO IR."""
