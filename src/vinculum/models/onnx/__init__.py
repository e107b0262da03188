"""ONNX models: read, checked, looked through and written anew."""
