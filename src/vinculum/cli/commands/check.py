"""``vinculum check``: find hazards of the divisions in models, inputs that trigger them, and guards against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from vinculum.cli import check_options as options
from vinculum.cli.answers import end, tell
from vinculum.cli.options import OneObject
from vinculum.errors import AttributeValueError
from vinculum.reporting.terminal import console

if TYPE_CHECKING:
    from vinculum.analysis.accuracy import Accuracy
    from vinculum.analysis.triage import Suppression, Triage
    from vinculum.models.source import SourceFile
    from vinculum.repair.fixing import Fixed


def check(
    models: options.Models,
    assume: options.Assume = None,
    as_type: options.AsType = None,
    calibrate: options.Calibrate = None,
    profile: options.Profile = None,
    domains: options.Domains = False,
    weights: options.Weights = "stored",
    runs: options.Runs = 100,
    seed: options.Seed = 0,
    fix: options.FixedFile = None,
    html: options.HtmlFile = None,
    witness: options.WitnessFolder = None,
    sarif: options.SarifFile = None,
    suppress: options.Suppress = None,
    baseline: options.Baseline = None,
    fail_on: options.FailOn = "possible",
    strict: options.Strict = False,
    bounds: options.Errors = False,
    input_errors: options.InputErrors = None,
    explain: options.Explain = None,
    in_json: OneObject = False,
) -> None:
    """Find divisors that can be zero and other hazards of division, inputs that show them, and guards against them.

    Exit code 1: there are findings of the severity of --fail-on, or of a more certain one, that --fix did not remove;
    with --strict, a division rests on an unknown operator.
    """
    # Modules that import the onnx package are imported here, so that --help does not wait for them.
    from vinculum.analysis.triage import read_baseline, read_suppressions
    from vinculum.cli.inputs import read_arrays
    from vinculum.reporting.progress import progress

    files = options.Files(sarif, html, fix, suppress, baseline, witness)
    files.check(models, runs, in_json=in_json)
    if explain is not None and in_json:
        raise AttributeValueError("--explain prints text, and --json one object; leave one out")
    if fix is not None and weights == "unknown":
        raise AttributeValueError("--fix writes the whole model, and --weights unknown does not read it; leave one out")
    errors = options.input_errors(input_errors or (), bounds, as_type)
    accepted = () if suppress is None else read_suppressions(suppress)
    known = None if baseline is None else read_baseline(baseline)
    arrays = None if calibrate is None else read_arrays(calibrate)
    how = {
        "assume": assume or (),
        "calibrate": arrays,
        "as_type": as_type,
        "profile": (*(profile or ()), *["domains"] * domains),
        "weights": weights,
    }
    results: list[_Result] = []
    written = [path for path in (sarif, html, fix) if path is not None]
    with progress("Checking", len(models)) as advance:
        for number, model in enumerate(models):
            advance(number, model.name)
            told = errors if bounds else None
            results.append(_checked(model, how, (runs, seed), (accepted, known), told, fix, written))
    explained = [] if explain is None else [line for one in results for line in _explained(one, explain)]
    _print(results, tuple(arrays or ()), accepted, in_json)
    for line in explained:
        console().print(line)
    _write(results, files)
    end(finds=any(result.fails(fail_on, strict) for result in results))


@dataclass(frozen=True)
class _Result:
    """What was found in a model, and what was done about it."""

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


def _checked(
    model: Path,
    how: dict[str, Any],
    search: tuple[int, int],
    sorting: tuple[Sequence[Suppression], Any],
    errors: dict[str, float] | None,
    fix: Path | None,
    written: Sequence[Path],
) -> _Result:
    from vinculum.analysis import check as checked
    from vinculum.analysis.accuracy import accuracy
    from vinculum.analysis.triage import sorted_out
    from vinculum.models.source import read_source
    from vinculum.repair.fixing import fixed

    source = read_source(model, weights=how["weights"])
    source.check_spared(written)
    runs, seed = search
    report = checked(source, **how, runs=runs, seed=seed)
    triage = sorted_out(report, str(model), *sorting)
    bound = None if errors is None else accuracy(source, assume=how["assume"], input_errors=errors)
    mended = None
    if fix is not None:
        again = partial(checked, **how, runs=0)
        mended = fixed(source, report, triage.open, again, assume=how["assume"], calibrate=how["calibrate"])
    return _Result(source, triage, bound, mended)


def _explained(result: _Result, node: str) -> Iterator[RenderableType]:
    """Yield how the bounds at a node of a model come about."""
    from vinculum.analysis.places import explained
    from vinculum.reporting.check.explanation import explanation

    return explanation(node, explained(result.source.proto("explained"), result.triage.report.values, node))


def _print(
    results: Sequence[_Result], calibrated: Sequence[str], accepted: Sequence[Suppression], in_json: bool
) -> None:
    """Print each model's findings, bounds and fixes, and the suppressions that match no finding."""
    from vinculum.analysis.triage import unused
    from vinculum.reporting.check.data import as_json
    from vinculum.reporting.check.page import page
    from vinculum.reporting.escape import short

    for one in results:
        tell(in_json, as_json, page, one.triage, calibrated, one.accuracy, one.fixed)
    for other in () if in_json else unused(accepted, [one.triage for one in results]):
        console().print(Text(f"Suppresses nothing: {short(other.fingerprint or other.rule or other.node)}.", "yellow"))


def _write(results: Sequence[_Result], files: options.Files) -> None:
    from vinculum.cli.outputs import write_files
    from vinculum.reporting.check.witness_files import write_witnesses

    triages = [one.triage for one in results]
    write_files(dict(_reports(results, files)))
    if files.witness is not None:
        write_witnesses(triages, files.witness)
    if files.fix is not None:
        from vinculum.repair.fixing import write_fixed

        for one in results:
            if one.fixed is not None:
                write_fixed(one.fixed, one.source, files.fix)


def _reports(results: Sequence[_Result], files: options.Files) -> Iterator[tuple[Path, str]]:
    from vinculum.reporting.check import sarif
    from vinculum.version import __version__

    if files.sarif is not None:
        yield files.sarif, sarif.document([one.triage for one in results], _root(), __version__)
    if files.html is not None:
        from vinculum.reporting.check.picture.document import document

        yield files.html, document([(one.triage, one.source.proto("analysed")) for one in results])


def _root() -> Path:
    """Return the current repository's folder, to which the paths in reports are relative."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
