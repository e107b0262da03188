"""``vinculum vectors``: export the cases as files for programs without Python, and judge such programs' answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from vinculum.cli.answers import end
from vinculum.cli.options import level_asked

vectors = typer.Typer(
    name="vectors", no_args_is_help=True, help="Export the cases of conform as files, or judge answers to them."
)

_MOST = 20
_ONLY_HELP = "{} only cases whose id matches, such as 'Div-14/int64/*'. May be repeated."


@vectors.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write; empty or new.")],
    form: Annotated[
        Literal["onnx", "jsonl", "testfloat", "npy"],
        typer.Option(
            "--format",
            help="onnx: folders of node tests. jsonl: lines, and the conventions of other specifications. testfloat: "
            "lines of Berkeley TestFloat. npy: NumPy files.",
            show_default=False,
        ),
    ],
    only: Annotated[list[str] | None, typer.Option(metavar="GLOB", help=_ONLY_HELP.format("Write"))] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer cases.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Every case.")] = False,
) -> None:
    """Export the cases of conform, with the exact quotients, for programs without Python.

    Every export holds index.json with a digest of each file, cases.jsonl with a line for each case, and schemas.
    """
    level = level_asked(quick, full)
    from vinculum.conformance.cases.case import Level
    from vinculum.conformance.vectors.export import check_empty
    from vinculum.conformance.vectors.export import export as written
    from vinculum.reporting.escape import escaped
    from vinculum.reporting.progress import progress

    check_empty(folder)
    with progress("Writing", 0) as advance:
        index = written(
            folder,
            form,
            Level(level or "default"),
            tuple(only or ()),
            advance=lambda done, id: advance(done, f"{done:,} cases, {id.row}/{id.element_type}"),
        )
    told = ", ".join(f"{count:,} {name}" for name, count in index.cases.items())
    size = sum(file.bytes for file in index.files)
    print(f"{escaped(str(folder))}: {told}; {len(index.files) + 1:,} files, {size / 1e6:,.1f} MB")


@vectors.command("judge")
def judge_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that vinculum vectors export wrote.")],
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS", help="A file of JSON lines, or a folder of NAME.npy files and answers.jsonl."
        ),
    ],
    only: Annotated[list[str] | None, typer.Option(metavar="GLOB", help=_ONLY_HELP.format("Judge"))] = None,
    in_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each case.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List every case that fails.")] = False,
) -> None:
    """Compare the answers of any program with the exact quotients, bit by bit.

    Exit codes: 0 if every case passes or is not supported; 1 if not; 2 for wrong usage.
    """
    from vinculum.conformance.vectors.judge import counts, judged
    from vinculum.reporting.conformance.words import message, verdict_sentence
    from vinculum.reporting.escape import escaped

    results = list(judged(folder, answers, tuple(only or ())))
    failing = [one for one in results if one.fails]

    if in_json:
        for one in results:
            kind, words = (
                ("not answered", "") if one.verdict is None else (one.verdict.kind.value, message(one.verdict))
            )
            print(json.dumps({"id": one.id, "verdict": kind, "message": words, "fails": one.fails}))
    else:
        for one in failing if verbose else failing[:_MOST]:
            told = f"{one.verdict.kind.value}: {verdict_sentence(one.verdict)}" if one.verdict else "not answered"
            print(escaped(f"{one.id}: {told}"))
        if len(failing) > _MOST and not verbose:
            print(f"and {len(failing) - _MOST:,} more, which --verbose names")
        found = ", ".join(f"{count:,} {name}" for name, count in counts(results).items())
        print(f"{len(results):,} cases: {found}; {len(failing):,} fail")
    end(finds=bool(failing))
