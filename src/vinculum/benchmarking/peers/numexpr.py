"""numexpr, an expression compiled once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from vinculum.benchmarking.cells import Cell
from vinculum.benchmarking.peers.protocol import Prepared
from vinculum.benchmarking.rightness import rounding_of
from vinculum.sandbox import UnsupportedError
from vinculum.spec.model import IntegerRounding


class Numexpr:
    """numexpr. It computes narrow types in wider ones, and casts the quotients back to the narrow type."""

    title = "numexpr"
    packages = ("numexpr",)
    install = "pip install 'vinculum-div[bench]'"
    most_threads = None

    def start(self, threads: int) -> None:
        """Import it, and set its number of threads."""
        os.environ["NUMEXPR_MAX_THREADS"] = str(threads)
        import numexpr

        numexpr.set_num_threads(threads)

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        """Return a call that evaluates the expression again."""
        if out.dtype.kind == "i" and rounding_of(cell) is IntegerRounding.FLOOR:
            raise UnsupportedError("it has no floor division of integers")
        import numexpr

        names = dict(zip("ab", operands, strict=False))
        expression = "a / b" if len(operands) == 2 else "1 / a"
        numexpr.evaluate(expression, local_dict=names, out=out, casting="unsafe", truediv=False)
        return Prepared(partial(numexpr.re_evaluate, local_dict=names), lambda: out)
