"""What the onnx package's own checker says of a file."""

from __future__ import annotations

from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import ModelProto, checker, shape_inference

from vinculum.errors import ModelError
from vinculum.models.onnx.attributes import check_attributes
from vinculum.models.onnx.inference import check_operand_types
from vinculum.models.onnx.utf8 import check_text
from vinculum.text import one_line


def check_file(path: Path, name: str | None = None) -> None:
    """Refuse an ONNX file that `onnx.checker` refuses, full check included.

    Parameters
    ----------
    path : Path
        The file.
    name : str, optional
        What a message calls it; the path if None.

    Raises
    ------
    ModelError
        The line gives the checker's reason, or ours not to ask it.
    """
    shown = name or f"model {str(path)!r}"
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ModelError(f"{shown} has a path that is not UTF-8, which onnx.checker cannot open; rename it") from None
    _check_that_it_can_be_asked(path)
    try:
        checker.check_model(str(path), full_check=True)
    except (checker.ValidationError, shape_inference.InferenceError, RuntimeError, ValueError) as error:
        raise ModelError(f"{shown} fails onnx.checker: {one_line(error)}") from None


def _check_that_it_can_be_asked(path: Path) -> None:
    """Refuse what the checker, which is compiled code, would not survive."""
    try:
        proto = ModelProto.FromString(path.read_bytes())
    except (DecodeError, OSError, MemoryError):
        return  # It says itself what is wrong.
    check_text(proto)
    check_attributes(proto)
    check_operand_types(proto)
