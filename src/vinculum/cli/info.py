"""``vinculum info``: what divides here, and which runtimes there are; reports of mistakes should begin with it."""

from __future__ import annotations

import json

from vinculum.cli.options import OneObject
from vinculum.reporting.console import console


def info(
    in_json: OneObject = False,
) -> None:
    """Print the version, the backend and its target, the threads, and which runtimes are installed."""
    # NumPy is not imported for a page of help.
    from vinculum.conformance.execute.installation import installation
    from vinculum.reporting.info_page import as_json, page

    found = installation()
    if in_json:
        print(json.dumps(as_json(found), indent=2))
    else:
        console().print(page(found))
