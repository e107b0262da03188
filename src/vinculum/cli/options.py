"""The options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RUNTIMES = (
    "onnxruntime, openvino, onnx-reference, torch, numpy, jax, vinculum, command:./program, or "
    "package.module:attribute. Options in brackets, in quotes for the shell: "
)
"""What names a backend; an example of options in brackets follows."""

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="An ONNX file (.onnx) or an OpenVINO IR file (.xml).")]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=FILE",
        help="An input: .npy, .npz (NAME=FILE.npz:MEMBER), or .pb, an ONNX TensorProto. Once for each.",
    ),
]
OneObject = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

Workers = Annotated[int, typer.Option(min=1, metavar="N", help="How many processes answer at once.")]
CaseLimit = Annotated[
    float,
    typer.Option(
        min=0.1, max=3600, metavar="SECONDS", help="Time limit of a case; one that takes longer is reported as hung."
    ),
]
MemoryLimit = Annotated[int, typer.Option(min=64, metavar="MIB", help="Beyond so much a process is out of memory.")]

JsonLines = Annotated[bool, typer.Option("--json", help="Print JSON lines: the run, then each case.")]
Save = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the run there, for vinculum report, as JSON.")]
Junit = Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML there.")]
Sarif = Annotated[Path | None, typer.Option(metavar="FILE", help="Write SARIF there, a rule for each cause.")]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write one self-contained page there.")]
Expect = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="The known deviations of a backend: fail on any other, and on none of them."),
]
Record = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write what deviates there, for --expect, with the reasons that it gives."),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Name every case that deviates.")]
