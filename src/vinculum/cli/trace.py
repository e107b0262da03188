"""``vinculum trace``: which node of a run makes the first NaN, infinity or zero divisor, and why."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from vinculum.cli.options import Inputs, ModelFile, OneObject
from vinculum.reporting.console import console

_FINDING = 1


def trace(
    model: ModelFile,
    inputs: Inputs = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Draw the inputs without a file at random, from this seed.")
    ] = None,
    dims: Annotated[
        list[str] | None,
        typer.Option("--dim", metavar="NAME=SIZE", help="The size of a symbolic dimension. Default: 1."),
    ] = None,
    engine: Annotated[
        Literal["both", "reference", "onnxruntime"],
        typer.Option(help="The engine: Vinculum's, ONNX Runtime with its inner values as outputs, or both."),
    ] = "both",
    in_json: OneObject = False,
) -> None:
    """Find the node that makes the first NaN, infinity or zero divisor of a run, with index and operands.

    Exit codes: 0 if there is none; 1 if there is one, or an engine crashes; 2 if the model or the inputs cannot be run.
    """
    # What imports the onnx package is imported when a model is traced, not for a page of help.
    from vinculum.analysis.tracing.trace import ENGINES
    from vinculum.analysis.tracing.trace import trace as traced
    from vinculum.cli.model_inputs import model_inputs
    from vinculum.models.source import read_source
    from vinculum.reporting.check.trace import Traced, as_json, page
    from vinculum.reporting.progress import progress

    given = model_inputs(read_source(model).model(use_up=True).inputs, inputs or (), seed, dims or ())
    engines = ENGINES if engine == "both" else (engine,)
    with progress("Tracing", 0):
        report = traced(model, given.arrays, engines=engines)
    whole = Traced(str(model), given.reports(), seed if given.drawn else None, report)
    if in_json:
        print(json.dumps(as_json(whole), indent=2, allow_nan=False))
    else:
        console().print(page(whole))
    if report.finds:
        raise typer.Exit(_FINDING)
