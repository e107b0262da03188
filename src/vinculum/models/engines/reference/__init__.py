"""The reference evaluator of the onnx package, with our divisions and repairs."""
