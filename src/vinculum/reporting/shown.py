"""The text and HTML of a record in `print` and notebooks: the page that the command line prints."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.filesize import decimal
from rich.text import Text

from vinculum.reporting.escape import escaped
from vinculum.reporting.terminal import counted
from vinculum.text import shape_text

if TYPE_CHECKING:
    from vinculum.stored import Report

_HTML_WIDTH = 100
_IN_HTML = '<pre style="white-space: pre; overflow-x: auto; line-height: normal">{code}</pre>'


def text(record: object) -> str:
    """Return a record's page as text, as wide as the terminal."""
    file = StringIO()
    Console(file=file, highlight=False, color_system=None, force_jupyter=False).print(_page(record), crop=False)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def html(record: object) -> str:
    """Return a record's page as HTML."""
    console = Console(file=StringIO(), highlight=False, record=True, width=_HTML_WIDTH, force_jupyter=False)
    console.print(_page(record), crop=False)
    return console.export_html(inline_styles=True, code_format=_IN_HTML)


def _page(record: object) -> RenderableType:
    kind = type(record)
    place, more = PAGES[f"{kind.__module__.split('.')[1]}.{kind.__name__}"]
    module, _, name = place.rpartition(".")
    page: RenderableType = getattr(import_module(f"vinculum.reporting.{module}"), name)(record, *more)
    return page


def rewritten_page(rewritten: Any) -> RenderableType:
    """Return the page of the report on a rewritten model."""
    return _page(rewritten.report)


def quotients_page(report: Report, output: str = "quotients", seconds: float | None = None) -> RenderableType:
    """Return the result of a division of stored arrays as a page: the new array, its blocks, and the time."""
    before = f", {report.resumed:,} of them by an earlier run" if report.resumed else ""
    made = f"{escaped(output)}: {report.element_type}, shape {shape_text(report.shape)}, {decimal(report.bytes)}"
    time = "" if seconds is None else f", {seconds:.1f} s"
    return Text(f"{made}\n{report.operator}, {counted(report.blocks, 'block')}{before}{time}")


PAGES: Mapping[str, tuple[str, tuple[object, ...]]] = {
    "analysis.Report": ("check.page.report_page", ()),
    "analysis.TraceReport": ("check.trace.page", ()),
    "conformance.Audit": ("models.audit.page", ((), None)),
    "models.FileConversion": ("models.rewriting.conversion_page", (Path("before"), Path("after"))),
    "models.Model": ("models.run.model_page", ()),
    "models.Rewritten": ("shown.rewritten_page", ()),
    "repair.Fixed": ("check.page.fix_page", ()),
    "repair.HardenedFile": ("models.rewriting.hardening_page", (Path("the model"), Path("the hardened model"))),
    "stored.Report": ("shown.quotients_page", ()),
}
"""By the package and name of a record: the function that makes its page, imported on use, and its other arguments."""
