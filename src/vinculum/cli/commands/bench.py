"""``vinculum bench``: measure the time of divisions in Vinculum and in the installed packages."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vinculum.cli.answers import end
from vinculum.errors import AttributeValueError
from vinculum.reporting.console import console
from vinculum.text import did_you_mean

if TYPE_CHECKING:
    from vinculum.benchmarking.cells import Cell
    from vinculum.benchmarking.results import Report

_SIZES = "16,1000000"
_ROUNDS = 5
_LARGEST_SIZE = 1 << 40  # Quotients of a division.
_LARGEST_RUN = 64 << 20  # Bytes of a saved run.


def bench(
    types: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="int8 ... uint64, float16, bfloat16, float32, float64. Default: all."),
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(metavar="LIST", help=f"Approximate quotients per division. Default: {_SIZES}.")
    ] = None,
    shapes: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="equal, scalar-divisor, scalar-dividend, row, column, channel, outer. Default: equal.",
        ),
    ] = None,
    operators: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", help="Div, Divide (floor, for signed integers), Reciprocal (of floats). Default: all."
        ),
    ] = None,
    peers: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="numpy, torch, onnxruntime, openvino, numexpr, jax or package.module:Class. Default: all installed.",
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Every shape, and sizes up to 16,000,000; takes half an hour or more.")
    ] = False,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, max=1000, metavar="N", help=f"Measurements per peer and cell. Default: {_ROUNDS}."),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Threads per peer. Default: Vinculum's own choice."),
    ] = None,
    stored: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Report a saved --json file without measuring.")
    ] = None,
    machine: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write everything as JSON; - prints it instead.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw a plot to this file; needs vinculum\\[bench].")
    ] = None,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a Markdown page to this file.")] = None,
) -> None:
    """Measure divisions in Vinculum and in every installed peer, and the memory-bandwidth limit.

    In a LIST, names are separated by commas. Exit codes: 0; 1 if a quotient of Vinculum's is wrong; 2: wrong usage.
    """
    # Here and below: modules that import numpy are imported in functions, so that --help does not wait for them.
    from vinculum.cli.report_files import check_files

    printed = machine is not None and str(machine) == "-"
    given = {"--types": types, "--sizes": sizes, "--shapes": shapes, "--operators": operators, "--peers": peers}
    written = {"--json": None if printed else machine, "--svg": svg, "--markdown": markdown}
    check_files(written, {"--from": [stored] if stored is not None else []})
    if svg is not None:
        from vinculum.reporting.bench.plot import check_matplotlib

        check_matplotlib()
    if stored is not None:
        _refuse("--from", {**given, "--rounds": rounds, "--threads": threads, "--full": full or None})
        report = _read(stored)
    else:
        if full:
            _refuse("--full", {"--sizes": sizes, "--shapes": shapes})
        report = _measured(_cells(types, sizes, shapes, operators, full), peers, threads, rounds or _ROUNDS)
    _write(report, None if printed else machine, svg, markdown)
    _print(report, printed)
    end(finds=not report.is_sound)


def _refuse(option: str, others: dict[str, object]) -> None:
    for other, value in others.items():
        if value is not None:
            raise AttributeValueError(f"{option} and {other} exclude each other; give one of them")


def _cells(
    types: str | None, sizes: str | None, shapes: str | None, operators: str | None, full: bool
) -> tuple[Cell, ...]:
    from vinculum.benchmarking.cells import OPERATORS, SHAPES, TYPES, cells, every_cell

    chosen = _names("--operators", operators, OPERATORS), _names("--types", types, TYPES)
    if full:
        return every_cell(*chosen)
    named = _names("--shapes", shapes, SHAPES) if shapes is not None else ["equal"]
    return cells(*chosen, named, _numbers("--sizes", _SIZES if sizes is None else sizes))


def _names(option: str, given: str | None, allowed: Iterable[str]) -> list[str]:
    """Return the names in a list without repetitions; without a list, all allowed names."""
    allowed = list(allowed)
    if given is None:
        return allowed
    names = [name.strip() for name in given.split(",")]
    for name in names:
        if name not in allowed:
            hint = did_you_mean(name.lower(), allowed)
            raise AttributeValueError(f"{option} has {name!r}; allowed: {', '.join(allowed)}{hint}")
    return list(dict.fromkeys(names))


def _numbers(option: str, given: str) -> list[int]:
    numbers = []
    for part in given.split(","):
        text = part.strip()
        if not (text.isascii() and text.isdecimal() and 1 <= int(text[:20]) <= _LARGEST_SIZE):
            raise AttributeValueError(f"{option} has {text!r}; allowed: whole numbers from 1 to {_LARGEST_SIZE}")
        numbers.append(int(text))
    return list(dict.fromkeys(numbers))


def _measured(cells: tuple[Cell, ...], peers: str | None, threads: int | None, rounds: int) -> Report:
    from vinculum.benchmarking.measuring import measure
    from vinculum.benchmarking.peers.registry import checked_peers
    from vinculum.kernels.threads import get_threads, usable_processors
    from vinculum.reporting.progress import progress

    asked = checked_peers([name.strip() for name in peers.split(",")] if peers is not None else [])
    if threads is not None and threads > usable_processors():
        raise AttributeValueError(
            f"--threads {threads} is more than the {usable_processors()} processors that this process may use; "
            "give fewer"
        )
    with progress("Measuring", len(cells)) as advance:
        return measure(cells, asked, threads=threads or get_threads(), rounds=rounds, advance=advance)


def _read(stored: Path) -> Report:
    from vinculum.files import read_text
    from vinculum.reporting.bench.json_file import report_of

    return report_of(read_text(stored, _LARGEST_RUN, "a file written by --json"), repr(str(stored)))


def _write(report: Report, machine: Path | None, svg: Path | None, markdown: Path | None) -> None:
    from os.path import relpath

    from vinculum.cli.report_files import write_files
    from vinculum.reporting.bench import json_file, plot
    from vinculum.reporting.bench.markdown import document

    files: dict[Path, str] = {}
    if machine is not None:
        files[machine] = json_file.text(report)
    if svg is not None:
        files[svg] = plot.svg(report)
    if markdown is not None:
        figure = None if svg is None else Path(relpath(svg, markdown.parent)).as_posix()
        files[markdown] = document(report, figure)
    write_files(files)


def _print(report: Report, printed: bool) -> None:
    from vinculum.reporting.bench import json_file, page

    if printed:
        print(json_file.text(report), end="")
        return
    shown = console()
    shown.print(page.page(report, shown.width), crop=False)
