"""ONNX graphs as OpenVINO IR."""
