"""``vinculum info``: what divides here, and which runtimes there are; reports of mistakes should begin with it."""

from __future__ import annotations

from vinculum.cli.answers import tell
from vinculum.cli.options import OneObject


def info(
    in_json: OneObject = False,
) -> None:
    """Print the version, the backend and its target, the threads, and which runtimes are installed."""
    # NumPy is not imported for a page of help.
    from vinculum.conformance.execute.installation import installation
    from vinculum.reporting.info_page import as_json, page

    tell(in_json, as_json, page, installation())
