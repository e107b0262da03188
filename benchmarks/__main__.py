"""Measure divisions in Vinculum and in every installed package: ``python -m benchmarks``, or ``make bench``."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer
from msgspec import MsgspecError
from rich.console import Console
from rich.markdown import Markdown

from benchmarks.compare import plot, results
from benchmarks.compare.cells import every_cell, quick_cells
from benchmarks.compare.measuring import measure
from benchmarks.compare.page import page, whole
from benchmarks.compare.peers import installed
from benchmarks.compare.results import Report
from vinculum.kernels.threads import get_threads
from vinculum.reporting.progress import progress

_WIDTH = 120  # Columns of a table with every peer.


def main(
    to: Annotated[Path | None, typer.Option(metavar="NAME", help="Write NAME.json, NAME.md and NAME.svg.")] = None,
    stored: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Report this JSON file of a run; measure nothing.")
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Show this JSON file of a run too, in NAME.md. Repeatable."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few small cells: half a minute.")] = False,
    only: Annotated[
        str, typer.Option(metavar="PATTERN", help="Cells that contain this, such as 'Div, int*, row, 1,000,000 '.")
    ] = "",
    rounds: Annotated[int, typer.Option(min=1, help="Turns of each peer in a cell.")] = 3,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads per peer; otherwise what we would use.")] = None,
) -> None:
    """Measure every operator, element type and shape in Vinculum, the installed packages and a plain pass over memory.

    Exit code 1: a quotient of Vinculum's is wrong.
    """
    others = [_read(file) for file in beside or ()]
    report = _measured(quick, only, rounds, threads or get_threads()) if stored is None else _read(stored)
    if to is None:
        Console(width=max(_WIDTH, Console().width)).print(Markdown(whole(report)))
    else:
        to.parent.mkdir(parents=True, exist_ok=True)
        _write(to, ".json", results.text(report))  # First: with it what fails below can be done again.
        _write(to, ".md", page(report, to.name, others))
        _write(to, ".svg", plot.svg(report))
    if not report.is_sound:
        sys.exit(1)


def _measured(quick: bool, only: str, rounds: int, threads: int) -> Report:
    cells = [cell for cell in (quick_cells() if quick else every_cell()) if fnmatchcase(str(cell), f"*{only}*")]
    if not cells:
        sys.exit(f"no cell contains {only!r}; cells are called '{every_cell()[0]}'")
    with progress("Measuring", len(cells)) as advance:
        return measure(cells, installed(), threads=threads, rounds=rounds, advance=advance)


def _write(to: Path, ending: str, text: str) -> None:
    to.with_name(f"{to.name}{ending}").write_text(text, encoding="utf-8", newline="\n")


def _read(stored: Path) -> Report:
    try:
        return results.read(stored)
    except (OSError, MsgspecError) as error:
        sys.exit(f"{stored} is no record of a run: {error}")


if __name__ == "__main__":
    typer.run(main)
