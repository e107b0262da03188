"""Hardening of a file or of a model in memory: the target is written only after the validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from vinculum.arguments import checked_arguments
from vinculum.errors import ModelError
from vinculum.models.onnx.checks import check_model
from vinculum.models.onnx.file import write_model
from vinculum.models.rewritten import Inputs, Rewritten, sets_of, target_file
from vinculum.models.source import ModelSource, SourceFile, any_source, read_source
from vinculum.repair.decision import Hardening, Options, Runtime
from vinculum.repair.hardening import harden as harden_message
from vinculum.repair.validation import Advance, Validation, validate
from vinculum.shown import Shown

if TYPE_CHECKING:
    from onnx import ModelProto

    from vinculum.ops.policies import Overflow, ZeroDivisor


@dataclass(frozen=True, eq=False)
class HardenedFile(Shown):
    """A hardening and its validation, which is None if nothing was rewritten or only a plan was requested."""

    hardening: Hardening
    validation: Validation | None


def harden_file(
    source: Path | SourceFile,
    target: Path | None,
    runtime: Runtime,
    *,
    inputs: Sequence[Mapping[str, Any]] = (),
    advance: Advance | None = None,
    **options: Unpack[Options],
) -> HardenedFile:
    """Harden a model for a runtime, validate each rewrite on it, and write the model if the validation succeeds.

    - `source`: an ONNX file, or its content.
    - `target`: the file to write, which must not be the source or its data; None to plan only, which needs no runtime.
    - `inputs`: sets of inputs to run the whole model on; if there is none, one is drawn.
    - `advance`: called with the number of rewrites' models that have been run, and their total.
    - `**options`: as `vinculum.repair.harden` takes them.

    DifferenceError if the validation fails. OSError if the target cannot be written. Another VinculumError if the
    source is malformed or cannot be hardened, or the runtime is not installed or refuses the model.
    """
    source = source if isinstance(source, SourceFile) else read_source(source)
    if target is not None and target.suffix.lower() == ".xml":
        raise ModelError(f"-o {str(target)!r}: a hardened model is an ONNX file; give a name that ends in .onnx")
    proto = source.proto("hardened")
    with source.writing(target) if target is not None else nullcontext() as staging:
        original = source.model()
        check_model(proto, f"model {str(source.path)!r}")
        hardening = harden_message(proto, runtime, **options)
        if staging is None:
            return HardenedFile(hardening, None)
        check_model(hardening.model, "the hardened model")
        write_model(hardening.model, staging)
        return HardenedFile(hardening, validate(hardening, original, staging, advance, inputs))


@checked_arguments
def harden(
    model: ModelSource,
    *,
    target: Runtime,
    inputs: Inputs = None,
    zero_divisor: ZeroDivisor = "zero",
    overflow: Overflow = "wrap",
    fix_exported: bool = False,
) -> Rewritten[ModelProto, HardenedFile]:
    """Return a model whose integer divisions and remainders give correct results on a runtime, and cannot crash it.

    Before it is returned, each rewrite is run in that runtime on edge cases, and the whole model once.

    Parameters
    ----------
    model : path, bytes, ModelProto, ExportedProgram or Model
        As `vinculum.check` takes it. It is not changed.
    target : {"onnxruntime", "openvino", "portable"}
        The target runtime.
    inputs : Mapping of str to array, or a sequence of them, optional
        Your own sets of inputs to run the whole model on.
    zero_divisor : {"zero", "saturate"}
        The result of x/0.
    overflow : {"wrap", "saturate"}
        The result of MIN/-1.
    fix_exported : bool
        Whether integer divisions that an exporter wrote as Cast, float Div and Cast become integer divisions again.

    Returns
    -------
    Rewritten
        ``.model``: a ModelProto; ``.report``: the decision about each division with its reason, and the validation;
        ``.report.hardening.left``: the divisions that may still crash the runtime.

    Raises
    ------
    DifferenceError
        If a result differs, or the runtime crashes.
    ModelError, AttributeValueError, ElementTypeError, BroadcastError
        If the model is malformed or cannot be hardened, or the runtime is not installed; the message names the node.
    """
    source = any_source(model)
    with target_file("onnx") as file:
        report = harden_file(
            source,
            file,
            target,
            inputs=sets_of(inputs),
            zero_divisor=zero_divisor,
            overflow=overflow,
            fix_exported=fix_exported,
        )
        return Rewritten(read_source(file).complete(), report)
