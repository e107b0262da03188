"""Measure what a quotient costs here, in NumPy, in PyTorch and in ONNX Runtime.

Every native element type, from sixteen elements to sixteen million, in six shapes, on one thread, results written
into memory that is there already. The ratio is to the fastest peer whose answer is exact, checked element by element.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before any peer is imported: one thread each

import ml_dtypes
import numpy as np
import numpy.typing as npt
import typer
from rich.console import Console
from rich.table import Table

import vinculum

Array = npt.NDArray[Any]
Call = Callable[[], object]

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
SIZES = (16, 1_000, 1_000_000, 16_000_000)
TARGETS = {
    **dict.fromkeys(("int8", "uint8"), 5.0),
    **dict.fromkeys(("int16", "uint16"), 4.0),
    **dict.fromkeys(("int32", "uint32"), 1.5),
    **dict.fromkeys(("int64", "uint64"), 2.0),
    **dict.fromkeys(FLOATS, 0.95),
}
ONNX_NAMES = {"float32": "FLOAT", "float64": "DOUBLE"}


def shapes(size: int) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the operands' shapes by name, for quotients of about `size` elements."""
    side = 4 if size == 16 else round(size**0.5 / 8) * 8
    image = {16: (1, 4, 2, 2), 1_000: (1, 10, 10, 10), 1_000_000: (4, 16, 125, 125)}.get(size, (16, 64, 125, 125))
    return {
        "equal": ((size,), (size,)),
        "scalar divisor": ((size,), (1,)),
        "scalar dividend": ((1,), (size,)),
        "row": ((side, side), (side,)),
        "column": ((side, side), (side, 1)),
        "(N,C,H,W)/(C,1,1)": (image, (image[1], 1, 1)),
    }


def operands(dtype: np.dtype[Any], a: tuple[int, ...], b: tuple[int, ...]) -> tuple[Array, Array]:
    """Draw operands that no peer dies of: no zero divisor, no MIN/-1; divisors of all magnitudes."""
    rng = np.random.default_rng(0)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        dividend = rng.integers(limits.min // 2, limits.max, a, dtype, endpoint=True)
        shift = rng.integers(0, limits.bits - 2, b).astype(dtype)
        divisor = rng.integers(1, limits.max, b, dtype, endpoint=True) >> shift
        sign = rng.choice([-1, 1], b) if dtype.kind == "i" else 1
        return dividend, np.where(divisor == 0, 1, divisor * sign).astype(dtype)
    return (rng.uniform(1, 2, shape).astype(dtype) for shape in (a, b))  # type: ignore[return-value]  # two of them


@dataclass
class Row:
    """One line of the table: nanoseconds an element."""

    dtype: str
    size: int
    shape: str
    ours: float
    peers: dict[str, float]
    inexact: set[str]

    @property
    def ratio(self) -> float | None:
        """How many times faster than the fastest exact peer; None without one."""
        exact = [time for name, time in self.peers.items() if name not in self.inexact]
        return min(exact) / self.ours if exact else None


def numpy_call(a: Array, b: Array, out: Array) -> Call | None:
    """NumPy has true division for floats, and floor division, which is exact for unsigned integers."""
    if a.dtype.kind == "i":
        return None
    divide = np.floor_divide if a.dtype.kind == "u" else np.divide
    return lambda: divide(a, b, out=out)


def torch_call(a: Array, b: Array, out: Array) -> Call | None:
    """PyTorch on the CPU; it lacks 16-, 32- and 64-bit unsigned division."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    carrier = np.int16 if a.dtype == ml_dtypes.bfloat16 else a.dtype
    x, y, z = (torch.from_numpy(array.view(carrier)) for array in (a, b, out))
    if a.dtype == ml_dtypes.bfloat16:
        x, y, z = (tensor.view(torch.bfloat16) for tensor in (x, y, z))
    mode = None if x.dtype.is_floating_point else "trunc"
    try:
        torch.div(x, y, rounding_mode=mode, out=z)
    except (NotImplementedError, RuntimeError):
        return None
    return lambda: torch.div(x, y, rounding_mode=mode, out=z)


def onnxruntime_call(a: Array, b: Array, out: Array) -> Call | None:
    """ONNX Runtime on the CPU, inputs and output bound once."""
    try:
        import onnxruntime
    except ImportError:
        return None
    from onnx import TensorProto, helper

    code = TensorProto.DataType.Value(ONNX_NAMES.get(str(a.dtype), str(a.dtype).upper()))
    values = [helper.make_tensor_value_info(name, code, x.shape) for name, x in (("a", a), ("b", b), ("c", out))]
    graph = helper.make_graph([helper.make_node("Div", ["a", "b"], ["c"])], "quotients", values[:2], values[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, x in (("a", a), ("b", b)):
            binding.bind_cpu_input(name, x)
        binding.bind_output("c", "cpu", 0, out.dtype, out.shape, out.ctypes.data)
        session.run_with_iobinding(binding)
    except Exception:  # ONNX Runtime's own exceptions share no base; whatever it cannot run is no peer
        return None
    return lambda: session.run_with_iobinding(binding)


PEERS = {"NumPy": numpy_call, "PyTorch": torch_call, "ONNX Runtime": onnxruntime_call}


def nanoseconds(calls: dict[str, Call], elements: int, repeats: int) -> dict[str, float]:
    """Time calls in turn, so that all meet the same weather; return each one's median, an element."""
    # Several calls in a row: after other code a processor takes a while to bring its wide units up to speed.
    inner = max(2, min(2_000, 8_000_000 // elements))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    gc.disable()
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(inner):
                call()
            times[name].append((time.perf_counter() - start) / inner)
    gc.enable()
    return {name: statistics.median(values) / elements * 1e9 for name, values in times.items()}


def measure(name: str, size: int, shape: str, repeats: int) -> Row:
    """Measure one line, every peer's answer held against ours."""
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    a, b = operands(dtype, *shapes(size)[shape])
    expected = vinculum.div(a, b)
    out = np.empty_like(expected)
    operator = vinculum.Operator("Div")
    calls: dict[str, Call] = {"ours": lambda: operator(a, b, out)}
    inexact = set()
    for peer, make in PEERS.items():
        result = np.empty_like(expected)
        call = make(a, b, result)
        if call is not None:
            call()
            calls[peer] = call
            if not np.array_equal(result, expected):
                inexact.add(peer)
    times = nanoseconds(calls, expected.size, repeats)
    return Row(name, size, shape, times.pop("ours"), times, inexact)


def rows(types: list[str], sizes: list[int], repeats: int) -> Iterator[Row]:
    """Measure every combination."""
    for name, size in product(types, sizes):
        for shape in shapes(size):
            yield measure(name, size, shape, repeats)


def summary(measured: list[Row]) -> Table:
    """Tell the median ratio of each type over the shapes, for each size and over all of them."""
    sizes = sorted({row.size for row in measured})
    table = Table(
        "type", *(f"{size:,}" for size in sizes), "all", "target", title="median ratio to the fastest exact peer"
    )
    for name in dict.fromkeys(row.dtype for row in measured):
        cells = []
        for chosen in [[size] for size in sizes] + [sizes]:
            ratios = [r.ratio for r in measured if r.dtype == name and r.size in chosen and r.ratio is not None]
            cells.append(f"{statistics.median(ratios):.2f}" if ratios else "")
        table.add_row(name, *cells, f"{TARGETS[name]:.2f}")
    return table


def main(
    types: Annotated[str, typer.Option(help="element types, separated by commas")] = ",".join(INTEGERS + FLOATS),
    sizes: Annotated[str, typer.Option(help="numbers of elements, separated by commas")] = ",".join(map(str, SIZES)),
    repeats: Annotated[int, typer.Option(help="timings of each call; the median counts")] = 7,
) -> None:
    """Print nanoseconds an element for us and every peer installed, and the ratio to the fastest exact one."""
    console = Console()
    table = Table("type", "elements", "shape", "ours", *PEERS, "ratio", title="ns an element, one thread (* not exact)")
    measured = []
    for row in rows(types.split(","), [int(size) for size in sizes.split(",")], repeats):
        measured.append(row)
        peers = [f"{row.peers[p]:.3f}{'*' if p in row.inexact else ''}" if p in row.peers else "" for p in PEERS]
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(row.dtype, f"{row.size:,}", row.shape, f"{row.ours:.3f}", *peers, ratio)
    console.print(table)
    console.print(summary(measured))


if __name__ == "__main__":
    typer.run(main)
