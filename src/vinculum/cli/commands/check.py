"""``vinculum check``: find hazards of the divisions in models, inputs that trigger them, and guards against them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from vinculum.cli.options import Html, OneObject, Sarif, end, flag, tell, value
from vinculum.errors import AttributeValueError, ModelError
from vinculum.reporting.terminal import console
from vinculum.text import quoted

if TYPE_CHECKING:
    from vinculum.analysis.accuracy import Accuracy
    from vinculum.analysis.triage import Suppression, Triage
    from vinculum.models.source import SourceFile
    from vinculum.repair.fixing import Fixed


def check(
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL...", help="ONNX files, or programs of torch.export (.pt2).")
    ],
    assume: Annotated[
        list[str] | None,
        value(
            "NAME=LOW:HIGH", "The range of an input or a named dimension: LOW:HIGH, 0|1, or NAME>=LOW. Repeat for each."
        ),
    ] = None,
    as_type: Annotated[
        Literal["float16", "bfloat16"] | None,
        typer.Option("--as", help="Check a float32 model as if it were converted to this type."),
    ] = None,
    calibrate: Annotated[
        Path | None, value("FILE.npz", "Typical inputs, whose ranges are taken and widened by half.")
    ] = None,
    profile: Annotated[
        list[str] | None,  # typer takes no lists of choices
        value(
            "NAME",
            "A property of the target. sonnx: SONNX's constraints; flushing: subnormal numbers become 0; "
            "narrowing: integers are narrowed.",
        ),
    ] = None,
    domains: Annotated[
        bool, flag("Also find logarithms, roots and other functions of values outside their domain.", "--domains")
    ] = False,
    weights: Annotated[
        Literal["stored", "unknown"],
        typer.Option(
            help="unknown: large weights in other files may be any finite numbers; these files need not be there."
        ),
    ] = "stored",
    runs: Annotated[
        int, value("N", "The most runs per finding in the search for inputs that show it; 0: no search.", min=0)
    ] = 100,
    seed: Annotated[int, value("N", "Seed of that search.", min=0)] = 0,
    fix: Annotated[
        Path | None, value("FILE", "Write the model to this file with the least guard that removes each finding.")
    ] = None,
    html: Html = None,
    witness: Annotated[
        Path | None,
        value("FOLDER", "Write the inputs that show each finding to this folder: an .npz file and a script."),
    ] = None,
    sarif: Sarif = None,
    suppress: Annotated[
        Path | None, value("FILE", "Accepted findings, each with a reason and an expiry date, in TOML.")
    ] = None,
    baseline: Annotated[
        Path | None, value("FILE", "Leave out the findings of this earlier report, JSON or SARIF.")
    ] = None,
    fail_on: Annotated[
        Literal["certain", "possible"], typer.Option(help="Fail on findings of this severity or a more certain one.")
    ] = "possible",
    strict: Annotated[
        bool, flag("Also fail if a divisor can be zero because of an unknown operator.", "--strict")
    ] = False,
    bounds: Annotated[
        bool, flag("Also bound the absolute error of each division and each output.", "--accuracy")
    ] = False,
    input_errors: Annotated[
        list[str] | None,
        value(
            "NAME=ERROR",
            "With --accuracy: the largest absolute error of an input. Default: 0. Repeat for each.",
            "--input-error",
        ),
    ] = None,
    explain: Annotated[
        str | None, value("NODE", "Also print how the bounds at a node of the main graph come about.")
    ] = None,
    in_json: OneObject = False,
) -> None:
    """Find divisors that can be zero and other hazards of division, inputs that show them, and guards against them.

    The page of --html has a picture of the part of each model's graph that leads to findings.

    Exit code 1: there are findings of the severity of --fail-on, or of a more certain one, that --fix did not remove;
    with --strict, a division rests on an unknown operator.
    """
    # Modules that import the onnx package are imported here, so that --help does not wait for them.
    from vinculum import analysis
    from vinculum.analysis.accuracy import accuracy
    from vinculum.analysis.triage import read_baseline, read_suppressions, sorted_out
    from vinculum.cli.inputs import read_arrays
    from vinculum.models.source import read_source
    from vinculum.repair.fixing import fixed
    from vinculum.reporting.progress import progress

    count = f"{len(models)} are given; give one"
    excluded = {
        f"--json reports one model, and {count}, or use --sarif": in_json and len(models) > 1,
        f"--fix writes one model, and {count}": fix is not None and len(models) > 1,
        "--witness needs runs, and --runs 0 allows none; leave one of them out": witness is not None and not runs,
        "--explain prints text, and --json one object; leave one out": explain is not None and in_json,
        "--fix writes the whole model, and --weights unknown does not read it; leave one out": fix is not None
        and weights == "unknown",
        "--input-error is for --accuracy; give both": bool(input_errors) and not bounds,
        "--accuracy is about the model's own element types; leave --as out": bounds and as_type is not None,
    }
    for words, together in excluded.items():
        if together:
            raise AttributeValueError(words)
    written = {"--sarif": sarif, "--html": html, "--fix": fix}
    _check_files(written, witness, {"MODEL": models, "--suppress": [] if suppress is None else [suppress]})
    errors = _input_errors(input_errors or ())
    accepted = () if suppress is None else read_suppressions(suppress)
    known = None if baseline is None else read_baseline(baseline)
    arrays = None if calibrate is None else read_arrays(calibrate)
    given: dict[str, Any] = {"assume": assume or (), "calibrate": arrays}
    profiles = (*(profile or ()), *["domains"] * domains)
    analysed: Any = partial(analysis.check, **given, as_type=as_type, profile=profiles, weights=weights)
    results: list[_Result] = []
    with progress("Checking", len(models)) as advance:
        for number, model in enumerate(models):
            advance(number, model.name)
            source = read_source(model, weights=weights)
            source.check_spared([path for path in written.values() if path is not None])
            report = analysed(source, runs=runs, seed=seed)
            triage = sorted_out(report, str(model), accepted, known)
            bound = accuracy(source, assume=given["assume"], input_errors=errors) if bounds else None
            mended = fixed(source, report, triage.open, partial(analysed, runs=0), **given) if fix else None
            results.append(_Result(source, triage, bound, mended))
    _print(results, tuple(arrays or ()), accepted, explain, in_json)
    _write(results, written, witness)
    end(finds=any(result.fails(fail_on, strict) for result in results))


def _input_errors(texts: Sequence[str]) -> dict[str, float]:
    errors: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            errors[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise AttributeValueError(f"--input-error {quoted(text)} is not of the form NAME=ERROR, a number")
    return errors


@dataclass(frozen=True)
class _Result:
    source: SourceFile
    triage: Triage
    accuracy: Accuracy | None
    fixed: Fixed | None

    def fails(self, severity: str, strict: bool) -> bool:
        """Tell whether the exit code says that there is a finding."""
        rests = strict and bool(self.triage.report.resting)
        triage = self.triage
        if self.fixed is not None:
            left = tuple(one.finding for one in self.fixed.left)
            triage = replace(triage, open=left, report=replace(triage.report, findings=left))
        return rests or triage.fails(severity)


def _check_files(written: Mapping[str, Path | None], witness: Path | None, read: Mapping[str, Sequence[Path]]) -> None:
    """Refuse files that cannot be written or that are also read; both are given by the options that name them."""
    from vinculum.cli.outputs import check_files

    fix = written["--fix"]
    if fix is not None and fix.suffix.lower() in (".xml", ".pt2"):
        raise ModelError(f"--fix {str(fix)!r}: a fixed model is an ONNX file; give a name that ends in .onnx")
    if witness is not None and witness.exists() and not witness.is_dir():
        raise ModelError(f"--witness {str(witness)!r} is not a folder; give the name of one")
    check_files(written, read)
    if witness is not None and not witness.absolute().parent.is_dir():
        folder = str(witness.parent)
        raise ModelError(f"--witness {str(witness)!r} cannot be made: there is no folder {folder!r}; make it")


def _write(results: Sequence[_Result], written: Mapping[str, Path | None], witness: Path | None) -> None:
    """Write the reports, all or none, then the witnesses, then the model with guards."""
    from vinculum.cli.outputs import write_files
    from vinculum.repair.fixing import write_fixed
    from vinculum.reporting.check import sarif
    from vinculum.reporting.check.picture import document as html
    from vinculum.reporting.check.witness_files import write_witnesses
    from vinculum.version import __version__

    triages = [one.triage for one in results]
    texts: dict[str, Callable[[], str]] = {
        "--sarif": lambda: sarif.document(triages, _root(), __version__),
        "--html": lambda: html.document([(one.triage, one.source.proto("analysed")) for one in results]),
    }
    write_files({path: text() for option, text in texts.items() if (path := written[option]) is not None})
    if witness is not None:
        write_witnesses(triages, witness)
    for one in results:
        if one.fixed is not None and (fix := written["--fix"]) is not None:
            write_fixed(one.fixed, one.source, fix)


def _root() -> Path:
    """Return the current repository's folder, to which the paths in reports are relative."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def _print(
    results: Sequence[_Result],
    calibrated: Sequence[str],
    accepted: Sequence[Suppression],
    node: str | None,
    in_json: bool,
) -> None:
    """Print each model's findings, bounds and fixes, suppressions that match no finding, and the bounds at a node."""
    from vinculum.analysis.places import explained
    from vinculum.analysis.triage import unused
    from vinculum.reporting.check.page import as_json, explanation, page
    from vinculum.reporting.escape import short

    # An unknown node is refused before anything is printed.
    steps = [explained(r.source.proto("explained"), r.triage.report.values, node) for r in results if node is not None]
    for one in results:
        tell(in_json, as_json, page, one.triage, calibrated, one.accuracy, one.fixed)
    for other in () if in_json else unused(accepted, [one.triage for one in results]):
        console().print(Text(f"Suppresses nothing: {short(other.fingerprint or other.rule or other.node)}.", "yellow"))
    for way in steps:
        console().print(explanation(node or "", way))
