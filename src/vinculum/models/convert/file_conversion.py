"""Conversion of a file: read, check, convert, compare, and only then write the target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onnx import IR_VERSION, ModelProto, helper
from onnx.defs import onnx_opset_version

from vinculum.errors import AttributeValueError, ModelError
from vinculum.models.convert.opset.adaptation import Change, OnnxConversion
from vinculum.models.convert.opset.conversion import FIRST_TARGET, convert_opset
from vinculum.models.convert.verification import Verification, verify
from vinculum.models.model import Engine
from vinculum.models.onnx.checks import check_model
from vinculum.models.onnx.file import write_model
from vinculum.models.onnx.functions import inlined
from vinculum.models.onnx.rewriter import FUNCTIONS
from vinculum.models.onnx.scopes import opset_imports
from vinculum.models.source import SourceFile, read_source
from vinculum.shown import Shown

ONNX, OPENVINO = "ONNX", "OpenVINO IR"


@dataclass(frozen=True)
class FileConversion(Shown):
    """The result of converting a file.

    Attributes
    ----------
    source, target : str
        The formats before and after: ``"ONNX operator set 13"``, ``"OpenVINO IR"``.
    changes : tuple of Change
        Every node that was rewritten.
    verification : Verification or None
        What was compared; None if no check was requested.
    """

    source: str
    target: str
    changes: tuple[Change, ...]
    verification: Verification | None = None


def convert_file(
    source: Path | SourceFile,
    target: Path,
    *,
    opset: int | None = None,
    ir_version: int | None = None,
    check: bool = True,
    inputs: Sequence[Mapping[str, Any]] = (),
    engine: Engine | None = None,
    advance: Callable[[int], None] | None = None,
) -> FileConversion:
    """Write a model in another operator set or format, with every division preserved.

    ONNX becomes ONNX of another operator set, or OpenVINO IR, which OpenVINO writes. The suffix of the target decides,
    ``.onnx`` or ``.xml`` (with a ``.bin`` beside it). The files are written completely, or not at all.

    - `source`: the file, or its content if it has been read already; ONNX.
    - `ir_version`: the version of ONNX's file format; if None that of the source, or a later one if the target needs
      it.
    - `check`: whether to run both models on edge cases and random inputs and compare their outputs bit for bit.
    - `inputs`: the caller's own sets of inputs, which are compared first.
    - `engine`: what runs everything except the divisions in both models; the reference if None. For an IR it is
      OpenVINO: other engines round sums in another order.
    - `advance`: called with the number of input sets compared so far.

    DifferenceError if the outputs differ. OSError if the target cannot be written. Another VinculumError if the source
    is malformed or not representable in the target.
    """
    if target.suffix.lower() not in (".onnx", ".xml"):
        raise ModelError(f"-o {str(target)!r} has to end in .onnx, or in .xml for OpenVINO IR")
    source = source if isinstance(source, SourceFile) else read_source(source)
    proto = source.proto("converted")
    to_ir = target.suffix.lower() == ".xml"
    if to_ir and check and engine not in (None, "openvino"):
        raise AttributeValueError(f"engine is {engine!r}, and an IR is run by OpenVINO; omit --engine")
    with source.writing(target) as path:
        original = source.model()
        if to_ir:
            conversion = _to_openvino(source, path, {"opset": opset, "ir-version": ir_version})
        else:
            conversion = _to_onnx(proto, source.path, path, opset, ir_version)
        if check:
            engine = "openvino" if to_ir else engine or "reference"
            try:
                written = read_source(path).model(use_up=True)
            except ModelError as error:
                raise ModelError(str(error).replace(str(path), str(target))) from None
            found = verify(original, written, inputs=inputs, engine=engine, advance=advance)
            conversion = replace(conversion, verification=found)
    return conversion


def _to_openvino(source: SourceFile, target: Path, of_onnx: Mapping[str, int | None]) -> FileConversion:
    for name, value in of_onnx.items():
        if value is not None:
            what = f"--{name} is {value}"
            raise AttributeValueError(f"OpenVINO IR has no operator set or IR version of ONNX; {what}, omit it")
    model = source.complete()
    check_model(model, f"model {str(source.path)!r}")
    # Imported only when it is used: the import takes longer than most conversions.
    from vinculum.models.engines.openvino.programs import write_ir

    changes = (Change(name, 'm_pythondiv="false"', "ONNX truncates") for name in write_ir(model, target))
    return FileConversion(_onnx_title(opset_imports(model).get("")), OPENVINO, tuple(changes))


def _to_onnx(model: ModelProto, path: Path, target: Path, opset: int | None, ir_version: int | None) -> FileConversion:
    if opset is None:
        raise AttributeValueError(f"give --opset, an operator set from {FIRST_TARGET} to {onnx_opset_version()}")
    own = f"model {str(path)!r}"
    check_model(model, own)
    conversion = _converted(model, opset)
    _set_ir_version(conversion.model, ir_version)
    check_model(conversion.model, "the converted model", declared_in=own)  # Its outputs are declared as before.
    write_model(conversion.model, target)
    return FileConversion(_onnx_title(opset_imports(model).get("")), _onnx_title(opset), conversion.changes)


def _converted(model: ModelProto, opset: int) -> OnnxConversion:
    """Return a model in another operator set, its functions inlined where calls of several types demand it."""
    try:
        return convert_opset(model, opset)
    except ModelError:
        if not model.functions:
            raise
        with suppress(ModelError):  # The first error is about the model as it is.
            conversion = convert_opset(inlined(model), opset)
            change = Change("the functions", "inlined", "as they are they cannot be converted")
            return OnnxConversion(conversion.model, (change, *conversion.changes))
        raise


def _set_ir_version(model: ModelProto, version: int | None) -> None:
    if version is None:
        return
    needed = helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True)
    needed = max(needed, FUNCTIONS if model.functions else 0)
    if not needed <= version <= IR_VERSION:
        raise AttributeValueError(
            f"the converted model cannot have IR version {version}; allowed: {needed}, which its operator sets need, "
            f"to {IR_VERSION}"
        )
    model.ir_version = version


def _onnx_title(opset: int | None) -> str:
    return ONNX if opset is None else f"{ONNX} operator set {opset}"
