"""Measure division on a CUDA device beside PyTorch's: ``python -m benchmarks.cuda``.

Nanoseconds an element, the least of some rounds, each of many divisions between two events of the device; operands and
quotients stay on it. The share is of the device's own speed of copying, measured in the same rounds: a division moves
three elements, and a copy two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
import torch
import typer
from rich.console import Console
from rich.table import Table

import vinculum

_ELEMENTS = 1 << 28
_REPEATED = 20
_TYPES = ["int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64"]


def nanoseconds(call: Callable[[], object], elements: int) -> float:
    """Return how long the device takes for an element of a call's."""
    call()
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    for _ in range(_REPEATED):
        call()
    end.record()
    end.synchronize()
    return float(cupy.cuda.get_elapsed_time(start, end)) * 1e6 / _REPEATED / elements


def operands(name: str, elements: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return random operands on the device, no divisor of which is zero."""
    dtype: Any = getattr(torch, name)
    if dtype.is_floating_point:
        return tuple(torch.randn(elements, device="cuda").to(dtype) for _ in range(2))
    limits = np.iinfo(name)
    a = torch.randint(int(limits.min), int(limits.max), (elements,), dtype=dtype, device="cuda")
    return a, torch.randint(1, int(limits.max), (elements,), dtype=dtype, device="cuda")


def measured(name: str, elements: int, rounds: int) -> list[str]:
    """Return the row of an element type."""
    a, b = operands(name, elements)
    out: Any = torch.empty_like(a)
    mode = None if a.dtype.is_floating_point else "trunc"
    calls: list[Callable[[], object]] = [
        lambda: vinculum.div(a, b, out=out),
        lambda: vinculum.div(a, b, out=out, zero_divisor="zero"),
        lambda: vinculum.divide(a, b, out=out, zero_divisor="zero"),
        lambda: torch.div(a, b, rounding_mode=mode, out=out),
        lambda: torch.div(a, b, rounding_mode="floor", out=out),
        lambda: out.copy_(a),
    ]
    *least, copy = [min(nanoseconds(call, elements) for _ in range(rounds)) for call in calls]
    return [name, *(f"{figure:.4f}" for figure in least), f"{1.5 * copy / least[1]:.0%}"]


def main(elements: int = _ELEMENTS, rounds: int = 5) -> None:
    """Print a row for each element type."""
    columns = ["type", "div", "zero_divisor='zero'", "floor", "torch trunc or /", "torch floor", "copy's share"]
    table = Table(*columns, title=torch.cuda.get_device_name())
    for name in _TYPES:
        table.add_row(*measured(name, elements, rounds))
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
