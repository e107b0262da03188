"""OpenVINO, for all layers of an IR but its divisions."""

EXACT_ON_OPENVINO = ("from vinculum.openvino import exact_divisions", "exact_divisions(model)")
"""What a user adds before ``compile_model`` where floats deviate on OpenVINO."""
