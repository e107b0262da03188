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
        int | None, typer.Option(min=0, metavar="N", help="Draw the inputs that no file gives from this seed.")
    ] = None,
    dims: Annotated[
        list[str] | None,
        typer.Option("--dim", metavar="NAME=SIZE", help="The size of a symbolic dimension; 1 if left out."),
    ] = None,
    engine: Annotated[
        Literal["both", "reference", "onnxruntime"],
        typer.Option(help="What runs it: our engine, ONNX Runtime with its inner values as outputs, or both."),
    ] = "both",
    in_json: OneObject = False,
) -> None:
    """Tell which node of a run makes the first NaN, infinity or zero divisor, at which index, and what it was given.

    Exit codes: 0 if none does; 1 if one does, or an engine dies; 2 if the model or the inputs cannot be run.
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
