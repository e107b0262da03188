"""PyTorch's exported programs as ONNX models, by PyTorch's own exporter."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vinculum.errors import ModelError
from vinculum.text import one_line, pip_install

if TYPE_CHECKING:
    from onnx import ModelProto

SUFFIX = ".pt2"
_NEEDED = ("torch", "onnxscript")


def is_exported_program(model: object) -> bool:
    """Tell whether a model is a torch.export.ExportedProgram; PyTorch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.export.ExportedProgram)


def onnx_of_file(path: Path) -> ModelProto:
    """Return the program in a file that torch.export.save has written, as ONNX; ModelError if there is none."""
    what = f"model {str(path)!r}"
    _check_installed(what)
    import torch

    if not path.is_file():
        raise ModelError(f"{what} cannot be read: No such file or directory")
    try:
        with _silence():
            program = torch.export.load(path)
    except Exception as error:  # PyTorch raises errors of many classes.
        raise ModelError(f"{what} is not a program that torch.export.save has written: {one_line(error)}") from None
    return onnx_of_program(program, what)


def onnx_of_program(program: Any, what: str = "the model") -> ModelProto:
    """Return a program as ONNX, with the lines of Python that its nodes come from.

    ModelError if PyTorch's exporter does not know one of its operators, or needs a package that is not installed.
    """
    _check_installed(what)
    import torch

    try:
        with _silence():
            exported = torch.onnx.export(program, dynamo=True, verbose=False)
    except Exception as error:  # PyTorch raises errors of many classes.
        raise ModelError(f"{what} cannot be exported to ONNX: {one_line(error)}") from None
    proto: ModelProto = exported.model_proto
    return proto


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress PyTorch's messages about packages that are not needed, and about errors that it raises anyway."""
    loggers = [logging.getLogger(name) for name in ("torch.export", "torch.onnx")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _check_installed(what: str) -> None:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ModelError(
            f"{what} is a program of PyTorch, and its exporter needs {' and '.join(missing)}; "
            f"install: {pip_install(' '.join(missing))}"
        )
