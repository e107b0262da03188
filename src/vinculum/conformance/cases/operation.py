"""What a runtime is asked: one division of two tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import VinculumError
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.model import AttributeValue, Broadcasting, IntegerRounding, OperatorSpec
from vinculum.tensors.broadcasting import Alignment, Shape, join
from vinculum.tensors.storage import element_type_of


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

    @property
    def inputs(self) -> dict[str, NDArray[Any]]:
        """The operands that come at run time, by the operator's names for them, in its order."""
        return self._placed(constant=False)

    @property
    def constants(self) -> dict[str, NDArray[Any]]:
        """The operands that are constants of the model, likewise."""
        return self._placed(constant=True)

    def _placed(self, *, constant: bool) -> dict[str, NDArray[Any]]:
        placed = zip(self.spec.inputs, self.operands, self.constant, strict=True)
        return {named.name: array for named, array, is_constant in placed if is_constant is constant}

    @cached_property
    def own_alignment(self) -> Alignment | None:
        """How the operands lie under the quotient by the operation's own rule; None if they do not."""
        try:
            attributes = checked_attributes(self.spec, self.attributes)
            return _joined(self, self.spec.broadcasting_rule(attributes), attributes.get("axis"))
        except (VinculumError, KeyError):
            return None


def declared_attributes(spec: OperatorSpec, attributes: Mapping[str, AttributeValue]) -> dict[str, AttributeValue]:
    """Return attributes by the names that a version declares; names and values that it has not are left out."""
    declared = ((spec.attribute(name), value) for name, value in attributes.items())
    return {a.name: value for a, value in declared if a and (not a.allowed or value in a.allowed)}


def rounding_asked(operation: Operation) -> IntegerRounding:
    """Return how an operation's integers are to be rounded, by whatever name its attribute is spelled.

    Where its value is illegal it is the default; an operator that has no integers is said to truncate.
    """
    spec = operation.spec
    if not spec.integer_rounding:
        return IntegerRounding.TRUNCATING
    return spec.rounding(declared_attributes(spec, operation.attributes))


def integer_rounding(operation: Operation) -> IntegerRounding | None:
    """Return the same where integers are divided; None where none are, or the operator has none."""
    integers = element_type_of(operation.operands[0]).is_integer and operation.spec.integer_rounding
    return rounding_asked(operation) if integers else None


def alignment(
    operation: Operation, rule: Broadcasting | None = None, *, ignoring_axis: bool = False
) -> Alignment | None:
    """Return how the operands lie under the quotient, by the operation's rule or another; None if they do not.

    Reciprocal's one operand has the shape of the quotient. The axis can be ignored by another rule only.
    """
    if rule is None:
        return operation.own_alignment
    try:
        return _joined(operation, rule, None if ignoring_axis else operation.attributes.get("axis"))
    except VinculumError:
        return None


def _joined(operation: Operation, rule: Broadcasting, axis: object) -> Alignment:
    shapes = [operand.shape for operand in operation.operands]
    return join(rule, shapes[0], shapes[-1], axis if isinstance(axis, int) else None)


def aligned(operation: Operation, under: Alignment | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return dividend and divisor as they meet: repeated to the quotient's shape, without a copy.

    The dividend of a Reciprocal is 1.

    Parameters
    ----------
    operation : Operation
        One whose operands fit.
    under : Alignment, optional
        Another alignment than the operation's own.
    """
    lying = under or alignment(operation)
    assert lying is not None
    *dividend, divisor = operation.operands
    a = (
        _repeated(dividend[0], lying.a, lying.shape)
        if dividend
        else np.broadcast_to(np.ones((), divisor.dtype), lying.shape)
    )
    return a, _repeated(divisor, lying.b, lying.shape)


def _repeated(operand: NDArray[Any], own: tuple[int | None, ...], shape: Shape) -> NDArray[Any]:
    sizes = [1 if dimension is None else operand.shape[dimension] for dimension in own]
    return np.broadcast_to(operand.reshape(sizes), shape)


def quotient_shape(operation: Operation) -> Shape | None:
    """Return the shape of the quotient, None if the attributes are not legal or the operands do not fit."""
    own = alignment(operation)
    return None if own is None else own.shape


def pair(operation: Operation, index: Sequence[int]) -> tuple[Any, ...]:
    """Return the numbers that a quotient is of: dividend and divisor, for Reciprocal the one operand.

    Parameters
    ----------
    operation : Operation
        One whose operands fit.
    index : sequence of int
        Of the quotient.
    """
    return tuple(operand[tuple(index)] for operand in aligned(operation)[-len(operation.operands) :])


def reduced(operation: Operation, index: Sequence[int]) -> Operation:
    """Return an operation of the same shapes in which every pair of operands is the one of a single quotient.

    With the shapes a runtime takes the same path through its code, so that what it does wrong with that pair it does
    wrong here, and every operand can be written down as one number.
    """
    numbers = pair(operation, index)
    operands = [np.full_like(*both) for both in zip(operation.operands, numbers, strict=True)]
    return replace(operation, operands=tuple(operands))
