"""The templates of self-contained pages, whose policy admits the script of the page alone."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment(package: str) -> Environment:
    """Return what reads the templates of a package: they escape all text, and a missing value is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["sha256"] = _sha256
    return made


def _sha256(script: str) -> str:
    """Return the digest by which a page's policy admits its script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
