"""OpenVINO IR: read and run."""
