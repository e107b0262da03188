"""``vinculum info``: print the backend that divides and the installed runtimes, for bug reports."""

from __future__ import annotations

from vinculum.cli.answers import tell
from vinculum.cli.options import OneObject


def info(
    in_json: OneObject = False,
) -> None:
    """Print the version, the backend and its target, the threads, and which runtimes are installed."""
    # Modules that import NumPy are imported here, so that --help does not wait for them.
    from vinculum.conformance.run.installation import installation
    from vinculum.reporting.info_page import page
    from vinculum.reporting.plain import plain

    tell(in_json, plain, page, installation())
