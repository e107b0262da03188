"""What a runtime is asked: one division of two tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import VinculumError
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.model import AttributeValue, OperatorSpec
from vinculum.tensors.broadcasting import Shape, join


@dataclass(frozen=True, eq=False)
class Operation:
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


def quotient_shape(operation: Operation) -> Shape | None:
    """Return the shape of the quotient, None if the attributes are not legal or the operands do not fit."""
    try:
        return _joined(operation)[0]
    except VinculumError:
        return None


def reduced(operation: Operation, index: Sequence[int]) -> Operation:
    """Return an operation of the same shapes in which every pair of operands is the one of a single quotient.

    With the shapes a runtime takes the same path through its code, so that what it does wrong with that pair it does
    wrong here, and every operand can be written down as one number.

    Parameters
    ----------
    operation : Operation
        One whose operands fit.
    index : sequence of int
        Of the quotient.
    """
    numbers = pair(operation, index)
    operands = [np.full_like(*both) for both in zip(operation.operands, numbers, strict=True)]
    return replace(operation, operands=tuple(operands))


def pair(operation: Operation, index: Sequence[int]) -> tuple[Any, ...]:
    """Return the numbers that a quotient is of: dividend and divisor, for Reciprocal the one operand.

    Parameters
    ----------
    operation : Operation
        One whose operands fit.
    index : sequence of int
        Of the quotient.
    """
    _, *alignments = _joined(operation)
    numbers: list[Any] = []
    for array, own in zip(operation.operands, alignments, strict=True):
        place = [0] * array.ndim
        for position, dimension in zip(index, own, strict=True):
            if dimension is not None:
                place[dimension] = position
        numbers.append(array[tuple(place)])
    return tuple(numbers)


def aligned_operands(operation: Operation) -> list[NDArray[Any]]:
    """Return every operand in the shape of the quotient, as the operator version lays it there.

    Parameters
    ----------
    operation : Operation
        One whose operands fit.
    """
    shape, *alignments = _joined(operation)
    laid = []
    for array, own in zip(operation.operands, alignments, strict=True):
        kept = [dimension for dimension in own if dimension is not None]
        left = [dimension for dimension in range(array.ndim) if dimension not in kept]
        sizes = [1 if dimension is None else array.shape[dimension] for dimension in own]
        laid.append(np.broadcast_to(array.transpose(kept + left).reshape(sizes), shape))
    return laid


def _joined(operation: Operation) -> tuple[Shape, *tuple[tuple[int | None, ...], ...]]:
    """Return the quotient's shape, and for each operand which of its dimensions runs along each of the quotient's."""
    attributes = checked_attributes(operation.spec, operation.attributes)
    shapes = [array.shape for array in operation.operands]
    if len(shapes) == 1:
        return shapes[0], tuple(range(len(shapes[0])))
    axis = attributes.get("axis")
    rule = operation.spec.broadcasting_rule(attributes)
    alignment = join(rule, shapes[0], shapes[1], axis if isinstance(axis, int) else None)
    return alignment.shape, alignment.a, alignment.b
