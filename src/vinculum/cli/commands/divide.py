"""``vinculum divide``: divide two stored arrays into a third, in bounded memory, by a resumable job."""

from __future__ import annotations

from dataclasses import asdict
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.filesize import decimal

from vinculum.cli.options import (
    ClusterAddress,
    DialectName,
    OneObject,
    ZeroDivisorPolicy,
    policies_advised,
    tell,
    value,
)
from vinculum.errors import SpecLookupError
from vinculum.ops.policies import Overflow
from vinculum.spec.rows import find_version

if TYPE_CHECKING:
    from vinculum.spec.element_types import ElementType


def divide(
    a: Annotated[str, typer.Argument(metavar="A", help="The dividend: NAME.npy, NAME.zarr or NAME.h5:/DATASET.")],
    output: Annotated[str, value("C", "Where to write the quotients, as for A.", "--output", "-o")],
    b: Annotated[str | None, typer.Argument(metavar="B", help="The divisor; left out for Reciprocal.")] = None,
    operator: Annotated[str, value("NAME", "Div, Divide or Reciprocal.")] = "Div",
    version: Annotated[int | None, value("N", "The operator's own version. Default: the newest.")] = None,
    dialect: DialectName = None,
    variant: Annotated[Literal["float", "int"] | None, typer.Option(help="The variant of SONNX Div.")] = None,
    axis: Annotated[int | None, value("N", "Attribute of Div-1, Div-6 and Divide.")] = None,
    broadcast: Annotated[int | None, value("0|1", "Attribute of Div-1 and Div-6.")] = None,
    m_pythondiv: Annotated[
        Literal["true", "false"] | None, typer.Option(help="Attribute of Divide: whether integers are floored.")
    ] = None,
    auto_broadcast: Annotated[
        Literal["numpy", "none", "pdpd"] | None, typer.Option(help="Attribute of Divide.")
    ] = None,
    zero_divisor: ZeroDivisorPolicy = "raise",
    overflow: Annotated[
        Overflow | None,
        typer.Option(help="The result of an integer MIN/-1. Default: wrap; for SONNX, which has these two, raise."),
    ] = None,
    element_type: Annotated[
        str | None,
        value("TYPE", "Element type of raw bytes: bfloat16, float8_e4m3fn, float8_e5m2, int4, uint4.", "--type"),
    ] = None,
    task_size: Annotated[
        int | None, value("MIB", "How much of C each task computes. Default: 32, on a cluster 256.", min=1)
    ] = None,
    cluster: ClusterAddress = None,
    in_json: OneObject = False,
) -> None:
    """Divide two stored arrays into a third, however large, by ONNX Div-14 or another operator.

    C appears when it is complete. After an interruption, the same command continues the job.
    """
    # Modules that import numpy are imported here, so that --help does not wait for them.
    from vinculum.ops.operator import Operator
    from vinculum.reporting.progress import progress
    from vinculum.reporting.shown import quotients_page
    from vinculum.stored import divide as divide_stored
    from vinculum.stored.workers import client_of

    row = None if version is None else find_version(operator, version, dialect=dialect, variant=variant)
    prepared = Operator(
        operator,
        opset=None if row is None else row.since_version,
        dialect=dialect,
        variant=variant,
        axis=axis,
        broadcast=broadcast,
        m_pythondiv=None if m_pythondiv is None else m_pythondiv == "true",
        auto_broadcast=auto_broadcast,
        zero_divisor=zero_divisor,
        overflow=overflow,
    )
    raw_type = None if element_type is None else _raw_type(element_type)
    start = perf_counter()
    with policies_advised(), client_of(cluster) as client, progress("Dividing", 1000) as advance:
        report = divide_stored(
            a,
            b,
            output,
            operator=prepared,
            element_type=raw_type,
            task_bytes=None if task_size is None else task_size << 20,
            client=client,
            advance=lambda done, size: advance(1000 * done // max(1, size), f"{decimal(done)} of {decimal(size)}"),
        )
    seconds = perf_counter() - start
    told = {"a": a, "b": b, "output": output, **asdict(report), "seconds": seconds}
    tell(in_json, lambda: told, lambda: quotients_page(report, output, seconds))


def _raw_type(name: str) -> ElementType:
    from vinculum.stored.arrays import UNNAMED

    for element_type in UNNAMED:
        if name in (element_type.name, element_type.numpy):
            return element_type
    allowed = ", ".join(element_type.numpy for element_type in UNNAMED)
    raise SpecLookupError(f"--type is {name!r}; allowed: {allowed} (files name all other types themselves)")
