"""From one file to another: read, checked, hardened, validated, and only then put in its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from onnx import ModelProto

from vinculum.errors import ModelError
from vinculum.files import staged
from vinculum.models.harden.decision import Hardening, Runtime
from vinculum.models.harden.hardening import harden
from vinculum.models.harden.validation import Advance, Validation, validate
from vinculum.models.model import Model
from vinculum.models.model_file import content_of, is_openvino_ir
from vinculum.models.onnx.checker import check_file
from vinculum.models.onnx.file import read_whole, write_whole
from vinculum.models.onnx.model import model_of
from vinculum.models.source_files import check_spared
from vinculum.ops.policies import Overflow, ZeroDivisor


@dataclass(frozen=True, eq=False)
class HardenedFile:
    """What was made of a file.

    Attributes
    ----------
    hardening : Hardening
        What was decided.
    validation : Validation or None
        What was run; None if nothing was rewritten, or only a plan was asked for.
    """

    hardening: Hardening
    validation: Validation | None


def harden_file(
    source: Path,
    target: Path | None,
    runtime: Runtime,
    *,
    zero_divisor: ZeroDivisor = "zero",
    overflow: Overflow = "wrap",
    functions: bool | None = None,
    fix_exported: bool = False,
    advance: Advance | None = None,
) -> HardenedFile:
    """Write a model that is hardened for a runtime, each rewrite validated there; or nothing at all.

    Parameters
    ----------
    source : Path
        An ONNX file.
    target : Path or None
        Where to write, not over the source or its data; None to plan only, which needs no runtime.
    runtime, zero_divisor, overflow, functions, fix_exported
        As `vinculum.models.harden.harden` takes them.
    advance : callable, optional
        Called with how many models of rewrites have been run, and how many there are.

    Raises
    ------
    DifferenceError
        If the validation fails.
    ModelError, AttributeValueError, ElementTypeError, BroadcastError
        If the source is malformed or cannot be hardened, or the runtime is not installed or does not take it.
    OSError
        If the target cannot be written.
    """
    if target is not None and target.suffix.lower() == ".xml":
        raise ModelError(f"-o {str(target)!r}: a hardened model is an ONNX file; give a name that ends in .onnx")
    if is_openvino_ir(source, content_of(source)):
        raise ModelError(
            f"model {str(source)!r} is OpenVINO IR; convert it first: vinculum convert MODEL.xml -o MODEL.onnx"
        )
    if target is not None:
        check_spared(source, ir=False, places=[target])  # before the work
    check_file(source)
    proto = read_whole(source)
    original = _loaded(proto, source)
    hardening = harden(
        proto, runtime, zero_divisor=zero_divisor, overflow=overflow, functions=functions, fix_exported=fix_exported
    )
    if target is None:
        return HardenedFile(hardening, None)
    with staged(target) as folder:
        staging = folder / target.name
        write_whole(hardening.model, staging)
        check_spared(source, ir=False, places=[target.parent / path.name for path in folder.iterdir()])
        check_file(staging, "the hardened model")
        validation = validate(hardening, original, staging, advance)
    return HardenedFile(hardening, validation)


def _loaded(proto: ModelProto, source: Path) -> Model:
    copy = ModelProto()
    copy.CopyFrom(proto)
    return model_of(copy, source)
