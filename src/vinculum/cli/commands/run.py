"""``vinculum run``: run a model with every division exact to the last bit, and report on each division."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vinculum.cli.answers import tell
from vinculum.cli.options import (
    Dimensions,
    Engine,
    Inputs,
    ModelFile,
    OneObject,
    OverflowPolicy,
    Seed,
    ZeroDivisorPolicy,
    policies_advised,
)
from vinculum.ops.policies import Overflow, ZeroDivisor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vinculum.cli.output_files import OutputFile
    from vinculum.models import Model
    from vinculum.reporting.models.run_report import Observations, OutputReport


def run(
    model: ModelFile,
    inputs: Inputs = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Write outputs to this folder, as NAME.npy.")
    ] = None,
    seed: Seed = None,
    dims: Dimensions = None,
    zero_divisor: ZeroDivisorPolicy = "raise",
    overflow: OverflowPolicy = "wrap",
    engine: Annotated[
        Engine,
        typer.Option(help="The engine for everything but the divisions; IR files are run by OpenVINO."),
    ] = "reference",
    in_json: OneObject = False,
) -> None:
    """Run a model with every division computed to the last bit, and report the operands of each division."""
    # Here and below: modules that import the onnx package are imported in functions, so that --help does not wait.
    from vinculum.cli.model_inputs import model_inputs
    from vinculum.cli.output_files import output_paths, write_outputs
    from vinculum.models import load
    from vinculum.reporting.models.run import page
    from vinculum.reporting.models.run_report import Observations, RunReport, as_json

    loaded = load(model)
    given = model_inputs(loaded.inputs, inputs or (), seed, dims or ())
    sources = (model, *(file.path for file in given.files.values()))
    names = [tensor.name for tensor in loaded.outputs]
    paths = {} if output is None else output_paths(output, names, sources)
    observations = Observations(loaded.divisions)
    start = perf_counter()
    results = _results(loaded, given.arrays, zero_divisor, overflow, engine, observations)
    seconds = perf_counter() - start
    written = write_outputs(results, paths)
    reports = given.reports(), _output_reports(loaded, results, written), observations.reports()
    drawn_from, inner = seed if given.drawn else None, loaded.inner_divisions
    report = RunReport(str(model), drawn_from, zero_divisor, overflow, seconds, *reports, engine, inner)
    tell(in_json, as_json, page, report)


def _results(
    model: Model,
    arrays: Mapping[str, NDArray[Any]],
    zero_divisor: ZeroDivisor,
    overflow: Overflow,
    engine: Engine,
    observations: Observations,
) -> dict[str, NDArray[Any]]:
    from vinculum.models import DivisionRecord
    from vinculum.reporting.progress import progress

    with policies_advised(), progress("Running", len(model.divisions)) as advance:

        def observe(record: DivisionRecord) -> None:
            observations(record)
            done = observations.nodes_executed
            advance(done, f"{observations.executions:,} divisions done")

        return model.run(
            arrays,
            zero_divisor=zero_divisor,
            overflow=overflow,
            observer=observe,
            engine=engine,
        )


def _output_reports(
    model: Model, results: dict[str, NDArray[Any]], written: dict[str, OutputFile]
) -> tuple[OutputReport, ...]:
    from vinculum.reporting.models.run_report import output_report

    names = [tensor.name for tensor in model.outputs]
    if not written:
        return tuple(output_report(name, results[name]) for name in names)
    files = [written[name] for name in names]
    return tuple(
        output_report(name, results[name], str(file.path), file.stored_as)
        for name, file in zip(names, files, strict=True)
    )
