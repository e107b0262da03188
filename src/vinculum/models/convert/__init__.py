"""Conversion of models to another operator set or another format, with every division preserved."""

from vinculum.models.convert.file_conversion import FileConversion, convert_file
from vinculum.models.convert.opset.adaptation import Change, OnnxConversion
from vinculum.models.convert.opset.conversion import convert_opset
from vinculum.models.convert.verification import Verification, verify

__all__ = ["Change", "FileConversion", "OnnxConversion", "Verification", "convert_file", "convert_opset", "verify"]
