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
from vinculum.models.loading import load
from vinculum.models.model import Model
from vinculum.models.model_file import content_of, is_openvino_ir
from vinculum.models.onnx.checker import check_file
from vinculum.models.onnx.file import read_whole, write_whole
from vinculum.models.onnx.scopes import opset_imports
from vinculum.models.source_files import check_spared

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
    ir = is_openvino_ir(source, content_of(source))
    original = load(source)
    if not ir:
        check_file(source)
    write = _to_openvino if suffix == ".xml" else _to_onnx
    with staged(target) as folder:
        conversion = write(source, folder / target.name, ir, opset)
        check_spared(source, ir, [target.parent / path.name for path in folder.iterdir()])
        converted = _written(folder / target.name, target) if check else None
        verification = None if converted is None else verify(original, converted, advance=advance)
    return FileConversion(*conversion, verification)


def _known_suffix(target: Path) -> str:
    suffix = target.suffix.lower()
    if suffix not in (".onnx", ".xml"):
        raise ModelError(f"-o {str(target)!r} has to end in .onnx, or in .xml for OpenVINO IR")
    return suffix


def _to_openvino(source: Path, target: Path, ir: bool, opset: int | None) -> tuple[str, str, tuple[Change, ...]]:
    if ir:
        raise ModelError(f"model {str(source)!r} is OpenVINO IR already; give -o a name that ends in .onnx")
    if opset is not None:
        raise AttributeValueError(f"OpenVINO IR has no operator set, and --opset is {opset}; leave it out")
    model = read_whole(source)
    files = to_openvino(model)
    target.write_bytes(files.xml)
    target.with_suffix(".bin").write_bytes(files.data)
    return _onnx_title(opset_imports(model).get("")), OPENVINO, files.changes


def _to_onnx(source: Path, target: Path, ir: bool, opset: int | None) -> tuple[str, str, tuple[Change, ...]]:
    if ir:
        written = _FROM_IR if opset is None else opset
        translated = to_onnx(content_of(source), source, written)
        title, model, changes = OPENVINO, translated.model, translated.changes
    else:
        if opset is None:
            raise AttributeValueError(f"give --opset, an operator set from 1 to {onnx_opset_version()}")
        whole = read_whole(source)
        converted = convert_opset(whole, opset)
        title, model, changes = _onnx_title(opset_imports(whole).get("")), converted.model, converted.changes
        written = opset
    write_whole(model, target)
    check_file(target, "the converted model")
    return title, _onnx_title(written), changes


def _onnx_title(opset: int | None) -> str:
    return ONNX if opset is None else f"{ONNX} operator set {opset}"


def _written(path: Path, target: Path) -> Model:
    try:
        return load(path)
    except ModelError as error:
        raise ModelError(str(error).replace(str(path), str(target))) from None
