"""OpenVINO as the engine for all layers of an IR except its divisions."""

EXACT_ON_OPENVINO = ("from vinculum.openvino import exact_divisions", "exact_divisions(model)")
"""The lines that a user adds before ``compile_model`` where floats deviate on OpenVINO."""
