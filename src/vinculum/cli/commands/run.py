"""``vinculum run``: run a model with every division exact to the last bit, and report on each division."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from vinculum.cli.options import (
    ENGINES,
    Dimensions,
    Engine,
    Inputs,
    ModelFile,
    OneObject,
    OverflowPolicy,
    Seed,
    ZeroDivisorPolicy,
    policies_advised,
    tell,
    value,
)

if TYPE_CHECKING:
    from vinculum.models import DivisionRecord


def run(
    model: ModelFile,
    inputs: Inputs = None,
    output: Annotated[
        Path | None, value("FOLDER", "Write outputs to this folder, as NAME.npy.", "--output", "-o")
    ] = None,
    seed: Seed = None,
    dims: Dimensions = None,
    zero_divisor: ZeroDivisorPolicy = "raise",
    overflow: OverflowPolicy = "wrap",
    engine: Annotated[
        Engine,
        value("ENGINE", f"What runs everything but the divisions: {ENGINES}. IR files are run by OpenVINO."),
    ] = "reference",
    in_json: OneObject = False,
) -> None:
    """Run a model with every division computed to the last bit, and report the operands of each division."""
    # Modules that import the onnx package are imported here, so that --help does not wait for them.
    from vinculum.cli.inputs import model_inputs, sizes_advised
    from vinculum.cli.outputs import output_paths, write_outputs
    from vinculum.models import load
    from vinculum.reporting.models.run import Observations, RunReport, as_json, output_report, page
    from vinculum.reporting.progress import progress

    loaded = load(model)
    given = model_inputs(loaded.inputs, inputs or (), seed, dims or ())
    names = [tensor.name for tensor in loaded.outputs]
    paths = {} if output is None else output_paths(output, names, (model, *given.files))
    observations = Observations(loaded.divisions)
    start = perf_counter()
    observed = progress("Running", len(loaded.divisions))
    with policies_advised(), sizes_advised(given.reports), observed as advance:

        def observe(record: DivisionRecord) -> None:
            observations(record)
            advance(observations.nodes_executed, f"{observations.executions:,} divisions done")

        results = loaded.run(
            given.arrays, zero_divisor=zero_divisor, overflow=overflow, observer=observe, engine=engine
        )
    seconds = perf_counter() - start
    written = write_outputs(results, paths)
    outputs = tuple(output_report(name, results[name], *written.get(name, ())) for name in names)
    reports = given.reports, outputs, observations.reports()
    report = RunReport(
        str(model), given.seed, zero_divisor, overflow, seconds, *reports, engine, loaded.inner_divisions
    )
    tell(in_json, as_json, page, report)
