"""What `print` and notebooks show of a record: the page that the command line prints of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType

_HTML_WIDTH = 100
_IN_HTML = '<pre style="white-space: pre; overflow-x: auto; line-height: normal">{code}</pre>'


def text(record: object) -> str:
    """Return a record's page as text, as wide as the terminal."""
    file = StringIO()
    Console(file=file, highlight=False, color_system=None, force_jupyter=False).print(_page(record))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def html(record: object) -> str:
    """Return a record's page as HTML."""
    console = Console(file=StringIO(), highlight=False, record=True, width=_HTML_WIDTH, force_jupyter=False)
    console.print(_page(record))
    return console.export_html(inline_styles=True, code_format=_IN_HTML)


def _page(record: object) -> RenderableType:
    kind = type(record)
    room = kind.__module__.split(".")[1]
    return _PAGES[f"{room}.{kind.__name__}"](record)


def _check(report: Any) -> RenderableType:
    from vinculum.analysis.triage import sorted_out
    from vinculum.reporting.check.page import page

    return page(sorted_out(report, report.model))


def _trace(report: Any) -> RenderableType:
    from vinculum.reporting.check.trace import Traced, page

    return page(Traced(report.model, (), None, report))


def _audit(audit: Any) -> RenderableType:
    from vinculum.reporting.models.audit import page

    return page(audit, (), None)


def _conversion(conversion: Any) -> RenderableType:
    from vinculum.reporting.models.convert import page

    return page(conversion, Path("before"), Path("after"))


def _fixed(fixed: Any) -> RenderableType:
    from vinculum.reporting.check.fixes import lines

    return Group(*lines(fixed))


def _hardening(hardened: Any) -> RenderableType:
    from vinculum.reporting.models.harden import page

    return page(hardened, Path("the model"), Path("the hardened model"))


def _model(model: Any) -> RenderableType:
    from vinculum.reporting.models.model import page

    return page(model)


def _quotients(report: Any) -> RenderableType:
    from vinculum.reporting.divide import page

    return page(report)


_PAGES: Mapping[str, Callable[[Any], RenderableType]] = {
    "analysis.Report": _check,
    "analysis.TraceReport": _trace,
    "conformance.Audit": _audit,
    "models.FileConversion": _conversion,
    "models.Model": _model,
    "models.Rewritten": lambda rewritten: _page(rewritten.report),
    "repair.Fixed": _fixed,
    "repair.HardenedFile": _hardening,
    "stored.Report": _quotients,
}
"""By the room and the name of the record."""
