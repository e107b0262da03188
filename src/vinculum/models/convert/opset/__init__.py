"""ONNX models said in another operator set."""
