"""Between ONNX and OpenVINO IR."""
