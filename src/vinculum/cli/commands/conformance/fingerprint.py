"""``vinculum fingerprint``: say in words how a runtime divides each element type."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from vinculum.cli.options import RUNTIMES, CaseLimit, MemoryLimit, Workers, flag
from vinculum.reporting.terminal import console


def fingerprint(
    backends: Annotated[
        list[str], typer.Argument(metavar="BACKEND...", help=f"{RUNTIMES}'torch\\[device=cuda]'.", show_default=False)
    ],
    in_json: Annotated[bool, flag("Print a line of JSON for each backend.", "--json")] = False,
    workers: Workers = 2,
    case_limit: CaseLimit = 30.0,
    memory_limit: MemoryLimit = 4096,
    verbose: Annotated[bool, flag("Show an example of each deviation.", "--verbose", "-v")] = False,
) -> None:
    """Say in words how a runtime divides each element type: what conform finds, for the newest operators.

    Differences from the specification are marked, but are not failures: the exit code is 0.
    """
    # Imported here, so that --help does not wait for these modules.
    from vinculum.cli.commands.conformance.outputs import asked
    from vinculum.conformance.cases.case import Level
    from vinculum.conformance.run.planning import of_newest, plan
    from vinculum.conformance.run.record import Selection
    from vinculum.reporting.conformance.fingerprint import as_json, page

    selection = Selection(Level.DEFAULT, seconds=case_limit, memory=memory_limit << 20)
    plans = [plan(backend, selection) for backend in backends]  # All are checked before the first one runs.
    for planned in plans:
        run = asked(of_newest(planned), workers)
        if in_json:
            print(json.dumps(as_json(run)), flush=True)
        else:
            console().print(page(run, verbose=verbose))
