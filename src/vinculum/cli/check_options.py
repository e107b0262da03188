"""The options of ``vinculum check``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from vinculum.errors import AttributeValueError, ModelError
from vinculum.text import quoted

Models = Annotated[
    list[Path], typer.Argument(metavar="MODEL...", help="ONNX files, or programs of torch.export (.pt2).")
]
Assume = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=LOW:HIGH",
        help="The range of an input or a named dimension: LOW:HIGH, 0|1, or NAME>=LOW. Repeat for each.",
    ),
]
AsType = Annotated[
    Literal["float16", "bfloat16"] | None,
    typer.Option("--as", help="Check a float32 model as if it were converted to this type."),
]
Calibrate = Annotated[
    Path | None,
    typer.Option(metavar="FILE.npz", help="Typical inputs, whose ranges are taken and widened by half."),
]
Weights = Annotated[
    Literal["stored", "unknown"],
    typer.Option(
        help="unknown: large weights in other files may be any finite numbers; these files need not be there."
    ),
]
Profile = Annotated[
    list[str] | None,  # typer takes no lists of choices
    typer.Option(
        metavar="NAME",
        help="A property of the target. sonnx: SONNX's constraints; flushing: subnormal numbers become 0; "
        "narrowing: integers are narrowed.",
    ),
]
Runs = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="The most runs per finding in the search for inputs that show it; 0: no search.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Seed of that search.")]
WitnessFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Write the inputs that show each finding to this folder: an .npz file and a script."
    ),
]
SarifFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a SARIF report to this file.")]
HtmlFile = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a page with a picture of the model's graph to this file."),
]
FixedFile = Annotated[
    Path | None,
    typer.Option(
        "--fix", metavar="FILE", help="Write the model to this file with the least guard that removes each finding."
    ),
]
Domains = Annotated[
    bool, typer.Option("--domains", help="Also find logarithms, roots and others of what lies outside of their domain.")
]
Explain = Annotated[
    str | None,
    typer.Option("--explain", metavar="NODE", help="Also print how the bounds at a node of the main graph come about."),
]
Suppress = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Accepted findings, each with a reason and an expiry date, in TOML."),
]
Baseline = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Leave out the findings of this earlier report, JSON or SARIF."),
]
FailOn = Annotated[
    Literal["certain", "possible"],
    typer.Option("--fail-on", help="Fail on findings of this severity or a more certain one."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Also fail if a divisor can be zero because of an unknown operator.")
]
Errors = Annotated[
    bool, typer.Option("--accuracy", help="Also bound the absolute error of each division and each output.")
]
InputErrors = Annotated[
    list[str] | None,
    typer.Option(
        "--input-error",
        metavar="NAME=ERROR",
        help="With --accuracy: the largest absolute error of an input. Default: 0. Repeat for each.",
    ),
]


@dataclass(frozen=True)
class Files:
    """The files that options name."""

    sarif: Path | None
    html: Path | None
    fix: Path | None
    suppress: Path | None
    baseline: Path | None
    witness: Path | None

    def check(self, models: Sequence[Path], runs: int, *, in_json: bool) -> None:
        """Refuse files that cannot be written, and options that exclude each other."""
        from vinculum.cli.outputs import check_files

        if in_json and len(models) > 1:
            raise AttributeValueError(
                f"--json reports one model, and {len(models)} are given; give one, or use --sarif"
            )
        if self.fix is not None and len(models) > 1:
            raise AttributeValueError(f"--fix writes one model, and {len(models)} are given; give one")
        if self.fix is not None and self.fix.suffix.lower() in (".xml", ".pt2"):
            raise ModelError(f"--fix {str(self.fix)!r}: a fixed model is an ONNX file; give a name that ends in .onnx")
        if self.witness is not None:
            _check_folder(self.witness, runs)
        read = {"MODEL": models, "--suppress": [p for p in (self.suppress,) if p is not None]}
        check_files({"--sarif": self.sarif, "--html": self.html, "--fix": self.fix}, read)


def _check_folder(witness: Path, runs: int) -> None:
    if not runs:
        raise AttributeValueError("--witness needs runs, and --runs 0 allows none; leave one of them out")
    if witness.exists() and not witness.is_dir():
        raise ModelError(f"--witness {str(witness)!r} is not a folder; give the name of one")
    if not witness.absolute().parent.is_dir():
        folder = str(witness.parent)
        raise ModelError(f"--witness {str(witness)!r} cannot be made: there is no folder {folder!r}; make it")


def input_errors(texts: Sequence[str], bounds: bool, as_type: str | None) -> dict[str, float]:
    """Return the errors given as ``NAME=ERROR``, by name."""
    if texts and not bounds:
        raise AttributeValueError("--input-error is for --accuracy; give both")
    if bounds and as_type is not None:
        raise AttributeValueError("--accuracy is about the model's own element types; leave --as out")
    errors: dict[str, float] = {}
    for text in texts:
        name, sign, number = text.rpartition("=")
        try:
            errors[name] = float(number)
        except ValueError:
            sign = ""
        if not sign or not name:
            raise AttributeValueError(f"--input-error {quoted(text)} is not of the form NAME=ERROR, a number")
    return errors
