"""The compiled core as a backend."""

from __future__ import annotations

import vinculum.kernels._core as _core  # raises ModuleNotFoundError where it was not compiled
from vinculum.kernels.contract import Arithmetic, Array, Division


class Core:
    """The compiled core, by the code for one kind of processor.

    Parameters
    ----------
    name : str
        The target, one of `targets`.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def division(self, arithmetic: Arithmetic) -> Division:
        """Return the division of an arithmetic."""
        return _core.division(self.name, arithmetic, "floor" if arithmetic.floor else "truncating")

    def exclusive_or(self, a: Array, b: Array, out: Array) -> None:
        """Write the exclusive or of the operands' bits."""
        arithmetic = Arithmetic(
            (out.dtype,), reciprocal=False, broadcasts=True, floor=False, zero_divisor="zero", overflow="wrap"
        )
        if _core.division(self.name, arithmetic, "exclusive or")(a, b, out) is None:
            raise ValueError("these are no operands and result of a division")


def targets() -> tuple[str, ...]:
    """Return the kinds of processor that the core was compiled for and that this one is, the newest first."""
    return _core.targets()
