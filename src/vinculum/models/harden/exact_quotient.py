"""The truncated quotient of integers, exact whatever the runtime's own integer division does.

A runtime's Div may floor or truncate, and it may compute in a narrower floating-point type, as OpenVINO's does with
int32. So its quotient is only taken as a guess: the remainder that it leaves is divided again, and what is then still
missing is at most one, either way. Addition, subtraction and multiplication have to be exact modulo the width of the
type, comparison with 0 and with -1 exact, and the first guess right to about 20 bits.

Both operands are made negative first: the negative numbers hold MIN too, floor and truncation agree where signs do, and
no step overflows.
"""

from __future__ import annotations

from vinculum.models.harden.integer_nodes import IntegerNodes


def exact_quotient(
    nodes: IntegerNodes, a: str, b: str, *, signed: bool, may_overflow: bool, saturate: bool = False
) -> str:
    """Return the truncated quotient, MIN where it is MIN/-1 and not asked to be MAX.

    - `nodes`: of the operands' type, int32 or int64.
    - `a`, `b`: dividend and divisor; no divisor is 0.
    - `signed`: whether an operand may be negative.
    - `may_overflow`: whether it may be MIN/-1.
    - `saturate`: whether MIN/-1 is to give MAX.
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
        # -MAX - n is above 0 for MIN alone. MIN/1 and MIN/-1 both give MIN, which is negative already.
        distance = nodes.subtract(nodes.number(-nodes.element_type.maximum), n, "distance_to_min")
        minimum = nodes.both(nodes.positive(distance, "dividend_is_min"), unit, "quotient_is_min")
        if saturate:
            # -(MIN + 1) is MAX. A Where that chose MAX would do too, but OpenVINO may compute that in float32.
            overflows = nodes.both(minimum, nodes.negation(is_negative, "signs_agree"), "overflows")
            negative = nodes.add(negative, nodes.one_where(overflows, "one_too_low"), "saturated")
        else:
            is_negative = nodes.either(is_negative, minimum, "negative")
    is_positive = nodes.negation(is_negative, "positive")
    return _signed(nodes, negative, is_positive, "quotient")


def _signed(nodes: IntegerNodes, value: str, reverse: str, hint: str) -> str:
    """Return the value with its sign reversed where asked; MIN is never reversed, not even to be thrown away."""
    zero = nodes.number(0)
    kept = nodes.select(reverse, zero, value, f"{hint}_kept")
    reversed_ = nodes.select(reverse, value, zero, f"{hint}_reversed")
    return nodes.subtract(kept, reversed_, f"signed_{hint}")


def _negative_quotient(nodes: IntegerNodes, n: str, d: str) -> tuple[str, str]:
    """Return -(n/d) truncated for n <= 0 and d < 0, and where d is -1."""
    zero = nodes.number(0)
    unit = nodes.equals(d, -1, "divisor_is_unit")
    # MIN/-1 must not be computed, and -1 needs no division.
    d = nodes.select(unit, nodes.number(-2), d, "safe_divisor")
    quotient = nodes.divide(n, d, "guess")
    remainder = nodes.subtract(n, nodes.multiply(quotient, d, "guessed"), "remainder")
    more = nodes.divide(remainder, d, "second_guess")
    remainder = nodes.subtract(remainder, nodes.multiply(more, d, "second_guessed"), "second_remainder")
    quotient = nodes.add(quotient, more, "both_guesses")
    # Now d - 1 <= remainder <= -d or so; it has to lie above d and not above 0.
    above = nodes.one_where(nodes.positive(remainder, "too_large"), "one_too_large")
    quotient = nodes.subtract(quotient, above, "lowered")
    remainder = nodes.add(remainder, nodes.multiply(above, d, "given_back"), "third_remainder")
    left = nodes.subtract(d, remainder, "left_over")
    enough = nodes.negation(nodes.negative(left, "too_little"), "too_small")
    quotient = nodes.add(quotient, nodes.one_where(enough, "one_too_small"), "magnitude")
    negated = nodes.subtract(zero, quotient, "negated")
    return nodes.select(unit, n, negated, "negative_quotient"), unit
