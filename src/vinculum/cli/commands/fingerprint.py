"""``vinculum fingerprint``: identify, in seconds, how a runtime computes its quotients."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from vinculum.cli.options import RUNTIMES, CaseLimit, MemoryLimit, Workers
from vinculum.reporting.console import console


def fingerprint(
    backends: Annotated[
        list[str],
        typer.Argument(metavar="BACKEND...", help=f"{RUNTIMES}'torch\\[device=cuda]'.", show_default=False),
    ],
    in_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each backend.")] = False,
    workers: Workers = 2,
    case_limit: CaseLimit = 30.0,
    memory_limit: MemoryLimit = 4096,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show details and an example of each.")] = False,
) -> None:
    """Identify the arithmetic by which a runtime computes its quotients, from its answers to cases of conform.

    Differences from the specification are marked, but are not failures: the exit code is 0.
    """
    # Imported here, so that --help does not wait for these modules.
    from vinculum.conformance.fingerprint import fingerprint, selected
    from vinculum.conformance.runtimes.registry import runtime
    from vinculum.reporting.conformance.fingerprint import as_json, page
    from vinculum.reporting.progress import progress
    from vinculum.sandbox import Limits

    named = {backend: runtime(backend) for backend in backends}
    for asked in named.values():
        asked.check()  # All are checked before the first one runs, which takes time.
    limits = Limits(seconds=case_limit, memory=memory_limit << 20)
    shown = console()
    for place, backend in enumerate(backends):
        chosen = selected(named[backend])
        with progress(f"Asking {backend}", len(chosen)) as advance:
            found = fingerprint(
                backend,
                chosen,
                workers=workers,
                limits=limits,
                advance=lambda done, id: advance(done, id.element_type),
            )
        if in_json:
            print(json.dumps(as_json(found)), flush=True)
        else:
            shown.print(page(found, verbose=verbose, followed=place + 1 < len(backends)))
