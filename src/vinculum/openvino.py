"""OpenVINO's own divisions, made exact."""

from vinculum.models.engines.openvino.exact_divisions import (
    ExactDivision,
    ExactDivisions,
    InexactDivision,
    exact_divisions,
)

__all__ = ["ExactDivision", "ExactDivisions", "InexactDivision", "exact_divisions"]
