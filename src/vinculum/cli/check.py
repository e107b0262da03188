"""``vinculum check``: what can go wrong where a model divides, found without running it."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vinculum.cli.options import ModelFile, OneObject
from vinculum.reporting.console import console

_FINDING = 1


class FailOn(StrEnum):
    """From which severity on findings fail the command."""

    CERTAIN = "certain"
    POSSIBLE = "possible"


def check(
    model: ModelFile,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW:HIGH",
            help="What an input or a named dimension keeps: LOW:HIGH, 0|1, or NAME>=LOW. Once for each.",
        ),
    ] = None,
    as_type: Annotated[
        str | None,
        typer.Option("--as", metavar="TYPE", help="Check a float32 model as if it were float16 or bfloat16."),
    ] = None,
    calibrate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.npz", help="Inputs as they are, from which ranges are taken, and half as much again."
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="What the target demands or does: sonnx, flushing, narrowing."),
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="The severity from which on findings fail the command.")
    ] = FailOn.POSSIBLE,
    in_json: OneObject = False,
) -> None:
    """Find divisors that can be zero and other hazards of division, without running the model.

    Exit code 1: there are findings of the severity that --fail-on names, or surer ones.
    """
    # What imports the onnx package is imported when a model is checked, not for a page of help.
    from vinculum.analysis import check as checked
    from vinculum.cli.input_files import read_arrays
    from vinculum.reporting.models.check import as_json, page

    arrays = None if calibrate is None else read_arrays(calibrate)
    report = checked(model, assume=assume or (), calibrate=arrays, as_type=as_type, profile=profile or ())
    if in_json:
        print(json.dumps(as_json(report, str(model), list(arrays or ())), indent=2, allow_nan=False))
    else:
        console().print(page(report, str(model), list(arrays or ())))
    if report.at_least(fail_on.value):
        raise typer.Exit(_FINDING)
