"""From one file to another: read, checked, hardened, proven, and only then put in its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vinculum.errors import ModelError
from vinculum.files import staged
from vinculum.models.harden.decision import Hardening, Runtime
from vinculum.models.harden.hardening import harden
from vinculum.models.harden.proof import Advance, Proof, prove
from vinculum.models.harden.whole_model import check_whole
from vinculum.models.onnx.checker import check_model
from vinculum.models.onnx.file import anchored_model, check_no_training, write_model
from vinculum.models.source import read_source
from vinculum.ops.policies import Overflow, ZeroDivisor


@dataclass(frozen=True, eq=False)
class HardenedFile:
    """What was made of a file.

    Attributes
    ----------
    hardening : Hardening
        What was decided.
    proof : Proof or None
        What was run; None if only a plan was asked for.
    """

    hardening: Hardening
    proof: Proof | None


def harden_file(
    source: Path,
    target: Path | None,
    runtime: Runtime,
    *,
    zero_divisor: ZeroDivisor = "zero",
    overflow: Overflow = "wrap",
    advance: Advance | None = None,
) -> HardenedFile:
    """Write a model that is hardened for a runtime, each rewrite proven there; or nothing at all.

    Parameters
    ----------
    source : Path
        An ONNX file.
    target : Path or None
        Where to write, not over the source or its data; None to plan only, which needs no runtime.
    runtime, zero_divisor, overflow
        As `vinculum.models.harden.harden` takes them.
    advance : callable, optional
        Called with how many models of the proof have been run, and how many there are.

    Raises
    ------
    DifferenceError
        If the proof fails.
    ModelError, AttributeValueError, ElementTypeError, BroadcastError
        If the source is malformed or cannot be hardened, or the runtime is not installed.
    OSError
        If the target cannot be written.
    """
    if target is not None and target.suffix.lower() == ".xml":
        raise ModelError(f"-o {str(target)!r}: a hardened model is an ONNX file; give a name that ends in .onnx")
    read = read_source(source)
    if read.onnx is None:
        raise ModelError(
            f"model {str(source)!r} is OpenVINO IR; convert it first: vinculum convert MODEL.xml -o MODEL.onnx"
        )
    if target is not None:
        read.check_spared([target])  # before the work
    check_no_training(read.onnx)
    original = read.model()
    proto = anchored_model(read)
    check_model(proto, f"model {str(source)!r}")
    hardening = harden(proto, runtime, zero_divisor=zero_divisor, overflow=overflow)
    if target is None:
        return HardenedFile(hardening, None)
    with staged(target) as folder:
        staging = folder / target.name
        check_model(hardening.model, "the hardened model")
        write_model(hardening.model, staging)
        read.check_spared([target.parent / path.name for path in folder.iterdir()])
        proof = prove(hardening, advance)
        for witness in proof.runtimes:
            check_whole(original, hardening, staging, witness)
    return HardenedFile(hardening, proof)
