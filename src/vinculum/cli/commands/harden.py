"""``vinculum harden``: rewrite a model so that its divisions and remainders are right on a runtime, without crashes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from vinculum.cli.options import OneObject, OwnInputs, end, flag, tell, value
from vinculum.errors import AttributeValueError


def harden(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="An ONNX file (.onnx).")],
    runtime: Annotated[
        Literal["onnxruntime", "openvino", "portable"],
        value(
            "RUNTIME", "The runtime to harden for: onnxruntime, openvino or portable, any runtime.", "--for", "--target"
        ),
    ],
    output: Annotated[Path | None, value("FILE", "The file to write.", "--output", "-o")] = None,
    zero_divisor: Annotated[Literal["zero", "saturate"], typer.Option(help="The result of an integer x/0.")] = "zero",
    overflow: Annotated[Literal["wrap", "saturate"], typer.Option(help="The result of an integer MIN/-1.")] = "wrap",
    inputs: OwnInputs = None,
    dry_run: Annotated[bool, flag("Print the plan; run and write nothing.", "--dry-run")] = False,
    fix_exported: Annotated[
        bool, flag("Divide as integers where an exporter wrote Cast, float Div, Cast.", "--fix-exported")
    ] = False,
    in_json: OneObject = False,
) -> None:
    """Rewrite the divisions of a model that a runtime computes wrongly or crashes on, and validate each rewrite there.

    Exit code 1: a division or remainder that can crash the runtime remains, or a validation failed.
    """
    # Modules that import the onnx package are imported here, so that --help does not wait for them.
    from vinculum.cli.inputs import model_inputs
    from vinculum.cli.outputs import check_files
    from vinculum.models.source import read_source
    from vinculum.repair import harden_file
    from vinculum.reporting.models.rewriting import hardening_as_json, hardening_page
    from vinculum.reporting.progress import progress

    if output is None and not dry_run:
        raise AttributeValueError("give -o FILE to write the hardened model to, or --dry-run for the plan")
    check_files({"-o": output}, {})
    source = read_source(model)
    given = [model_inputs(source.model().inputs, inputs, 0).arrays] if inputs else []
    with progress("Validating", 0) as advance:
        hardened = harden_file(
            source,
            None if dry_run else output,
            runtime,
            zero_divisor=zero_divisor,
            overflow=overflow,
            fix_exported=fix_exported,
            inputs=given,
            advance=lambda done, total: advance(done, f"{done:,} of {total:,} models"),
        )
    written = None if dry_run else output
    tell(in_json, hardening_as_json, hardening_page, hardened, model, written)
    end(finds=bool(hardened.hardening.left))
