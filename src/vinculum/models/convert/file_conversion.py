"""From one file to another: read, checked, converted, compared, and only then put in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from onnx.defs import onnx_opset_version

from vinculum.errors import AttributeValueError, ModelError
from vinculum.files import staged
from vinculum.models.convert.change import Change
from vinculum.models.convert.from_openvino.conversion import to_onnx
from vinculum.models.convert.opset.conversion import convert_opset
from vinculum.models.convert.to_openvino.conversion import to_openvino
from vinculum.models.convert.verification import Verification, verify
from vinculum.models.model import Model
from vinculum.models.onnx.checker import check_model
from vinculum.models.onnx.file import anchored_model, complete_model, write_model
from vinculum.models.onnx.scopes import opset_imports
from vinculum.models.source import SourceFile, read_source

ONNX, OPENVINO = "ONNX", "OpenVINO IR"
_FROM_IR = 21
"""The operator set in which IR is written as ONNX unless another is asked for: runtimes from 2024 on load it."""


@dataclass(frozen=True)
class FileConversion:
    """What was made of a file.

    Attributes
    ----------
    source, target : str
        What the model was and what it is: ``"ONNX operator set 13"``, ``"OpenVINO IR"``.
    changes : tuple of Change
        Every node that is not what it was.
    verification : Verification or None
        What was compared; None if that was not wanted.
    """

    source: str
    target: str
    changes: tuple[Change, ...]
    verification: Verification | None


def convert_file(
    source: Path,
    target: Path,
    *,
    opset: int | None = None,
    check: bool = True,
    advance: Callable[[int], None] | None = None,
) -> FileConversion:
    """Write a model in another operator set or format, every division meaning what it meant.

    ONNX becomes ONNX of another operator set, or OpenVINO IR; IR becomes ONNX. The suffix of the target decides,
    ``.onnx`` or ``.xml`` (with a ``.bin`` beside it). The files appear whole, or not at all.

    Parameters
    ----------
    source, target : Path
        What to read and what to write.
    opset : int, optional
        The operator set of an ONNX target; for an IR source 21 if None.
    check : bool
        Whether to run both models on edge cases and random inputs and compare their outputs bit for bit.
    advance : callable, optional
        Called with how many sets of inputs have been compared.

    Raises
    ------
    DifferenceError
        If the outputs differ.
    ModelError, AttributeValueError, ElementTypeError, BroadcastError
        If the source is malformed, or the target cannot say what it does.
    OSError
        If the target cannot be written.
    """
    suffix = _known_suffix(target)
    read = read_source(source)
    original = read.model()
    read.check_spared([target])  # before the work
    write = _to_openvino if suffix == ".xml" else _to_onnx
    with staged(target) as folder:
        conversion = write(read, folder / target.name, opset)
        read.check_spared([target.parent / path.name for path in folder.iterdir()])
        converted = _written(folder / target.name, target) if check else None
        verification = None if converted is None else verify(original, converted, advance=advance)
    return FileConversion(*conversion, verification)


def _known_suffix(target: Path) -> str:
    suffix = target.suffix.lower()
    if suffix not in (".onnx", ".xml"):
        raise ModelError(f"-o {str(target)!r} has to end in .onnx, or in .xml for OpenVINO IR")
    return suffix


def _to_openvino(source: SourceFile, target: Path, opset: int | None) -> tuple[str, str, tuple[Change, ...]]:
    if source.onnx is None:
        raise ModelError(f"model {str(source.path)!r} is OpenVINO IR already; give -o a name that ends in .onnx")
    if opset is not None:
        raise AttributeValueError(f"OpenVINO IR has no operator set, and --opset is {opset}; leave it out")
    model = complete_model(source)
    check_model(model, f"model {str(source.path)!r}")
    files = to_openvino(model)
    target.write_bytes(files.xml)
    target.with_suffix(".bin").write_bytes(files.data)
    return _onnx_title(opset_imports(model).get("")), OPENVINO, files.changes


def _to_onnx(source: SourceFile, target: Path, opset: int | None) -> tuple[str, str, tuple[Change, ...]]:
    if source.onnx is None:
        written = _FROM_IR if opset is None else opset
        conversion, title = to_onnx(source.content, source.path, written), OPENVINO
    else:
        if opset is None:
            raise AttributeValueError(f"give --opset, an operator set from 1 to {onnx_opset_version()}")
        model = anchored_model(source)
        check_model(model, f"model {str(source.path)!r}")
        conversion, title, written = convert_opset(model, opset), _onnx_title(opset_imports(model).get("")), opset
    check_model(conversion.model, "the converted model")
    write_model(conversion.model, target)
    return title, _onnx_title(written), conversion.changes


def _onnx_title(opset: int | None) -> str:
    return ONNX if opset is None else f"{ONNX} operator set {opset}"


def _written(path: Path, target: Path) -> Model:
    try:
        return read_source(path).model()
    except ModelError as error:
        raise ModelError(str(error).replace(str(path), str(target))) from None
