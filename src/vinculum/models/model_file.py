"""The bytes of a model's file, and which format they are in."""

from __future__ import annotations

from pathlib import Path

from vinculum.errors import ModelError
from vinculum.models.onnx.external_data import regular_size
from vinculum.text import one_line


def content_of(file: Path) -> bytes:
    """Return what is in a model's file.

    Raises
    ------
    ModelError
        If it cannot be read, or is empty.
    """
    where = repr(str(file))
    try:
        size = regular_size(file)
        content = file.read_bytes()
    except (OSError, ValueError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        raise ModelError(f"model {where} cannot be read: {reason}") from None
    if size == 0:
        raise ModelError(f"model {where} is empty; give an ONNX file or an OpenVINO IR file (.xml)")
    return content


def is_openvino_ir(file: Path, content: bytes) -> bool:
    """Whether a file is an OpenVINO IR: by its suffix, or by its first byte where the suffix tells nothing."""
    suffix = file.suffix.lower()
    if suffix in (".onnx", ".xml"):
        return suffix == ".xml"
    return content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"
