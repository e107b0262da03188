"""TestFloat's lines: the quotients' bits, and flags that are exact, held against the processor's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.vectors.exports import exported
from vinculum.conformance.vectors.export import DIVIDE_BY_ZERO, INEXACT, INVALID, OVERFLOW, UNDERFLOW, flags, lines
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16, ElementType

_TOLD = {"divide by zero": DIVIDE_BY_ZERO, "overflow": OVERFLOW, "underflow": UNDERFLOW, "invalid value": INVALID}
ONE, MIN_NORMAL, LARGEST, INFINITY = 0x3F800000, 0x00800000, 0x7F7FFFFF, 0x7F800000


class TestFlags:
    """Those of IEEE 754; TestFloat's own verifier has found the exported files without an error."""

    @pytest.mark.parametrize(
        ("line", "what"),
        [
            ("3F800000 40000000 3F000000 00", "exact"),
            ("3F800000 40400000 3EAAAAAB 01", "inexact"),
            ("3F800000 00000000 7F800000 08", "divide by zero"),
            ("00000000 80000000 7FC00000 10", "0/0"),
            ("7F800000 7F800000 7FC00000 10", "inf/inf"),
            ("7FC00001 3F800000 7FC00000 00", "a quiet NaN"),
            ("7F800001 3F800000 7FC00000 10", "a signaling NaN"),
            ("7F7FFFFF 3F000000 7F800000 05", "overflow"),
            ("00000001 40000000 00000000 03", "underflow to zero"),
            ("00000002 40000000 00000001 00", "a subnormal number that is exact raises nothing"),
            (
                "00FFFFFF 40000000 00800000 03",
                "as near below the smallest normal number as can be, and rounded up to it",
            ),
        ],
    )
    def test_lines_by_hand(self, line: str, what: str) -> None:
        a, b, _, _ = (int(part, 16) for part in line.split())
        assert list(lines([(a, b)], FLOAT)) == [line], what

    @pytest.mark.parametrize("element_type", [FLOAT, DOUBLE], ids=str)
    def test_the_processor_raises_the_same(self, element_type: ElementType) -> None:
        """NumPy tells of all flags but inexact, for pairs of every magnitude."""
        fmt = element_type.binary_format
        assert fmt is not None
        generator = np.random.default_rng(14)
        kind = np.dtype(f"u{element_type.bits // 8}")
        numbers = generator.integers(0, np.iinfo(kind).max, (600, 2), kind, endpoint=True)
        ends = [0, 1, fmt.largest, fmt.largest + 1, 1 << fmt.trailing_bits, (1 << fmt.trailing_bits) - 1]
        pairs = [*numbers.tolist(), *([a, b] for a in ends for b in ends)]
        seen = 0
        for a, b in pairs:
            told = _raised(np.array([a, b], kind).view(element_type.numpy))
            assert flags(a, b, fmt) & ~INEXACT == told, (hex(a), hex(b))
            seen |= told
        assert seen == sum(_TOLD.values())


class TestFiles:
    """One for each element type, every pair of the suite once."""

    @pytest.mark.parametrize(
        ("element_type", "digits"), [(FLOAT16, 4), (BFLOAT16, 4), (FLOAT, 8), (DOUBLE, 16)], ids=str
    )
    def test_each(self, element_type: ElementType, digits: int) -> None:
        name = {FLOAT16: "f16", BFLOAT16: "bf16", FLOAT: "f32", DOUBLE: "f64"}[element_type]
        rows = [line.split(" ") for line in (exported("testfloat") / f"{name}_div.txt").read_text().splitlines()]
        assert len(rows) > 1000
        assert {tuple(map(len, row)) for row in rows} == {(digits, digits, digits, 2)}
        assert len({(a, b) for a, b, _, _ in rows}) == len(rows)
        assert rows == sorted(rows)


def _raised(pair: Any) -> int:
    """Return the flags that the processor raises for a division."""
    raised = 0

    def call(words: str, flag: int) -> None:
        nonlocal raised
        raised |= _TOLD[words]

    with np.errstate(all="call", call=call):
        np.divide(pair[:1], pair[1:])
    return raised
