"""Helpers of all formats: values for JSON, the frame of SARIF, and the templates of HTML pages."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from vinculum.reporting.escape import one_line, short
from vinculum.spec.element_types import ElementType

if TYPE_CHECKING:
    from jinja2 import Environment


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it.

    A record is an object of its fields, an enumeration its value and an element type its name; infinities and NaN,
    which JSON lacks, are strings.
    """
    if isinstance(value, ElementType):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return part(value, *(field.name for field in fields(value))) if is_dataclass(value) else value


def part(record: object, *names: str) -> dict[str, Any]:
    """Return some attributes of a record under their own names."""
    return {name: plain(getattr(record, name)) for name in names}


def sarif(runs: Sequence[dict[str, Any]]) -> str:
    """Return a SARIF 2.1.0 document of runs, which code hosts and editors show."""
    whole = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": runs}
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"


def rendered(package: str, template: str, filters: Mapping[str, Callable[..., Any]], **given: Any) -> str:
    """Render a template of a package; all calls for one package must pass the same filters.

    Pages are self-contained, and their security policy allows only the script of the page, by its digest.
    """
    pages = _environment(package)
    pages.filters.update(filters, short=short, one_line=one_line, sha256=_sha256)
    return pages.get_template(template).render(given)


@cache
def _environment(package: str) -> Environment:
    """Return the reader of templates: HTML is escaped, and a missing value is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    return Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
