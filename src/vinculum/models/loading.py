"""The door of the room: one path in, one model out, whatever the format."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from vinculum.errors import ModelError
from vinculum.models.external_data import regular_size
from vinculum.models.messages import one_line
from vinculum.models.model import Model


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
    where = repr(str(file))
    try:
        size = regular_size(file)
        content = file.read_bytes()
    except (OSError, ValueError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        raise ModelError(f"model {where} cannot be read: {reason}") from None
    if size == 0:
        raise ModelError(f"model {where} is empty; give an ONNX file or an OpenVINO IR file (.xml)")
    if _is_xml(file, content):
        from vinculum.models.openvino_ir import read_openvino_ir

        return read_openvino_ir(content, file)
    from vinculum.models.onnx_model import read_onnx

    return read_onnx(content, file)


def _is_xml(file: Path, content: bytes) -> bool:
    suffix = file.suffix.lower()
    if suffix in (".onnx", ".xml"):
        return suffix == ".xml"
    return content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"
