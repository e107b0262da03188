"""``vinculum vectors``: export the cases as files for programs without Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.filesize import decimal

from vinculum.cli.options import flag, level_asked, value

vectors = typer.Typer(
    name="vectors",
    no_args_is_help=True,
    help="Export the cases of conform as files. 'vinculum conform answers:DIR' judges a program's answers to them.",
)


@vectors.callback()
def only_group() -> None:
    """Make `export` a subcommand, although it is the only one."""


@vectors.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write; empty or new.")],
    form: Annotated[
        Literal["onnx", "jsonl", "testfloat", "npy"],
        typer.Option(
            "--format",
            help="onnx: folders of node tests. jsonl: lines, and the conventions of other specifications. testfloat: "
            "lines of Berkeley TestFloat. npy: NumPy files.",
            show_default=False,
        ),
    ],
    only: Annotated[
        list[str] | None, value("GLOB", "Write only cases whose id matches, such as 'Div-14/int64/*'. May be repeated.")
    ] = None,
    quick: Annotated[bool, flag("Fewer cases.", "--quick")] = False,
    full: Annotated[bool, flag("Every case.", "--full")] = False,
) -> None:
    """Export the cases of conform, with the exact quotients, for programs without Python.

    Every export holds index.json with a digest of each file, cases.jsonl with a line for each case, and schemas.
    """
    level = level_asked(quick, full)
    from vinculum.conformance.cases.case import Level
    from vinculum.conformance.vectors.export import check_empty
    from vinculum.conformance.vectors.export import export as written
    from vinculum.reporting.escape import escaped
    from vinculum.reporting.progress import progress

    check_empty(folder)
    with progress("Writing", 0) as advance:
        index = written(
            folder,
            form,
            Level(level or "default"),
            tuple(only or ()),
            advance=lambda done, id: advance(done, f"{done:,} cases, {id.row}/{id.element_type}"),
        )
    told = ", ".join(f"{count:,} {name}" for name, count in index.cases.items())
    size = sum(file.bytes for file in index.files)
    print(f"{escaped(str(folder))}: {told}; {len(index.files) + 1:,} files, {decimal(size)}")
