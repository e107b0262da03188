"""OpenVINO, for all layers of an IR but its divisions."""
