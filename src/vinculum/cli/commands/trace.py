"""``vinculum trace``: find the node of a run that makes the first NaN, infinity or zero divisor, and the reason."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from vinculum.cli.options import Dimensions, Inputs, OneObject, OnnxFile, Seed, end, tell


def trace(
    model: OnnxFile,
    inputs: Inputs = None,
    seed: Seed = None,
    dims: Dimensions = None,
    engine: Annotated[
        Literal["both", "reference", "onnxruntime"],
        typer.Option(help="The engine: Vinculum's, ONNX Runtime with its inner values as outputs, or both."),
    ] = "both",
    in_json: OneObject = False,
) -> None:
    """Find the node that makes the first NaN, infinity or zero divisor of a run, with index and operands.

    Exit codes: 0 if there is none; 1 if there is one, or an engine crashes; 2 if the model or the inputs cannot be run.
    """
    # Modules that import the onnx package are imported here, so that --help does not wait for them.
    from vinculum.analysis.tracing.trace import ENGINES
    from vinculum.analysis.tracing.trace import trace as traced
    from vinculum.cli.inputs import model_inputs, sizes_advised
    from vinculum.models.source import read_source
    from vinculum.reporting.check.trace import as_json, page
    from vinculum.reporting.progress import progress

    source = read_source(model)
    given = model_inputs(source.model().inputs, inputs or (), seed, dims or ())
    engines = ENGINES if engine == "both" else (engine,)
    with sizes_advised(given.reports), progress("Tracing", 0):
        report = traced(source, given.arrays, engines=engines)
    tell(in_json, as_json, page, report, given.reports, given.seed)
    end(finds=report.finds)
