"""The reference evaluator of the onnx package, with Vinculum's divisions and repairs."""
