"""SONNX, the safety-related profile of ONNX: Div for reals, floats and integers, and its numeric accuracy."""

from vinculum.ops.sonnx import accuracy, div, error_conditions

__all__ = ["accuracy", "div", "error_conditions"]
