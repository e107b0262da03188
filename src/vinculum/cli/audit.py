"""``vinculum audit``: a model in a foreign runtime, each of its divisions held against the exact quotient."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from vinculum.reporting.console import console

_FINDING = 1
_MEMORY = 32 << 30  # Bytes; a model may be large, and what stands here only ends one that never stops growing.


def audit(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="An ONNX file (.onnx) or an OpenVINO IR file (.xml).")],
    backend: Annotated[
        str,
        typer.Option(metavar="NAME[KEY=VALUE,...]", help="The runtime: onnxruntime or openvino, perhaps with options."),
    ],
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=FILE",
            help="An input: .npy, .npz (NAME=FILE.npz:MEMBER), or .pb, an ONNX TensorProto. Once for each.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Draw the inputs that no file gives from this seed.")
    ] = None,
    dims: Annotated[
        list[str] | None,
        typer.Option("--dim", metavar="NAME=SIZE", help="The size of a symbolic dimension; 1 if left out."),
    ] = None,
    limit: Annotated[
        float,
        typer.Option(
            "--limit",
            min=0.1,
            metavar="SECONDS",
            help="What each of the two runs may take.",
        ),
    ] = 300.0,
    machine: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run a model in another runtime and tell of each division whether its quotients are exact.

    Exit code 1: a quotient is not right, or a run did not return.
    """
    # What imports the onnx package is imported when a model is audited, not for a page of help.
    from vinculum.cli.model_inputs import model_inputs
    from vinculum.conformance.audit.audit import Auditor
    from vinculum.reporting.audit_page import as_json, page
    from vinculum.reporting.progress import progress
    from vinculum.sandbox import Limits

    auditor = Auditor(model, backend, Limits(seconds=limit, memory=_MEMORY))
    given = model_inputs(auditor.subject.inputs, inputs or (), seed, dims or ())
    with progress("Auditing", 0):
        found = auditor.audit(given.arrays)
    drawn_from = seed if given.drawn else None
    if machine:
        print(json.dumps(as_json(found, given.reports(), drawn_from), indent=2, allow_nan=False))
    else:
        console().print(page(found, given.reports(), drawn_from))
    if found.finds:
        raise typer.Exit(_FINDING)
