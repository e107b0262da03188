"""JAX on the CPU, compiled, with 64-bit types enabled."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.benchmarking.cells import Cell
from vinculum.benchmarking.peers.protocol import Prepared
from vinculum.benchmarking.rightness import rounding_of
from vinculum.spec.model import IntegerRounding


class Jax:
    """JAX. It allocates memory for every result, as it takes no output array."""

    title = "JAX"
    packages = ("jax", "jaxlib")
    install = "pip install 'vinculum-div[jax]'"
    most_threads = None

    def start(self, threads: int) -> None:
        """Import it; the compiler reads its number of threads from an environment variable."""
        os.environ["NPROC"] = str(threads)
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax

        jax.config.update("jax_enable_x64", True)

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        """Return a call of the compiled function that waits for the result."""
        import jax

        placed = [jax.device_put(operand) for operand in operands]
        function = jax.jit(_function(jax, cell))
        latest: list[Any] = []

        def call() -> None:
            latest[:] = [function(*placed).block_until_ready()]

        return Prepared(call, lambda: np.asarray(latest[0]))


def _function(jax: Any, cell: Cell) -> Callable[..., Any]:
    numpy = jax.numpy
    if len(cell.shapes) == 1:
        reciprocal: Callable[..., Any] = numpy.reciprocal
        return reciprocal
    if cell.is_integer and rounding_of(cell) is IntegerRounding.FLOOR:
        floor_divide: Callable[..., Any] = numpy.floor_divide
        return floor_divide
    # lax.div truncates integers; it accepts equal shapes only.
    return lambda a, b: jax.lax.div(*numpy.broadcast_arrays(a, b))
