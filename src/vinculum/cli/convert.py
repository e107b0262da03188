"""``vinculum convert``: a model in another operator set or format, every division in it meaning what it meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def convert(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="An ONNX file (.onnx) or an OpenVINO IR file (.xml).")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write: .onnx, or .xml for OpenVINO IR.")
    ],
    opset: Annotated[
        int | None,
        typer.Option(metavar="N", help="The ONNX operator set to write in; from IR, 21 if left out."),
    ] = None,
    verify: Annotated[
        bool, typer.Option(help="Run both models on edge cases and random inputs and compare every bit.")
    ] = True,
    machine: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write a model in another operator set or format, with every division in it meaning what it meant."""
    # What imports the onnx package is imported when a model is converted, not for a page of help.
    from vinculum.models.convert import convert_file
    from vinculum.reporting.convert_page import as_json, page
    from vinculum.reporting.progress import progress

    with progress("Converting and comparing", 0) as advance:
        conversion = convert_file(
            model,
            output,
            opset=opset,
            check=verify,
            advance=lambda done: advance(done, f"{done:,} sets of inputs compared"),
        )
    if machine:
        print(json.dumps(as_json(conversion, model, output), indent=2, allow_nan=False))
    else:
        Console(highlight=False).print(page(conversion, model, output))
