"""Hardening of a file: read, check, harden, validate, and only then write the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from vinculum.errors import ModelError
from vinculum.files import atomic_write
from vinculum.models.onnx.checks import check_model
from vinculum.models.onnx.file import write_model
from vinculum.models.source import SourceFile, read_source
from vinculum.repair.decision import Hardening, Options, Runtime
from vinculum.repair.hardening import harden
from vinculum.repair.validation import Advance, Validation, validate
from vinculum.shown import Shown


@dataclass(frozen=True, eq=False)
class HardenedFile(Shown):
    """The result of hardening a file.

    Attributes
    ----------
    hardening : Hardening
        The hardened model and the decisions.
    validation : Validation or None
        What was validated; None if nothing was rewritten, or only a plan was requested.
    """

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
    """Harden a model for a runtime, validate each rewrite there, and write the model if the validation succeeds.

    - `source`: an ONNX file, or its content if it has been read already.
    - `target`: the file to write, which must not be the source or its data; None to plan only, which needs no runtime.
    - `runtime`: the target runtime.
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
    if target is not None:
        source.check_spared([target])  # Early, before the work.
    original = source.model()
    check_model(proto, f"model {str(source.path)!r}")
    hardening = harden(proto, runtime, **options)
    if target is None:
        return HardenedFile(hardening, None)
    with atomic_write(target) as folder:
        staging = folder / target.name
        check_model(hardening.model, "the hardened model")
        write_model(hardening.model, staging)
        source.check_spared([target.parent / path.name for path in folder.iterdir()])
        validation = validate(hardening, original, staging, advance, inputs)
    return HardenedFile(hardening, validation)
