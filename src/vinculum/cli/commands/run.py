"""``vinculum run``: run a model with every division exact to the last bit, and report on each division."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from vinculum.cli.answers import tell
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
    value,
)
from vinculum.ops.policies import Overflow, ZeroDivisor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vinculum.models import Model
    from vinculum.reporting.models.run import Observations


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
    # Here and below: modules that import the onnx package are imported in functions, so that --help does not wait.
    from vinculum.cli.inputs import model_inputs
    from vinculum.cli.outputs import output_paths, write_outputs
    from vinculum.models import load
    from vinculum.reporting.models.run import Observations, RunReport, as_json, output_report, page

    loaded = load(model)
    given = model_inputs(loaded.inputs, inputs or (), seed, dims or ())
    names = [tensor.name for tensor in loaded.outputs]
    paths = {} if output is None else output_paths(output, names, (model, *given.files))
    observations = Observations(loaded.divisions)
    start = perf_counter()
    results = _results(loaded, given.arrays, zero_divisor, overflow, engine, observations)
    seconds = perf_counter() - start
    written = write_outputs(results, paths)
    outputs = tuple(output_report(name, results[name], *written.get(name, ())) for name in names)
    reports = given.reports, outputs, observations.reports()
    report = RunReport(
        str(model), given.seed, zero_divisor, overflow, seconds, *reports, engine, loaded.inner_divisions
    )
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
