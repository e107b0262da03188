"""OpenVINO IR as ONNX graphs."""
