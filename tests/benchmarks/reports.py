"""A run made by hand, in which peers have every kind of outcome."""

from __future__ import annotations

from msgspec.structs import replace

from benchmarks.compare.cells import TYPES, Cell
from benchmarks.compare.results import Outcome, Report, Row

TITLES = {
    "vinculum": "Vinculum",
    "numpy": "NumPy",
    "torch": "PyTorch",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "numexpr": "numexpr",
    "jax": "JAX",
    "limit": "the plain pass over memory",
}
PEERS = tuple(name for name in TITLES if name not in ("vinculum", "limit"))


def report() -> Report:
    """Return a run of Div of all types, of 16 elements and of a million, and one cell in another shape."""
    cells = [Cell("Div", name, "equal", size) for size in (16, 1_000_000) for name in TYPES]
    return Report(
        date="2026-01-31",
        threads=2,
        rounds=5,
        others=0.01,
        machine={"processor": "a processor", "cores": "2", "system": "a_system"},
        titles=TITLES,
        single_threaded=("numpy",),
        versions={"numpy": "2.4.6", "torch": "2.13.0"},
        rows=(*(Row(cell, _outcomes(cell)) for cell in cells), _odd(Cell("Div", "uint8", "channel", 1_000_000))),
    )


def changed(**outcomes: Outcome) -> Report:
    """Return a run of one cell, in which some peers have other outcomes."""
    first = report().rows[0]
    return replace(report(), rows=(Row(first.cell, first.outcomes | outcomes),))


def steady(time: float, *, exact: bool = True) -> Outcome:
    """Return the outcome of a peer that takes a time, plus or minus a tenth."""
    return Outcome(tuple(time * factor for factor in (0.9, 1.0, 1.0, 1.1)), exact)


def _outcomes(cell: Cell) -> dict[str, Outcome]:
    width = cell.type.bits / 64
    return {
        "vinculum": steady(2 * width),
        "numpy": Outcome(reason="it has no truncating division") if cell.element_type[0] == "i" else steady(8 * width),
        "torch": steady((1.5 if cell.size == 16 else 6) * width),
        "onnxruntime": steady(1234 * width),
        "openvino": steady(1.75 * width, exact=False),
        "numexpr": Outcome(reason="unknown type bfloat16") if cell.element_type == "bfloat16" else steady(9 * width),
        "jax": steady(7 * width),
        "limit": steady(1.6 * width),
    }


def _odd(cell: Cell) -> Row:
    """Return a row in which almost nothing was measured."""
    gone = {name: Outcome(reason="no\x1b[31m\n`way`|") for name in PEERS}
    gone["torch"] = Outcome(reason="crashed with SIGFPE", ended=True)
    gone["openvino"] = steady(0.1, exact=False)
    return Row(cell, {"vinculum": steady(0.123456), **gone, "limit": steady(0.1)})
