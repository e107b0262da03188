"""SARIF 2.1.0, the form in which code hosts and editors show what was found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(runs: Sequence[dict[str, Any]]) -> str:
    """Return the document of runs."""
    whole = {"$schema": _SCHEMA, "version": "2.1.0", "runs": runs}
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"
