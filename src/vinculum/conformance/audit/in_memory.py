"""Audits from Python, with the same results as ``vinculum audit``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vinculum.conformance.audit.audit import Auditor
from vinculum.conformance.audit.record import Audit
from vinculum.models.onnx.file import write_model
from vinculum.models.rewritten import target_file
from vinculum.models.sampling.drawn_inputs import dimension_sizes, drawn_inputs
from vinculum.models.sampling.input_sets import edge_sets
from vinculum.models.source import any_source
from vinculum.sandbox import Limits
from vinculum.tensors.storage import as_operand
from vinculum.text import quoted

if TYPE_CHECKING:
    from onnx import ModelProto

MEMORY = 32 << 30
"""Bytes; as models may be large, the limit only stops processes that grow without end."""


def audit(
    model: str | PathLike[str] | ModelProto,
    *,
    backend: str,
    inputs: Mapping[str, Any] | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    sets: int = 12,
    expand: bool = False,
    limit: float = 300.0,
) -> Audit:
    """Run a model in another runtime, on inputs and on edge cases, and compare each quotient with the exact one.

    Parameters
    ----------
    model : path or ModelProto
        An ONNX file, for OpenVINO an IR, or an ONNX model in memory.
    backend : str
        The runtime: ``"onnxruntime"``, ``"openvino"``, ``"openvino[device=GPU]"``, ``"package.module:attribute"``.
    inputs : Mapping of str to array, optional
        The inputs by name; those left out are drawn.
    seed : int
        The seed of the edge cases and of the drawn inputs.
    dims : Mapping of str to int, optional
        The sizes of symbolic dimensions; about 1,000 if left out.
    sets : int
        How many sets of edge cases to run besides, each once.
    expand : bool
        Whether nodes that divide inside are replaced by their ONNX function bodies, which are audited.
    limit : float
        Seconds that each run on the inputs may take.

    Returns
    -------
    Audit
        ``.nodes``, what each division gave; ``.finds``, whether a quotient is wrong or a run failed or crashed.

    Raises
    ------
    SpecLookupError, AttributeValueError
        If there is no such runtime or option, or it cannot run models.
    ModelError, ElementTypeError, BroadcastError
        If its package is not installed, the model cannot be audited, or the inputs are not the model's.
    """
    if not isinstance(model, str | PathLike):
        with target_file("onnx") as file:
            write_model(any_source(model).complete(), file)
            found = audit(
                file, backend=backend, inputs=inputs, seed=seed, dims=dims, sets=sets, expand=expand, limit=limit
            )
        return replace(found, model="(in memory)")
    auditor = Auditor(Path(model), backend, Limits(seconds=limit, memory=MEMORY), expand=expand)
    declared = auditor.subject.inputs
    arrays = {name: as_operand(array, f"input {quoted(name)}") for name, array in (inputs or {}).items()}
    options = [f"{name}={size}" for name, size in (dims or {}).items()]
    drawn = drawn_inputs(declared, arrays, seed, dimension_sizes(options, declared, arrays), large=True)
    edges = edge_sets(declared, dimension_sizes(options, declared, {}), seed)
    return auditor.audit(arrays | {name: one.array for name, one in drawn.items()}, islice(edges, sets))
