"""``vinculum run``: a model, every division in it computed to the last bit, and what each division met."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console

from vinculum.errors import DivisionByZeroError, IntegerOverflowError, ModelError
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vinculum.cli.input_files import InputFile
    from vinculum.cli.output_files import OutputFile
    from vinculum.models import Model
    from vinculum.models.drawn_inputs import DrawnInput
    from vinculum.models.model import Engine
    from vinculum.reporting.run_report import InputReport, Observations, OutputReport


def run(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="An ONNX file (.onnx) or an OpenVINO IR file (.xml).")],
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=FILE",
            help="An input: .npy, .npz (NAME=FILE.npz:MEMBER), or .pb, an ONNX TensorProto. Once for each.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write each output there, as NAME.npy.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Draw the inputs that no file gives from this seed.")
    ] = None,
    dims: Annotated[
        list[str] | None,
        typer.Option("--dim", metavar="NAME=SIZE", help="The size of a symbolic dimension; 1 if left out."),
    ] = None,
    zero_divisor: Annotated[
        str, typer.Option(metavar="raise|zero|saturate", help="What x/0 gives, for integers.")
    ] = "raise",
    overflow: Annotated[
        str, typer.Option(metavar="wrap|raise|saturate", help="What MIN/-1 gives, for integers.")
    ] = "wrap",
    engine: Annotated[
        str,
        typer.Option(metavar="reference|onnxruntime", help="What runs all nodes but the divisions, for ONNX models."),
    ] = "reference",
    machine: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run a model with every division in it computed to the last bit, and tell what each division met."""
    # Here and below: what imports the onnx package is imported when a model is run, not for a page of help.
    from vinculum.cli.input_files import input_files, read_inputs
    from vinculum.cli.output_files import output_paths, write_outputs
    from vinculum.models import load
    from vinculum.models.model import check_engine
    from vinculum.reporting.run_page import page
    from vinculum.reporting.run_report import Observations, RunReport, as_json

    Policies(cast(ZeroDivisor, zero_divisor), cast(Overflow, overflow))
    check_engine(engine)
    loaded = load(model)
    files = input_files(inputs or (), loaded.inputs)
    read = read_inputs(files, loaded.inputs)
    drawn = _drawn(loaded, read, seed, dims or [])
    arrays = {**read, **{name: one.array for name, one in drawn.items()}}
    sources = (model, *(file.path for file in files.values()))
    names = [tensor.name for tensor in loaded.outputs]
    paths = {} if output is None else output_paths(output, names, sources)
    observations = Observations(loaded.divisions)
    start = perf_counter()
    results = _results(loaded, arrays, zero_divisor, overflow, engine, observations)
    seconds = perf_counter() - start
    written = write_outputs(results, paths)
    given, returned = _input_reports(loaded, arrays, files, drawn), _output_reports(loaded, results, written)
    drawn_from = seed if drawn else None
    divisions = observations.reports()
    report = RunReport(str(model), drawn_from, zero_divisor, overflow, seconds, given, returned, divisions, engine)
    if machine:
        print(json.dumps(as_json(report), indent=2, allow_nan=False))
    else:
        Console(highlight=False).print(page(report))


def _drawn(model: Model, read: dict[str, NDArray[Any]], seed: int | None, dims: list[str]) -> dict[str, DrawnInput]:
    from vinculum.models.drawn_inputs import dimension_sizes, draw

    sizes = dimension_sizes(dims, model.inputs, read)
    missing = [(k, t) for k, t in enumerate(model.inputs) if t.name not in read and not t.optional]
    if missing and seed is None:
        first = ", ".join(str(tensor) for _, tensor in missing[:10])
        option = f"--input {missing[0][1].name}=FILE"
        raise ModelError(f"no array for input {first}; give one with {option}, or draw it with --seed 0")
    return {tensor.name: draw(tensor, position, seed or 0, sizes) for position, tensor in missing}


def _results(
    model: Model,
    arrays: dict[str, NDArray[Any]],
    zero_divisor: str,
    overflow: str,
    engine: str,
    observations: Observations,
) -> dict[str, NDArray[Any]]:
    from vinculum.models import DivisionRecord
    from vinculum.reporting.progress import progress

    with progress("Running", len(model.divisions)) as advance:

        def observe(record: DivisionRecord) -> None:
            observations(record)
            done = observations.nodes_executed
            advance(done, f"{observations.executions:,} divisions done")

        try:
            return model.run(
                arrays,
                zero_divisor=cast(ZeroDivisor, zero_divisor),
                overflow=cast(Overflow, overflow),
                observer=observe,
                engine=cast("Engine", engine),
            )
        except DivisionByZeroError as error:
            _advise(error, "--zero-divisor zero or --zero-divisor saturate")
            raise
        except IntegerOverflowError as error:
            _advise(error, "--overflow wrap or --overflow saturate")
            raise


def _advise(error: Exception, options: str) -> None:
    error.args = (f"{error}; to continue, give {options}", *error.args[1:])


def _input_reports(
    model: Model, arrays: dict[str, NDArray[Any]], files: dict[str, InputFile], drawn: dict[str, DrawnInput]
) -> tuple[InputReport, ...]:
    from vinculum.reporting.run_report import InputReport

    return tuple(
        InputReport(
            tensor.name,
            str(tensor.element_type),
            arrays[tensor.name].shape,
            "file" if tensor.name in files else "seed",
            str(files[tensor.name]) if tensor.name in files else None,
            drawn[tensor.name].assumed if tensor.name in drawn else {},
        )
        for tensor in model.inputs
        if tensor.name in arrays
    )


def _output_reports(
    model: Model, results: dict[str, NDArray[Any]], written: dict[str, OutputFile]
) -> tuple[OutputReport, ...]:
    from vinculum.reporting.run_report import output_report

    names = [tensor.name for tensor in model.outputs]
    if not written:
        return tuple(output_report(name, results[name]) for name in names)
    files = [written[name] for name in names]
    return tuple(
        output_report(name, results[name], str(file.path), file.stored_as)
        for name, file in zip(names, files, strict=True)
    )
