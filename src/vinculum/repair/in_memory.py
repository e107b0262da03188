"""Hardening of models in memory, with the same results as for files."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from vinculum.models.rewritten import Inputs, Rewritten, read_back, sets_of, target_file
from vinculum.models.source import any_source
from vinculum.repair.decision import Runtime
from vinculum.repair.file_hardening import HardenedFile, harden_file

if TYPE_CHECKING:
    from onnx import ModelProto

    from vinculum.ops.policies import Overflow, ZeroDivisor


def harden(
    model: str | PathLike[str] | bytes | ModelProto,
    *,
    target: Runtime,
    inputs: Inputs = None,
    zero_divisor: ZeroDivisor = "zero",
    overflow: Overflow = "wrap",
    fix_exported: bool = False,
) -> Rewritten[HardenedFile]:
    """Return a model whose integer divisions and remainders give correct results on a runtime, and cannot crash it.

    Before it is returned, each rewrite is run in that runtime on edge cases, and the whole model once.

    Parameters
    ----------
    model : path, bytes or ModelProto
        An ONNX file, or an ONNX model in memory, which is not changed.
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
        return Rewritten(read_back(file), report)
