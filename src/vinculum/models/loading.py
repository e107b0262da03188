"""The door of the room: one path in, one model out, whatever the format."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from vinculum.models.model import Model
from vinculum.models.source import read_source


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
    model = read_source(Path(fspath(path))).model()
    model.read_data()
    return model
