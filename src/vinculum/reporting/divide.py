"""What ``vinculum divide`` tells: the array that was made, the number of blocks, and the time."""

from __future__ import annotations

from rich.console import RenderableType
from rich.filesize import decimal
from rich.text import Text

from vinculum.reporting.escape import escaped
from vinculum.reporting.terminal import counted
from vinculum.stored import Report
from vinculum.text import shape_text


def page(report: Report, output: str = "quotients", seconds: float | None = None) -> RenderableType:
    """Return a report as a page."""
    before = f", {report.resumed:,} of them by an earlier run" if report.resumed else ""
    made = f"{escaped(output)}: {report.element_type}, shape {shape_text(report.shape)}, {decimal(report.bytes)}"
    time = "" if seconds is None else f", {seconds:.1f} s"
    return Text(f"{made}\n{report.operator}, {counted(report.blocks, 'block')}{before}{time}")
