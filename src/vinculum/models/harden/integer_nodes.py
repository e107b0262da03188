"""Integer arithmetic written in standard operators, in forms that have kernels for an operator set and a type."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from vinculum.models.onnx.rewriter import Rewriter
from vinculum.spec.element_types import UINT64, ElementType, Kind
from vinculum.tensors.storage import dtype_of

_WHERE, _INTEGER_LESS, _UNSIGNED_EQUAL = 9, 9, 11
"""The first operator sets in which Where exists, Less takes integers, and Equal takes unsigned integers."""


class IntegerNodes:
    """Adds nodes of one integer type to a rewriter; methods take and return names of values.

    - `rewriter`: collects the nodes.
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
        """Return the runtime's own quotient of a / b."""
        return self._rewriter.add("Div", [a, b], hint)

    def cast_from(self, value: str, hint: str) -> str:
        """Return a value of any type, cast to this one."""
        return self._rewriter.cast(value, self.element_type, hint)

    def equals(self, a: str, value: int, hint: str) -> str:
        """Return the mask where a is that number."""
        if self.element_type.kind is Kind.UNSIGNED and self._opset < _UNSIGNED_EQUAL:
            # Below that operator set, only a cast to bool finds the zeros among unsigned numbers.
            return self.negation(self._rewriter.cast(self._minus(a, value), TensorProto.BOOL, f"not_{hint}"), hint)
        return self._rewriter.add("Equal", [a, self.number(value)], hint)

    def positive(self, a: str, hint: str) -> str:
        """Return the mask where a is above 0."""
        return self._compare_with_zero(a, hint, zero_first=True)

    def negative(self, a: str, hint: str) -> str:
        """Return the mask where a is below 0."""
        return self._compare_with_zero(a, hint, zero_first=False)

    def both(self, a: str, b: str, hint: str) -> str:
        """Return the mask where both masks are true."""
        return self._rewriter.add("And", [a, b], hint)

    def either(self, a: str, b: str, hint: str) -> str:
        """Return the mask where one or both masks are true."""
        return self._rewriter.add("Or", [a, b], hint)

    def differ(self, a: str, b: str, hint: str) -> str:
        """Return the mask where exactly one mask is true."""
        return self._rewriter.add("Xor", [a, b], hint)

    def opposite(self, a: str, b: str, hint: str) -> str:
        """Return the mask where one is above 0 and the other below."""
        above = self.both(self.positive(a, f"{hint}_first_up"), self.negative(b, f"{hint}_second_down"), f"{hint}_up")
        below = self.both(self.negative(a, f"{hint}_first_down"), self.positive(b, f"{hint}_second_up"), f"{hint}_down")
        return self.either(above, below, hint)

    def negation(self, a: str, hint: str) -> str:
        """Return the mask where a is false."""
        return self._rewriter.add("Not", [a], hint)

    def one_where(self, mask: str, hint: str) -> str:
        """Return 1 where the mask is true and 0 elsewhere."""
        return self.cast_from(mask, hint)

    def select(self, mask: str, a: str, b: str, hint: str) -> str:
        """Return a where the mask is true and b elsewhere."""
        if self._opset >= _WHERE and self.element_type is not UINT64:
            return self._rewriter.add("Where", [mask, a, b], hint)
        # Where is missing in the operator set, or for uint64 in ONNX Runtime. One of the two products is 0.
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
            # The cast to double keeps the sign.
            zero = self._rewriter.constant(np.array(0.0), "zero")
            a = self._rewriter.cast(a, TensorProto.DOUBLE, f"{hint}_double")
        return self._rewriter.add("Less", [zero, a] if zero_first else [a, zero], hint)


def exact_quotient(
    nodes: IntegerNodes, a: str, b: str, *, signed: bool, may_overflow: bool, saturate: bool = False
) -> str:
    """Return the truncated quotient, exact for any rounding of the runtime's Div; MIN/-1 gives MIN, or MAX on request.

    A Div may floor or truncate, and it may compute in a narrower floating-point type, as OpenVINO's does with int32. So
    its quotient is only an estimate: the remainder is divided again, and the sum of both quotients is off by at most
    one. Addition, subtraction and multiplication have to be exact modulo the width of the type, comparisons with 0 and
    with -1 exact, and the first estimate correct to about 20 bits.

    Both operands are made negative first: MIN has no positive counterpart, floor and truncation agree for equal signs,
    and no step overflows.

    - `nodes`: of the operands' type, int32 or int64.
    - `a`, `b`: dividend and divisor; no divisor is 0.
    - `signed`: whether an operand may be negative.
    - `may_overflow`: whether the division may be MIN/-1.
    - `saturate`: whether MIN/-1 gives MAX.
    """
    zero = nodes.number(0)
    if not signed:
        n, d = nodes.subtract(zero, a, "dividend"), nodes.subtract(zero, b, "divisor")
        negative, _ = _negative_quotient(nodes, n, d)
        return nodes.subtract(zero, negative, "quotient")
    a_positive, b_positive = nodes.positive(a, "dividend_positive"), nodes.positive(b, "divisor_positive")
    n = _signed(nodes, a, a_positive, "dividend")
    d = _signed(nodes, b, b_positive, "divisor")
    negative, unit = _negative_quotient(nodes, n, d)
    is_negative = nodes.differ(a_positive, b_positive, "signs_differ")
    if may_overflow:
        # -MAX - n is above 0 only for n = MIN. MIN/1 and MIN/-1 both give MIN, which is negative already.
        distance = nodes.subtract(nodes.number(-nodes.element_type.maximum), n, "distance_to_min")
        minimum = nodes.both(nodes.positive(distance, "dividend_is_min"), unit, "quotient_is_min")
        if saturate:
            # -(MIN + 1) is MAX. A Where that selects MAX would do too, but OpenVINO may compute it in float32.
            overflows = nodes.both(minimum, nodes.negation(is_negative, "signs_agree"), "overflows")
            negative = nodes.add(negative, nodes.one_where(overflows, "one_too_low"), "saturated")
        else:
            is_negative = nodes.either(is_negative, minimum, "negative")
    is_positive = nodes.negation(is_negative, "positive")
    return _signed(nodes, negative, is_positive, "quotient")


def _signed(nodes: IntegerNodes, value: str, reverse: str, hint: str) -> str:
    """Return the value, negated where the mask is true; MIN is never negated, not even in a discarded element."""
    zero = nodes.number(0)
    kept = nodes.select(reverse, zero, value, f"{hint}_kept")
    reversed_ = nodes.select(reverse, value, zero, f"{hint}_reversed")
    return nodes.subtract(kept, reversed_, f"signed_{hint}")


def _negative_quotient(nodes: IntegerNodes, n: str, d: str) -> tuple[str, str]:
    """Return -(n/d), truncated, for n <= 0 and d < 0; and the mask where d is -1."""
    zero = nodes.number(0)
    unit = nodes.equals(d, -1, "divisor_is_unit")
    # MIN/-1 must not be computed, and a division by -1 is not needed.
    d = nodes.select(unit, nodes.number(-2), d, "safe_divisor")
    quotient = nodes.divide(n, d, "guess")
    remainder = nodes.subtract(n, nodes.multiply(quotient, d, "guessed"), "remainder")
    more = nodes.divide(remainder, d, "second_guess")
    remainder = nodes.subtract(remainder, nodes.multiply(more, d, "second_guessed"), "second_remainder")
    quotient = nodes.add(quotient, more, "both_guesses")
    # Now d - 1 <= remainder <= -d, approximately; the final remainder has to be in the range d < remainder <= 0.
    above = nodes.one_where(nodes.positive(remainder, "too_large"), "one_too_large")
    quotient = nodes.subtract(quotient, above, "lowered")
    remainder = nodes.add(remainder, nodes.multiply(above, d, "given_back"), "third_remainder")
    left = nodes.subtract(d, remainder, "left_over")
    enough = nodes.negation(nodes.negative(left, "too_little"), "too_small")
    quotient = nodes.add(quotient, nodes.one_where(enough, "one_too_small"), "magnitude")
    negated = nodes.subtract(zero, quotient, "negated")
    return nodes.select(unit, n, negated, "negative_quotient"), unit
