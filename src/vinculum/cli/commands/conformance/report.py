"""``vinculum report``: make reports of runs saved by ``vinculum conform --save``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vinculum.cli.commands.conformance.outputs import finish, known_deviations, saved
from vinculum.cli.options import Expect, Html, Junit, Record, Sarif, Verbose, flag
from vinculum.errors import AttributeValueError


def report(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN.json", help="Run files written by --save, packed by xz or not.", show_default=False
        ),
    ] = None,
    junit: Junit = None,
    sarif: Sarif = None,
    html: Html = None,
    expect: Expect = None,
    record: Record = None,
    schema: Annotated[bool, flag("Print the JSON Schema of a run file.", "--schema")] = False,
    verbose: Verbose = False,
) -> None:
    """Make reports of saved conformance runs, whose answers are judged and explained again; nothing is run.

    Exit codes: 0 if every case passes, is not supported or deviates as --expect says; 1 if not; 2 for wrong usage.
    """
    if schema and files:
        raise AttributeValueError("--schema reads no file; leave RUN.json out")
    if schema:
        from json import dumps

        from vinculum.conformance.run.file import schema as of_runs

        print(dumps(of_runs(), indent=1))
        return
    if not files:
        raise AttributeValueError("give a file that vinculum conform --save has written; see vinculum report --help")
    written = {"--junit": junit, "--sarif": sarif, "--html": html, "--record": record}
    known = known_deviations(expect or (), written)
    runs = [run for file in files for run in saved(file, known)]
    if record is not None and (len(runs) > 1 or runs[0].selection.only):
        raise AttributeValueError("--record records one whole run: give one RUN.json, made without --only")
    unused = [one for name, one in known.items() if name not in {run.backend for run in runs}]
    if unused:
        raise AttributeValueError(
            f"{unused[0].file} is for {unused[0].backend!r}, and no run given is of that backend; leave it out"
        )
    finish(runs, known, written, verbose=verbose)
