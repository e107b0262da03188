"""An operation as a program: an ONNX model, an OpenVINO IR, and source that anyone can run."""
