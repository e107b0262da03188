"""From truncating to floor division in ONNX operators.

With q = a/b truncated and r = a - q*b, whose sign is that of a or none, the floor is q - 1 where r is not 0 and its
sign is not b's, else q. Nothing overflows but for MIN/-1: there q wraps to MIN, q*b does again, r is 0, and q stays. A
zero divisor has no sign, so what a policy puts into q stays too. Unsigned quotients are their own floors.

The signs differ where r*b < 0. As floats neither is rounded to 0, neither changes its sign, and their product is at
most 2**126. (The operator Sign would do from operator set 9 on, but ONNX Runtime 1.31 gives that of the low 32 bits.)
"""

from __future__ import annotations

import numpy as np

from vinculum.models.onnx.rewriter import Rewriter
from vinculum.spec.element_types import FLOAT, ElementType


def floored(rewriter: Rewriter, element_type: ElementType, operands: tuple[str, str], quotient: str) -> str:
    """Return the name of the floor of a/b, made of the truncated quotient.

    - `rewriter`: takes the nodes; of an operator set from 7 on.
    - `element_type`: a signed integer type that Div takes in that operator set.
    - `operands`: the dividend and the divisor.
    - `quotient`: what Div makes of them.
    """
    dividend, divisor = operands
    product = rewriter.add("Mul", [quotient, divisor], "multiple")
    remainder = rewriter.add("Sub", [dividend, product], "remainder")
    signed = [rewriter.cast(remainder, FLOAT, "remainder_float"), rewriter.cast(divisor, FLOAT, "divisor_float")]
    zero = rewriter.constant(np.zeros((), np.float32), "zero")
    below = rewriter.add("Less", [rewriter.add("Mul", signed, "signs"), zero], "below")
    return rewriter.add("Sub", [quotient, rewriter.cast(below, element_type, "correction")], "floor")
