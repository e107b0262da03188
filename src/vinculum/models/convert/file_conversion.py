"""From one file to another: read, checked, converted, compared, and only then put in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

from onnx import IR_VERSION, ModelProto, helper
from onnx.defs import onnx_opset_version

from vinculum.errors import AttributeValueError, ModelError
from vinculum.files import atomic_write
from vinculum.models.convert.change import Change
from vinculum.models.convert.opset.conversion import convert_opset
from vinculum.models.convert.verification import Verification, verify
from vinculum.models.model import Engine, Model
from vinculum.models.onnx.checker import check_model
from vinculum.models.onnx.file import complete_model, write_model
from vinculum.models.onnx.scopes import opset_imports
from vinculum.models.source import SourceFile, read_source

ONNX, OPENVINO = "ONNX", "OpenVINO IR"
_FUNCTIONS = 8  # The IR version that brought them.
_FROM_IR = 21
"""The operator set in which OpenVINO IR becomes ONNX unless another is asked for: runtimes from 2024 on load it."""


class Options(TypedDict, total=False):
    """How a model is converted, and what is compared.

    Attributes
    ----------
    opset : int or None
        The operator set of an ONNX target; for an IR source 21 if None.
    ir_version : int or None
        The version of ONNX's file format; if None that of the source, or a later one if something new needs it.
    check : bool
        Whether to run both models on edge cases and random inputs and compare their outputs bit for bit; True if left
        out.
    inputs : sequence of Mapping of str to array
        Sets of inputs of the caller's own, which are compared first.
    engine : {"reference", "onnxruntime", "openvino"}
        What runs both models but for their divisions.
    advance : callable or None
        Called with how many sets of inputs have been compared.
    """

    opset: int | None
    ir_version: int | None
    check: bool
    inputs: Sequence[Mapping[str, Any]]
    engine: Engine
    advance: Callable[[int], None] | None


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


def convert_file(source: Path, target: Path, **options: Unpack[Options]) -> FileConversion:
    """Write a model in another operator set or format, every division meaning what it meant.

    ONNX becomes ONNX of another operator set, or OpenVINO IR; IR becomes ONNX. The suffix of the target decides,
    ``.onnx`` or ``.xml`` (with a ``.bin`` beside it). The files appear whole, or not at all.

    Parameters
    ----------
    source, target : Path
        What to read and what to write.
    **options
        As `Options` says.

    Raises
    ------
    DifferenceError
        If the outputs differ.
    ModelError, AttributeValueError, ElementTypeError, BroadcastError
        If the source is malformed, or what it does is not representable in the target.
    OSError
        If the target cannot be written.
    """
    return convert_source(read_source(source), target, **options)


def convert_source(source: SourceFile, target: Path, **options: Unpack[Options]) -> FileConversion:
    """Write a model that has been read, as `convert_file` does."""
    _check_suffix(target)
    original = source.model()
    source.check_spared([target])  # before the work
    write = _to_openvino if target.suffix.lower() == ".xml" else _to_onnx
    with atomic_write(target) as folder:
        conversion = write(source, folder / target.name, options)
        source.check_spared([target.parent / path.name for path in folder.iterdir()])
        verification = None
        if options.get("check", True):
            # What only OpenVINO runs is compared there: elsewhere sums are rounded in another order.
            foreign = write is _to_openvino and _needs_openvino(source)
            verification = verify(
                original,
                _written(folder / target.name, target),
                inputs=options.get("inputs", ()),
                engine="openvino" if foreign else options.get("engine", "reference"),
                advance=options.get("advance"),
            )
    return FileConversion(*conversion, verification)


def _check_suffix(target: Path) -> None:
    if target.suffix.lower() not in (".onnx", ".xml"):
        raise ModelError(f"-o {str(target)!r} has to end in .onnx, or in .xml for OpenVINO IR")


def _needs_openvino(source: SourceFile) -> bool:
    from vinculum.models.convert.to_openvino.by_openvino import foreign_operators

    return source.onnx is not None and bool(foreign_operators(source.onnx))


def _to_openvino(source: SourceFile, target: Path, options: Options) -> tuple[str, str, tuple[Change, ...]]:
    # Each way is imported when it is gone: an import takes longer than most conversions.
    from vinculum.models.convert.to_openvino.by_openvino import by_openvino, foreign_operators
    from vinculum.models.convert.to_openvino.conversion import to_openvino

    if source.onnx is None:
        raise ModelError(f"model {str(source.path)!r} is OpenVINO IR already; give -o a name that ends in .onnx")
    for name in ("opset", "ir_version"):
        if options.get(name) is not None:
            what = f"--{name.replace('_', '-')} is {options.get(name)}"
            raise AttributeValueError(f"OpenVINO IR has no operator set or IR version of ONNX; {what}, leave it out")
    model = complete_model(source)
    check_model(model, f"model {str(source.path)!r}")
    title = _onnx_title(opset_imports(model).get(""))
    operators = foreign_operators(model)
    if operators:
        return title, OPENVINO, tuple(by_openvino(model, operators, target.parent, target.name))
    files = to_openvino(model)
    target.write_bytes(files.xml)
    target.with_suffix(".bin").write_bytes(files.data)
    return title, OPENVINO, files.changes


def _to_onnx(source: SourceFile, target: Path, options: Options) -> tuple[str, str, tuple[Change, ...]]:
    opset = options.get("opset")
    if source.onnx is None:
        written = _FROM_IR if opset is None else opset
        from vinculum.models.convert.from_openvino.conversion import to_onnx

        conversion, title = to_onnx(source.content, source.path, written), OPENVINO
    else:
        if opset is None:
            raise AttributeValueError(f"give --opset, an operator set from 1 to {onnx_opset_version()}")
        model = source.onnx
        check_model(model, f"model {str(source.path)!r}")
        conversion, title, written = convert_opset(model, opset), _onnx_title(opset_imports(model).get("")), opset
    _set_ir_version(conversion.model, options.get("ir_version"))
    check_model(conversion.model, "the converted model")
    write_model(conversion.model, target)
    return title, _onnx_title(written), conversion.changes


def _set_ir_version(model: ModelProto, version: int | None) -> None:
    if version is None:
        return
    needed = helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True)
    needed = max(needed, _FUNCTIONS if model.functions else 0)
    if not needed <= version <= IR_VERSION:
        raise AttributeValueError(
            f"the converted model cannot have IR version {version}; allowed: {needed}, which its operator sets need, "
            f"to {IR_VERSION}"
        )
    model.ir_version = version


def _onnx_title(opset: int | None) -> str:
    return ONNX if opset is None else f"{ONNX} operator set {opset}"


def _written(path: Path, target: Path) -> Model:
    try:
        return read_source(path).model(use_up=True)
    except ModelError as error:
        raise ModelError(str(error).replace(str(path), str(target))) from None
