"""``vinculum check``: find hazards of the divisions in models, and inputs that trigger them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from vinculum.cli.answers import end, tell
from vinculum.cli.options import OneObject
from vinculum.errors import AttributeValueError, ModelError
from vinculum.reporting.terminal import console
from vinculum.text import quoted

if TYPE_CHECKING:
    from vinculum.analysis.accuracy import Accuracy
    from vinculum.analysis.triage import Suppression, Triage


@dataclass(frozen=True)
class _Files:
    """The files that options name."""

    sarif: Path | None
    suppress: Path | None
    baseline: Path | None
    witness: Path | None


def check(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="ONNX files.")],
    assume: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW:HIGH",
            help="The range of an input or a named dimension: LOW:HIGH, 0|1, or NAME>=LOW. Repeat for each.",
        ),
    ] = None,
    as_type: Annotated[
        Literal["float16", "bfloat16"] | None,
        typer.Option("--as", help="Check a float32 model as if it were converted to this type."),
    ] = None,
    calibrate: Annotated[
        Path | None,
        typer.Option(metavar="FILE.npz", help="Typical inputs, whose ranges are taken and widened by half."),
    ] = None,
    profile: Annotated[
        list[str] | None,  # typer takes no lists of choices
        typer.Option(
            metavar="NAME",
            help="A property of the target. sonnx: SONNX's constraints; flushing: subnormal numbers become 0; "
            "narrowing: integers are narrowed.",
        ),
    ] = None,
    runs: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="The most runs per finding in the search for inputs that show it; 0: no search.",
        ),
    ] = 100,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of that search.")] = 0,
    witness: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write the inputs that show each finding to this folder: an .npz file and a script."
        ),
    ] = None,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a SARIF report to this file.")] = None,
    suppress: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Accepted findings, each with a reason and an expiry date, in TOML."),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Leave out the findings of this earlier report, JSON or SARIF."),
    ] = None,
    fail_on: Annotated[
        Literal["certain", "possible"],
        typer.Option("--fail-on", help="Fail on findings of this severity or a more certain one."),
    ] = "possible",
    strict: Annotated[
        bool, typer.Option("--strict", help="Also fail if a divisor can be zero because of an unknown operator.")
    ] = False,
    bounds: Annotated[
        bool, typer.Option("--accuracy", help="Also bound the absolute error of each division and each output.")
    ] = False,
    input_errors: Annotated[
        list[str] | None,
        typer.Option(
            "--input-error",
            metavar="NAME=ERROR",
            help="With --accuracy: the largest absolute error of an input. Default: 0. Repeat for each.",
        ),
    ] = None,
    in_json: OneObject = False,
) -> None:
    """Find divisors that can be zero and other hazards of division, and inputs that show them.

    Exit code 1: there are findings of the severity of --fail-on, or of a more certain one; with --strict, a division
    rests on an unknown operator.
    """
    # Modules that import the onnx package are imported here, so that --help does not wait for them.
    from vinculum.analysis import check as checked
    from vinculum.analysis.accuracy import accuracy
    from vinculum.analysis.triage import read_baseline, read_suppressions, sorted_out
    from vinculum.cli.inputs import read_arrays
    from vinculum.models.source import read_source
    from vinculum.reporting.progress import progress

    files = _Files(sarif, suppress, baseline, witness)
    _check_options(models, files, runs, in_json)
    errors = _input_errors(input_errors or (), bounds, as_type)
    accepted = () if suppress is None else read_suppressions(suppress)
    known = None if baseline is None else read_baseline(baseline)
    arrays = None if calibrate is None else read_arrays(calibrate)
    triages: list[Triage] = []
    accuracies: list[Accuracy | None] = []
    with progress("Checking", len(models)) as advance:
        for number, model in enumerate(models):
            advance(number, model.name)
            source = read_source(model)
            report = checked(
                source,
                assume=assume or (),
                calibrate=arrays,
                as_type=as_type,
                profile=profile or (),
                runs=runs,
                seed=seed,
            )
            triages.append(sorted_out(report, str(model), accepted, known))
            bound = accuracy(source, assume=assume or (), input_errors=errors) if bounds else None
            accuracies.append(bound)
    _print(triages, accuracies, tuple(arrays or ()), accepted, in_json)
    _write(triages, files)
    end(finds=any(triage.fails(fail_on) or (strict and triage.report.resting) for triage in triages))


def _print(
    triages: Sequence[Triage],
    accuracies: Sequence[Accuracy | None],
    calibrated: Sequence[str],
    accepted: Sequence[Suppression],
    in_json: bool,
) -> None:
    """Print each model's findings and bounds, and the suppressions that match no finding."""
    from vinculum.analysis.triage import unused
    from vinculum.reporting.check.data import as_json
    from vinculum.reporting.check.page import page
    from vinculum.reporting.escape import short

    for triage, bounds in zip(triages, accuracies, strict=True):
        tell(in_json, as_json, page, triage, calibrated, bounds)
    for one in () if in_json else unused(accepted, triages):
        console().print(Text(f"Suppresses nothing: {short(one.fingerprint or one.rule or one.node)}.", "yellow"))


def _check_options(models: Sequence[Path], files: _Files, runs: int, in_json: bool) -> None:
    from vinculum.cli.outputs import check_files

    if in_json and len(models) > 1:
        raise AttributeValueError(f"--json reports one model, and {len(models)} are given; give one, or use --sarif")
    if files.witness is not None and not runs:
        raise AttributeValueError("--witness needs runs, and --runs 0 allows none; leave one of them out")
    if files.witness is not None and files.witness.exists() and not files.witness.is_dir():
        raise ModelError(f"--witness {str(files.witness)!r} is not a folder; give the name of one")
    if files.witness is not None and not files.witness.absolute().parent.is_dir():
        folder = str(files.witness.parent)
        raise ModelError(f"--witness {str(files.witness)!r} cannot be made: there is no folder {folder!r}; make it")
    read = {"MODEL": models, "--suppress": [p for p in (files.suppress,) if p is not None]}
    check_files({"--sarif": files.sarif}, read)


def _input_errors(texts: Sequence[str], bounds: bool, as_type: str | None) -> dict[str, float]:
    """Return the errors given as ``NAME=ERROR``, by name."""
    if texts and not bounds:
        raise AttributeValueError("--input-error is for --accuracy; give both")
    if bounds and as_type is not None:
        raise AttributeValueError("--accuracy is about the model's own element types; leave --as out")
    errors: dict[str, float] = {}
    for text in texts:
        name, sign, number = text.rpartition("=")
        try:
            errors[name] = float(number)
        except ValueError:
            sign = ""
        if not sign or not name:
            raise AttributeValueError(f"--input-error {quoted(text)} is not of the form NAME=ERROR, a number")
    return errors


def _write(triages: Sequence[Triage], files: _Files) -> None:
    from vinculum.cli.outputs import write_files
    from vinculum.reporting.check import sarif
    from vinculum.reporting.check.witness_files import write_witnesses
    from vinculum.version import __version__

    if files.sarif is not None:
        write_files({files.sarif: sarif.document(triages, _root(), __version__)})
    if files.witness is not None:
        write_witnesses(triages, files.witness)


def _root() -> Path:
    """Return the current repository's folder, to which the paths in reports are relative."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
