"""``vinculum spec`` and ``vinculum info``: the specification of the operators, and this installation."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.console import Group
from rich.text import Text

from vinculum.cli.options import DialectName, OneObject, flag, tell, value
from vinculum.errors import SpecLookupError
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.rows import find, find_version, rows_of, versions


def spec(
    name: Annotated[str | None, typer.Argument(help="Div, Reciprocal or Divide. Default: list all of them.")] = None,
    version: Annotated[int | None, value("N", "The operator's own version. Default: the newest.")] = None,
    against: Annotated[int | None, value("M", "Print what changed since this version.")] = None,
    dialect: DialectName = None,
    variant: Annotated[
        Literal["real", "float", "int"] | None, typer.Option(help="The variant of SONNX Div. Default: all.")
    ] = None,
    traced: Annotated[bool, flag("Print each clause's theorems, functions and tests.", "--trace")] = False,
    in_json: OneObject = False,
) -> None:
    """Print the specification of a division operator, its changes between versions, or the evidence for each clause."""
    # Imported here, as only these commands need them and every command imports this module.
    from vinculum.reporting import spec as pages
    from vinculum.spec.diff import difference

    if name is None:
        if traced or (version, against, variant) != (None, None, None):
            raise SpecLookupError(
                "--version, --against, --variant and --trace need an operator; give Div, Reciprocal or Divide"
            )
        tell(in_json, lambda rows: {"rows": [pages.as_json(row) for row in rows]}, pages.overview, rows_of(dialect))
    elif against is not None:
        if traced:
            raise SpecLookupError("--against compares two versions, --trace follows the clauses of one; leave one out")
        old = find_version(name, against, dialect=dialect, variant=variant)
        diff = difference(old, _rows(name, version, dialect, variant)[0])
        tell(in_json, pages.difference_as_json, pages.difference_page, diff)
    else:
        rows = _rows(name, version, dialect, variant)
        as_page, as_object = (pages.trace_page, pages.trace_as_json) if traced else (pages.page, pages.as_json)
        parts = [part for row in rows for part in (as_page(row), Text(""))]
        objects = [as_object(row) for row in rows]
        tell(in_json, lambda: objects[0] if len(objects) == 1 else {"rows": objects}, lambda: Group(*parts[:-1]))


def _rows(name: str, version: int | None, dialect: str | None, variant: str | None) -> tuple[OperatorSpec, ...]:
    if version is not None:
        return (find_version(name, version, dialect=dialect, variant=variant),)
    named = versions(name, dialect=dialect)
    if named[0].dialect is Dialect.SONNX and variant is None:
        return named
    return (find(name, dialect=dialect, variant=variant),)


def info(in_json: OneObject = False) -> None:
    """Print the version, the backend and its target, the threads, and which runtimes are installed."""
    from vinculum.conformance.run.installation import installation
    from vinculum.reporting.info_page import page
    from vinculum.reporting.plain import plain

    tell(in_json, plain, page, installation())
