"""ONNX Runtime as the engine of whole graphs, in which the library of `vinculum.onnxruntime` divides."""
