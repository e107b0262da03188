"""A benchmark's report made by hand: everything that can become of a peer, in a few cells."""

from __future__ import annotations

from dataclasses import replace

from vinculum.benchmarking.cells import TYPES, Cell, cells
from vinculum.benchmarking.results import Measured, Missing, Outcome, Report, Row

HOSTILE = "tests:Evil|`<b>*\x1b[31m"

TITLES = {
    "vinculum": "Vinculum",
    "numpy": "NumPy",
    "torch": "PyTorch",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "numexpr": "numexpr",
    "jax": "JAX",
    HOSTILE: "Evil|`<b>*\x1b[31m",
    "limit": "the plain pass over memory",
}
PEERS = tuple(name for name in TITLES if name not in ("vinculum", "limit"))


def report(size: int = 1_000_000, *, others: float = 0.01) -> Report:
    """Return a run of Div of all types, of 16 elements and of a size, and one cell in another shape."""
    asked = (
        *cells(["Div"], list(TYPES), ["equal"], [16, size]),
        *cells(["Reciprocal"], ["float32"], ["equal"], [size]),
    )
    rows = (*(Row(cell, _outcomes(cell)) for cell in asked), _odd(Cell("Div", "uint8", "channel", size)))
    return Report(
        date="2026-01-31",
        machine={"processor": "a processor", "cores": "2", "system": "a_system"},
        titles=dict(TITLES),
        versions={"numpy": "2.4.6", "torch": "2.13.0"},
        threads=2,
        single=("numpy",),
        rounds=5,
        others=others,
        rows=rows,
    )


def one_wrong(wrong: Outcome) -> Report:
    """Return a run in whose first cell something became of ours."""
    made = report()
    first, *rest = made.rows
    return replace(made, rows=(replace(first, outcomes={**first.outcomes, "vinculum": wrong}), *rest))


def steady(time: float, *, exact: bool = True) -> Measured:
    """Return what is measured of a peer that takes a time, give or take a tenth."""
    return Measured(exact, tuple(time * factor for factor in (0.9, 1.0, 1.0, 1.1)))


def _outcomes(cell: Cell) -> dict[str, Outcome]:
    width = TYPES[cell.element_type].bits / 64
    return {
        "vinculum": steady(2 * width),
        "numpy": steady(8 * width) if cell.element_type[0] != "i" else Missing("it has no truncating division"),
        "torch": steady(1.5 * width) if cell.size == 16 else steady(6 * width),
        "onnxruntime": steady(1234 * width),
        "openvino": steady(1.75 * width, exact=False),
        "numexpr": Missing("unknown type bfloat16") if cell.element_type == "bfloat16" else steady(9 * width),
        "jax": steady(7 * width),
        HOSTILE: steady(10 * width),
        "limit": steady(1.6 * width),
    }


def _odd(cell: Cell) -> Row:
    """Return a row in which almost nothing was measured."""
    gone: dict[str, Outcome] = {name: Missing("no\x1b[31m\nway") for name in PEERS}
    gone["torch"] = Missing("crashed with SIGFPE", ended=True)
    gone["openvino"] = steady(0.1, exact=False)
    return Row(cell, {"vinculum": steady(0.123456), **gone, "limit": steady(0.1)})
