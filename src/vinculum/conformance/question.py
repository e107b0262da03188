"""What a runtime is asked: one division of two tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from vinculum.spec.model import AttributeValue, OperatorSpec


@dataclass(frozen=True, eq=False)
class Question:
    """One division that a runtime is asked for: an operator version, its attributes and its operands.

    Attributes
    ----------
    spec : OperatorSpec
        The operator version.
    attributes : Mapping of str to AttributeValue
        Those that are written down, by the standard's names; they may be illegal, where a refusal is expected.
    operands : tuple of ndarray
        Dividend and divisor, for Reciprocal the one operand; of ml_dtypes' element types where NumPy has none, and
        object arrays of Fraction for SONNX's reals.
    constant : tuple of bool
        For each operand whether it is a constant of the model, which a runtime may fold, or comes at run time.
    """

    spec: OperatorSpec
    attributes: Mapping[str, AttributeValue]
    operands: tuple[NDArray[Any], ...]
    constant: tuple[bool, ...]
