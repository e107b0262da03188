"""Shared by several commands: options, printing, and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import RenderableType

from vinculum.errors import AttributeValueError, DivisionByZeroError, IntegerOverflowError
from vinculum.ops.policies import Overflow, ZeroDivisor
from vinculum.reporting.terminal import console

FINE, FINDING, UNUSABLE, BROKEN, INTERRUPTED = 0, 1, 2, 3, 130


def value(metavar: str, help: str, *names: str, **limits: Any) -> Any:
    """Return an option with a value; `names` are given if they differ from the parameter's."""
    return typer.Option(*names, metavar=metavar, help=help, **limits)


def flag(help: str, *names: str) -> Any:
    """Return an option without a value and without a ``--no-`` form."""
    return typer.Option(*names, help=help)


RUNTIMES = (
    "onnxruntime, openvino, onnx-reference, tract, tvm, iree, torch, jax, tensorflow, mlx, tinygrad, mnn, litert, "
    "numpy, vinculum, command:./program, or package.module:attribute. Options in brackets, in quotes for the shell: "
)
"""The names of backends; an example of options in brackets follows."""

OnnxFile = Annotated[Path, typer.Argument(metavar="MODEL", help="An ONNX file.")]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="An ONNX file (.onnx) or an OpenVINO IR file (.xml).")]
Inputs = Annotated[
    list[str] | None,
    value(
        "NAME=FILE",
        "An input: .npy, .npz (NAME=FILE.npz:MEMBER), or .pb (an ONNX TensorProto). Repeat for each; FILE alone "
        "if the model has one input.",
        "--input",
    ),
]
OwnInputs = Annotated[
    list[str] | None,
    value(
        "NAME=FILE",
        "Run the model on this input too: .npy, .npz (FILE:MEMBER), or .pb. Inputs left out are drawn.",
        "--input",
    ),
]
Seed = Annotated[int | None, value("N", "Draw the inputs without a file at random, from this seed.", "--seed", min=0)]
Dimensions = Annotated[
    list[str] | None,
    value("NAME=SIZE", "The size of a symbolic dimension. Default: 1.", "--dim"),
]
ZeroDivisorPolicy = Annotated[ZeroDivisor, typer.Option("--zero-divisor", help="The result of an integer x/0.")]
OverflowPolicy = Annotated[Overflow, typer.Option("--overflow", help="The result of an integer MIN/-1.")]
# The same as in `vinculum.models`, which is not imported here so that --help is fast.
Engine = Literal["reference", "onnxruntime", "openvino"]
ENGINES = "reference, onnxruntime or openvino"
DialectName = Annotated[
    Literal["onnx", "openvino", "sonnx"] | None, typer.Option("--dialect", help="Default: decided by the name.")
]
ClusterAddress = Annotated[
    str | None, value("ADDRESS", "Use the Dask cluster whose scheduler is at tcp://HOST:PORT.", "--cluster")
]
OneObject = Annotated[bool, flag("Print one JSON object.", "--json")]

Workers = Annotated[int, value("N", "How many cases run at once, each in a process.", min=1)]
CaseLimit = Annotated[
    float, value("SECONDS", "Time limit of a case; one that takes longer is reported as hung.", min=0.1, max=3600)
]
MemoryLimit = Annotated[
    int, value("MIB", "Memory limit of each process; a case that exceeds it is reported as out of memory.", min=64)
]

Save = Annotated[Path | None, value("FILE", "Write the run to this file as JSON; vinculum report reads it.")]
Junit = Annotated[Path | None, value("FILE", "Write a JUnit XML report to this file.")]
Sarif = Annotated[Path | None, value("FILE", "Write a SARIF report to this file.")]
Html = Annotated[Path | None, value("FILE", "Write one self-contained HTML page to this file.")]
Expect = Annotated[
    list[Path] | None,
    value(
        "FILE", "Known deviations of a backend: fail on deviations not listed, and on listed ones that no longer occur."
    ),
]
Record = Annotated[
    Path | None,
    value("FILE", "Write a file of known deviations for --expect; keeps the reasons of the file that --expect names."),
]
Verbose = Annotated[bool, flag("List every case that deviates.", "--verbose", "-v")]


def level_asked(quick: bool, full: bool) -> str | None:
    """Return the level of cases selected by --quick or --full; None if neither is given."""
    if quick and full:
        raise AttributeValueError("--quick and --full exclude each other; give one, or none for the default level")
    return "quick" if quick else "full" if full else None


@contextmanager
def policies_advised() -> Iterator[None]:
    """Add to an error raised by a policy the options with which the command can continue."""
    try:
        yield
    except DivisionByZeroError as error:
        error.advice = "to continue, give --zero-divisor zero or --zero-divisor saturate"
        raise
    except IntegerOverflowError as error:
        error.advice = "to continue, give --overflow wrap or --overflow saturate"
        raise


def tell(
    in_json: bool, as_json: Callable[..., dict[str, Any]], page: Callable[..., RenderableType], *results: object
) -> None:
    """Print a result as one JSON object, or as a page."""
    if in_json:
        print(json.dumps(as_json(*results), indent=2, allow_nan=False))
    else:
        console().print(page(*results), crop=False)  # Commands must stay on one line each.


def end(*, finds: bool) -> None:
    """End the command, with the exit code of a finding if there is one."""
    if finds:
        raise typer.Exit(FINDING)
