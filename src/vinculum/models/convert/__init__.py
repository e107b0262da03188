"""Models carried to another operator set or another format, each division meaning what it meant."""

from vinculum.models.convert.change import Change
from vinculum.models.convert.file_conversion import FileConversion, convert_file
from vinculum.models.convert.openvino.to_onnx import to_onnx
from vinculum.models.convert.openvino.to_openvino import to_openvino
from vinculum.models.convert.opset.conversion import OpsetConversion, convert_opset
from vinculum.models.convert.verification import Verification, verify

__all__ = [
    "Change",
    "FileConversion",
    "OpsetConversion",
    "Verification",
    "convert_file",
    "convert_opset",
    "to_onnx",
    "to_openvino",
    "verify",
]
