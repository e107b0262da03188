"""Integer arithmetic said in standard operators, in the forms that an operator set and a type have kernels for."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from vinculum.models.onnx.rewriter import Rewriter
from vinculum.spec.element_types import UINT64, ElementType, Kind
from vinculum.tensors.storage import dtype_of

_WHERE, _INTEGER_LESS, _UNSIGNED_EQUAL = 9, 9, 11
"""The operator sets from which on Where exists, Less takes integers, and Equal takes unsigned ones."""


class IntegerNodes:
    """Adds nodes of one integer type to a rewriter; every value is a name.

    - `rewriter`: where the nodes go.
    - `opset`: their operator set, 7 or later.
    - `element_type`: int32, int64 or uint64.
    """

    def __init__(self, rewriter: Rewriter, opset: int, element_type: ElementType) -> None:
        self.element_type = element_type
        self._rewriter = rewriter
        self._opset = opset
        self._numbers: dict[int, str] = {}

    def number(self, value: int) -> str:
        """Return a constant of rank 0."""
        if value not in self._numbers:
            hint = f"minus_{-value}" if value < 0 else f"number_{value}"
            self._numbers[value] = self._rewriter.constant(np.array(value, dtype_of(self.element_type)), hint)
        return self._numbers[value]

    def add(self, a: str, b: str, hint: str) -> str:
        """Return a + b."""
        return self._rewriter.add("Add", [a, b], hint)

    def subtract(self, a: str, b: str, hint: str) -> str:
        """Return a - b."""
        return self._rewriter.add("Sub", [a, b], hint)

    def multiply(self, a: str, b: str, hint: str) -> str:
        """Return a * b."""
        return self._rewriter.add("Mul", [a, b], hint)

    def divide(self, a: str, b: str, hint: str) -> str:
        """Return what the runtime takes for a / b."""
        return self._rewriter.add("Div", [a, b], hint)

    def cast_from(self, value: str, hint: str) -> str:
        """Return a value of any type in this one."""
        return self._rewriter.cast(value, self.element_type, hint)

    def equals(self, a: str, value: int, hint: str) -> str:
        """Return where a is that number."""
        if self.element_type.kind is Kind.UNSIGNED and self._opset < _UNSIGNED_EQUAL:
            # Before, only a cast to bool tells of unsigned numbers which are 0.
            return self.negation(self._rewriter.cast(self._minus(a, value), TensorProto.BOOL, f"not_{hint}"), hint)
        return self._rewriter.add("Equal", [a, self.number(value)], hint)

    def positive(self, a: str, hint: str) -> str:
        """Return where a is above 0."""
        return self._compare_with_zero(a, hint, zero_first=True)

    def negative(self, a: str, hint: str) -> str:
        """Return where a is below 0."""
        return self._compare_with_zero(a, hint, zero_first=False)

    def both(self, a: str, b: str, hint: str) -> str:
        """Return where both are true."""
        return self._rewriter.add("And", [a, b], hint)

    def either(self, a: str, b: str, hint: str) -> str:
        """Return where one or both are true."""
        return self._rewriter.add("Or", [a, b], hint)

    def differ(self, a: str, b: str, hint: str) -> str:
        """Return where one is true and the other is not."""
        return self._rewriter.add("Xor", [a, b], hint)

    def opposite(self, a: str, b: str, hint: str) -> str:
        """Return where one is above 0 and the other below."""
        above = self.both(self.positive(a, f"{hint}_first_up"), self.negative(b, f"{hint}_second_down"), f"{hint}_up")
        below = self.both(self.negative(a, f"{hint}_first_down"), self.positive(b, f"{hint}_second_up"), f"{hint}_down")
        return self.either(above, below, hint)

    def negation(self, a: str, hint: str) -> str:
        """Return where a is not true."""
        return self._rewriter.add("Not", [a], hint)

    def one_where(self, mask: str, hint: str) -> str:
        """Return 1 where the mask is true and 0 elsewhere."""
        return self.cast_from(mask, hint)

    def select(self, mask: str, a: str, b: str, hint: str) -> str:
        """Return a where the mask is true and b elsewhere."""
        if self._opset >= _WHERE and self.element_type is not UINT64:
            return self._rewriter.add("Where", [mask, a, b], hint)
        # Where is missing: in the operator set, or for uint64 in ONNX Runtime. One product of each pair is 0.
        kept = self.multiply(b, self.one_where(self.negation(mask, f"{hint}_not"), f"{hint}_keep"), f"{hint}_kept")
        if a == self.number(0):
            return kept
        taken = self.multiply(a, self.one_where(mask, f"{hint}_take"), f"{hint}_taken")
        return self.add(kept, taken, hint)

    def _minus(self, a: str, value: int) -> str:
        return self.subtract(a, self.number(value), f"minus_{value}") if value else a

    def _compare_with_zero(self, a: str, hint: str, *, zero_first: bool) -> str:
        if self._opset >= _INTEGER_LESS:
            zero = self.number(0)
        else:
            # Rounding to double keeps the sign.
            zero = self._rewriter.constant(np.array(0.0), "zero")
            a = self._rewriter.cast(a, TensorProto.DOUBLE, f"{hint}_double")
        return self._rewriter.add("Less", [zero, a] if zero_first else [a, zero], hint)
