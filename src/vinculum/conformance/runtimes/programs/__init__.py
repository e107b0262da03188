"""An operation as an ONNX model, as an OpenVINO IR, and as a stand-alone Python program."""
