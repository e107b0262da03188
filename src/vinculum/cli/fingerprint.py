"""``vinculum fingerprint``: how a runtime computes its quotients, in words, in a second or two."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from vinculum.reporting.console import console


def fingerprint(
    backends: Annotated[
        list[str],
        typer.Argument(
            metavar="BACKEND...",
            help="onnxruntime, openvino, onnx-reference, torch, numpy, jax, vinculum, or package.module:attribute of "
            "any ONNX backend. Options in brackets, in quotes for the shell: 'torch\\[device=cuda]'.",
            show_default=False,
        ),
    ],
    machine: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each backend.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show details and an example of each.")] = False,
) -> None:
    """Tell how a runtime computes its quotients: a dozen probes, a line each.

    Differences from the specification are marked, but are no failure: the exit code is 0.
    """
    # Nothing of the runtimes is imported for a page of help.
    from vinculum.conformance.fingerprint import PROBES, fingerprint
    from vinculum.conformance.runtimes.registry import runtime
    from vinculum.reporting.fingerprint_page import as_json, page
    from vinculum.reporting.progress import progress

    for backend in backends:
        runtime(backend).check()  # Before any of them takes its time.
    shown = console()
    for place, backend in enumerate(backends):
        with progress(f"Probing {backend}", len(PROBES)) as advance:
            found = fingerprint(backend, advance=advance)
        if machine:
            print(json.dumps(as_json(found)), flush=True)
        else:
            shown.print(page(found, verbose=verbose, followed=place + 1 < len(backends)))
