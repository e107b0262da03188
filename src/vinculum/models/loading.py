"""The door of the room: one path in, one model out, whatever the format."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from vinculum.models.model import Model
from vinculum.models.model_file import content_of, is_openvino_ir


def load(path: str | PathLike[str]) -> Model:
    """Return the model in a file: ONNX (``.onnx``) or OpenVINO IR (``.xml``, its ``.bin`` beside it).

    A file with another suffix is taken for what its first byte says.

    Raises
    ------
    ModelError
        If the file cannot be read, is malformed, or holds something that is not supported.
    ElementTypeError, AttributeValueError, BroadcastError
        If a division in it has an element type, an attribute or shapes that its operator version does not allow.
    """
    file = Path(fspath(path))
    content = content_of(file)
    if is_openvino_ir(file, content):
        from vinculum.models.openvino_ir.graph import read_openvino_ir

        return read_openvino_ir(content, file)
    from vinculum.models.onnx.model import read_onnx

    return read_onnx(content, file)
