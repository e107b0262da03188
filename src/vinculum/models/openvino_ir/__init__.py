"""OpenVINO IR: reading and running."""
