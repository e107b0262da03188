"""``vinculum convert``: convert a model to another operator set or format without changing its divisions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vinculum.cli.options import ENGINES, Engine, OneObject, OnnxFile, OwnInputs, tell, value


def convert(
    model: OnnxFile,
    output: Annotated[Path, value("FILE", "The file to write: .onnx, or .xml for OpenVINO IR.", "--output", "-o")],
    opset: Annotated[int | None, value("N", "The target ONNX operator set.")] = None,
    ir_version: Annotated[
        int | None, value("N", "The version of ONNX's file format, for runtimes that need an older one.")
    ] = None,
    inputs: OwnInputs = None,
    engine: Annotated[
        Engine | None,
        value(
            "ENGINE",
            f"What runs everything but the divisions: {ENGINES}. Default: reference, or openvino to write an IR.",
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option(help="Run both models on edge cases and random inputs and compare every bit.")
    ] = True,
    in_json: OneObject = False,
) -> None:
    """Convert a model to another operator set or format, keeping the result of every division."""
    # Modules that import the onnx package are imported here, so that --help does not wait for them.
    from vinculum.cli.inputs import model_inputs
    from vinculum.cli.outputs import check_files
    from vinculum.models.convert import convert_file
    from vinculum.models.source import read_source
    from vinculum.reporting.models.rewriting import conversion_as_json, conversion_page
    from vinculum.reporting.progress import progress

    check_files({"-o": output}, {})
    source = read_source(model)
    given = [model_inputs(source.model().inputs, inputs, 0).arrays] if inputs else []
    with progress("Converting and comparing", 0) as advance:
        conversion = convert_file(
            source,
            output,
            opset=opset,
            ir_version=ir_version,
            check=verify,
            inputs=given,
            engine=engine,
            advance=lambda done: advance(done, f"{done:,} sets of inputs compared"),
        )
    tell(in_json, conversion_as_json, conversion_page, conversion, model, output)
