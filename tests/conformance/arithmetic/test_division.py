"""The words for a way to divide: plain English, whatever the stages."""

from __future__ import annotations

import pytest

from vinculum.conformance.arithmetic.catalogue import named
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, INT64, ElementType


@pytest.mark.parametrize(
    ("form", "element_type", "words"),
    [
        ("a / b", FLOAT, "correctly rounded"),
        (
            "flush(a) / flush(b)",
            FLOAT,
            "flushes subnormal numbers to zero, else correctly rounded; subnormal operands count as zero",
        ),
        ("a * (1/b)", FLOAT, "computed as a * (1/b), a multiplication by the reciprocal"),
        (
            "flush(a) * (1/flush(b)) computed in float32, operands and quotients saturated",
            DOUBLE,
            "computed in float as a * (1/b), a multiplication by the reciprocal, with subnormal numbers flushed "
            "to zero; subnormal operands count as zero; "
            "operands and quotients beyond the range of float, and infinities, become its largest number",
        ),
        (
            "a / b computed in float32, operands saturated",
            DOUBLE,
            "computed in float; operands beyond the range of float, and infinities, become its largest number",
        ),
        ("a / b computed in float32, cut off", BFLOAT16, "computed in float, then cut off instead of rounded"),
        (
            "trunc(int32(a) / int32(b)) computed in float32",
            INT64,
            "operands narrowed to int32, computed in float, truncated; "
            "dividends: upper bits dropped, divisors: upper bits dropped",
        ),
    ],
)
def test_in_words(form: str, element_type: ElementType, words: str) -> None:
    assert named(form, element_type).statement == words
