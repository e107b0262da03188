"""PyTorch on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.benchmarking.cells import Cell
from vinculum.benchmarking.peers.protocol import Prepared
from vinculum.benchmarking.rightness import rounding_of
from vinculum.spec.model import IntegerRounding

_MODES = {IntegerRounding.TRUNCATING: "trunc", IntegerRounding.FLOOR: "floor"}


class Torch:
    """PyTorch, called with tensors that share the arrays' memory."""

    title = "PyTorch"
    packages = ("torch",)
    install = "pip install 'vinculum-div[torch]'"
    most_threads = None

    def start(self, threads: int) -> None:
        """Import it, and set its number of threads."""
        import torch

        torch.set_num_threads(threads)

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        """Return a call of the function that writes into a given tensor."""
        import torch

        *tensors, result = (_tensor(torch, array, cell.element_type) for array in (*operands, out))
        if len(tensors) == 1:
            return Prepared(partial(torch.reciprocal, *tensors, out=result), lambda: out)
        mode = _MODES[rounding_of(cell)] if cell.is_integer else None
        return Prepared(partial(torch.div, *tensors, rounding_mode=mode, out=result), lambda: out)


def _tensor(torch: Any, array: NDArray[Any], element_type: str) -> Any:
    if hasattr(np, element_type):
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(np.int16)).view(getattr(torch, element_type))
