"""``vinculum report``: make reports of runs saved by ``vinculum conform --save``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vinculum.cli.commands.run_outputs import Outputs, finish
from vinculum.cli.options import Expect, Html, JsonLines, Junit, Record, Sarif, Verbose
from vinculum.errors import AttributeValueError


def report(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN.json", help="Run files written by --save.", show_default=False),
    ] = None,
    in_json: JsonLines = False,
    junit: Junit = None,
    sarif: Sarif = None,
    html: Html = None,
    expect: Expect = None,
    record: Record = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of a run file.")] = False,
    verbose: Verbose = False,
) -> None:
    """Make reports of saved conformance runs, without running anything.

    Exit codes: 0 if every case passes, is not supported or deviates as --expect says; 1 if not; 2 for wrong usage.
    """
    from vinculum.conformance.execute.run_file import read_runs

    if schema and files:
        raise AttributeValueError("--schema reads no file; leave RUN.json out")
    if schema:
        import json

        from vinculum.conformance.execute import run_file

        print(json.dumps(run_file.schema(), indent=1))
        return
    if not files:
        raise AttributeValueError("give a file that vinculum conform --save has written; see vinculum report --help")
    outputs = Outputs(junit=junit, sarif=sarif, html=html, record=record, expect=tuple(expect or ()))
    known = outputs.known()
    runs = [run for file in files for run in read_runs(file)]
    if record is not None and (len(runs) > 1 or runs[0].selection.only):
        raise AttributeValueError("--record records one whole run: give one RUN.json, made without --only")
    unused = [one for name, one in known.items() if name not in {run.backend for run in runs}]
    if unused:
        raise AttributeValueError(
            f"{unused[0].file} is for {unused[0].backend!r}, and no run given is of that backend; leave it out"
        )
    finish(runs, known, outputs, in_json=in_json, verbose=verbose)
