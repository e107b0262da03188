"""The operation that a runtime executes: one division of two tensors, each given at run time or a constant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, cached_property
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
    """One division for a runtime to execute: an operator version, its attributes and its operands.

    Attributes
    ----------
    spec : OperatorSpec
        The operator version.
    attributes : Mapping of str to AttributeValue
        The attributes that the model sets, by the standard's names; illegal ones where a refusal is expected.
    operands : tuple of ndarray
        Dividend and divisor, or Reciprocal's one operand; ml_dtypes supplies the element types that NumPy lacks, and
        SONNX's reals are object arrays of Fraction.
    constant : tuple of bool
        For each operand, whether it is a constant of the model, which a runtime may fold, or an input at run time.
    """

    spec: OperatorSpec
    attributes: Mapping[str, AttributeValue]
    operands: tuple[NDArray[Any], ...]
    constant: tuple[bool, ...]

    @property
    def inputs(self) -> dict[str, NDArray[Any]]:
        """The run-time operands by the operator's input names, in the operator's order."""
        return self._placed(constant=False)

    @property
    def constants(self) -> dict[str, NDArray[Any]]:
        """The operands that are constants of the model, by the operator's input names."""
        return self._placed(constant=True)

    def _placed(self, *, constant: bool) -> dict[str, NDArray[Any]]:
        placed = zip(self.spec.inputs, self.operands, self.constant, strict=True)
        return {named.name: array for named, array, is_constant in placed if is_constant is constant}

    @cached_property
    def own_alignment(self) -> Alignment | None:
        """How the operation's own rule broadcasts the operands; None if they do not fit."""
        try:
            attributes = checked_attributes(self.spec, self.attributes)
            return _joined(self, self.spec.broadcasting_rule(attributes), attributes.get("axis"))
        except (VinculumError, KeyError):
            return None


def declared_attributes(spec: OperatorSpec, attributes: Mapping[str, AttributeValue]) -> dict[str, AttributeValue]:
    """Return attributes by the names that a version declares, without undeclared names and values."""
    declared = ((spec.attribute(name), value) for name, value in attributes.items())
    return {a.name: value for a, value in declared if a and (not a.allowed or value in a.allowed)}


def rounding_asked(operation: Operation) -> IntegerRounding:
    """Return how an operation rounds integers, under any spelling of its attribute.

    An illegal value counts as the default; an operator without integers counts as truncating.
    """
    spec = operation.spec
    if not spec.integer_rounding:
        return IntegerRounding.TRUNCATING
    return spec.rounding(declared_attributes(spec, operation.attributes))


def integer_rounding(operation: Operation) -> IntegerRounding | None:
    """Return the rounding of an operation on integers; None for other operands, or an operator without integers."""
    integers = element_type_of(operation.operands[0]).is_integer and operation.spec.integer_rounding
    return rounding_asked(operation) if integers else None


def alignment(operation: Operation, rule: Broadcasting | None = None) -> Alignment | None:
    """Return how the operation's rule, or another without an axis, broadcasts the operands; None if they do not fit.

    Reciprocal's one operand has the shape of the quotient.
    """
    return operation.own_alignment if rule is None else _joined(operation, rule)


def _joined(operation: Operation, rule: Broadcasting, axis: object = None) -> Alignment | None:
    shapes = [operand.shape for operand in operation.operands]
    return joined(rule, shapes[0], shapes[-1], axis if isinstance(axis, int) else None)


@cache  # Few shapes occur, each in many cases.
def joined(rule: Broadcasting, a: Shape, b: Shape, axis: int | None = None) -> Alignment | None:
    """Return how a rule broadcasts two shapes; None if they do not fit."""
    try:
        return join(rule, a, b, axis)
    except VinculumError:
        return None


def aligned(operation: Operation, under: Alignment | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return dividend and divisor broadcast to the quotient's shape, without a copy; they must fit.

    The dividend of a Reciprocal is 1. An alignment that is given is used instead of the operation's own.
    """
    lying = under or alignment(operation)
    assert lying is not None
    *dividend, divisor = operation.operands
    one = np.ones((), divisor.dtype)
    a = _repeated(dividend[0], lying.a, lying.shape) if dividend else np.broadcast_to(one, lying.shape)
    return a, _repeated(divisor, lying.b, lying.shape)


def _repeated(operand: NDArray[Any], own: tuple[int | None, ...], shape: Shape) -> NDArray[Any]:
    sizes = [1 if dimension is None else operand.shape[dimension] for dimension in own]
    return np.broadcast_to(operand.reshape(sizes), shape)


def quotient_shape(operation: Operation) -> Shape | None:
    """Return the shape of the quotient; None if the attributes are illegal or the operands do not fit."""
    own = alignment(operation)
    return None if own is None else own.shape


def pair(operation: Operation, index: Sequence[int]) -> tuple[Any, ...]:
    """Return the operands of the quotient at an index: dividend and divisor, or Reciprocal's one operand."""
    return tuple(operand[tuple(index)] for operand in aligned(operation)[-len(operation.operands) :])


def reduced(operation: Operation, index: Sequence[int]) -> Operation:
    """Return an operation of the same shapes in which every element repeats the operands of a single quotient.

    As the shapes stay, a runtime takes the same path through its code and makes the same mistake with that pair. Each
    operand can then be written as one number.
    """
    numbers = pair(operation, index)
    operands = [np.full_like(*both) for both in zip(operation.operands, numbers, strict=True)]
    return replace(operation, operands=tuple(operands))


class Placement(Enum):
    """Which operands are constants of the model: the text in the id, and a flag for dividend and for divisor."""

    RUN_TIME = "run-time operands", (False, False)
    CONSTANT_DIVISOR = "constant divisor", (False, True)
    CONSTANT_DIVIDEND = "constant dividend", (True, False)
    CONSTANTS = "constant operands", (True, True)

    def words(self, spec: OperatorSpec) -> str:
        """Return the text in the id, in the singular for an operator with one operand."""
        words, _ = self.value
        return words if len(spec.inputs) > 1 else words.removesuffix("s")

    def constant(self, spec: OperatorSpec) -> tuple[bool, ...]:
        """Return, for each operand of an operator, whether it is a constant of the model."""
        _, constant = self.value
        return constant[: len(spec.inputs)]


DIVISOR, DIVIDEND, BOTH = (Placement.CONSTANT_DIVISOR,), (Placement.CONSTANT_DIVIDEND,), (Placement.CONSTANTS,)
FOLDED = DIVISOR + DIVIDEND + BOTH
"""The placements with at least one constant."""


def placements(spec: OperatorSpec) -> tuple[Placement, ...]:
    """Return the placements of an operator's operands: four for two operands, two for one."""
    return tuple(Placement) if len(spec.inputs) > 1 else (Placement.RUN_TIME, Placement.CONSTANTS)
