"""What the onnx package's own checker says of a file."""

from __future__ import annotations

from pathlib import Path

from onnx import checker, shape_inference

from vinculum.errors import ModelError
from vinculum.models.messages import one_line


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
        The line gives the checker's reason.
    """
    try:
        checker.check_model(str(path), full_check=True)
    except (checker.ValidationError, shape_inference.InferenceError, RuntimeError, ValueError) as error:
        raise ModelError(f"{name or f'model {str(path)!r}'} fails onnx.checker: {one_line(error)}") from None
