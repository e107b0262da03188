"""An operator as one record: all that the analysis knows of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.transfer.call import Transfer
from vinculum.analysis.transfer.errors import Rule


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """A divisor inside an operator, which no node computes.

    Attributes
    ----------
    operand : int
        The place of the operand that it is computed from.
    divisor : AbstractTensor
        What is known of it.
    of_zero : bool
        Whether zero is divided by it where it is zero.
    guarded_by : str
        A runtime that guards it, and how, though ONNX's definition does not; empty if none is known.
    """

    operand: int
    divisor: AbstractTensor
    of_zero: bool = True
    guarded_by: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """What the analysis knows of an operator.

    Attributes
    ----------
    transfer : callable
        Takes a call and its operands, None for one that is left out, and returns what is known of the results.
    error : callable, optional
        How far the result can be from the exact one; None if there is no bound.
    hidden : callable, optional
        Takes a call and its operands, the first of which is a float, and returns what is divided by inside, or None.
    commutative : bool
        Whether operands in another order give the same.
    pure : bool
        Whether equal operands give equal results.
    """

    transfer: Transfer
    error: Rule | None = None
    hidden: Callable[..., Hidden | None] | None = None
    commutative: bool = False
    pure: bool = True
