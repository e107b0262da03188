"""The bounds of `vinculum.reference.accuracy` equal the formulas of the theories, evaluated in rationals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import add, mul, sub, truediv
from pathlib import Path
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from vinculum.reference.accuracy import error_bounds, introduced_error, propagated_error, rounding_error
from vinculum.reference.rounding import decode, round_to_nearest_even
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT8E5M2,
    FLOAT16,
    INT8,
    INT64,
    REAL,
    UINT8,
    UINT64,
    BinaryFormat,
    ElementType,
)

THEORIES = Path(__file__).parents[2] / "proofs" / "theories"
_DEFINITION = re.compile(r"^  function (\w+) (\([^=]*\)) : \w+ =\s*(.*?)(?=\n *\n|\n  function|\Z)", re.DOTALL | re.M)
_TOKEN = re.compile(r"\s*(\d+\.\d+|\d+|[a-z]\w*(?:\.[a-z]\w*)?|[-+*/]\.|[()])")
_SUMS = {"+.": add, "-.": sub}
_PRODUCTS = {"*.": mul, "/.": truediv}
LIBRARY: Mapping[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max, "from_int": Fraction, "power": pow}


@dataclass(frozen=True)
class Format:
    """A format in the terms of the theories: the bits of its significand, and its smallest subnormal number."""

    precision: int
    smallest: Fraction


def formulas(*modules: str) -> dict[str, Callable[..., Fraction]]:
    """Return the functions of modules such as ``"accuracy.Propagated"``; later ones may use those of earlier ones."""
    known: dict[str, Callable[..., Any]] = dict(LIBRARY)
    for title in modules:
        theory, module = title.split(".")
        text = (THEORIES / f"{theory}.mlw").read_text(encoding="utf-8")
        definitions = text.partition(f"module {module}\n")[2].partition("\nend\n")[0]
        for name, parameters, body in _DEFINITION.findall(definitions):
            known[name] = _function(re.findall(r"(\w+)(?=[\w ]*:)", parameters), body, dict(known))
    return known


def _function(parameters: list[str], body: str, known: Mapping[str, Callable[..., Any]]) -> Callable[..., Fraction]:
    def value(*arguments: Any) -> Fraction:
        reader = _Reader(body, {**known, **dict(zip(parameters, arguments, strict=True))})
        return reader.whole()

    return value


class _Reader:
    """Evaluates an expression while it reads it: sums of products of applications."""

    def __init__(self, text: str, names: Mapping[str, Any]) -> None:
        self.tokens = _TOKEN.findall(text)
        if "".join(self.tokens) != "".join(text.split()):
            raise ValueError(f"{text!r} holds more than sums, products and applications")
        self.names = names
        self.tokens.reverse()

    def whole(self) -> Fraction:
        result = self.chain(_SUMS, lambda: self.chain(_PRODUCTS, self.application))
        if self.tokens:
            raise ValueError(f"{self.tokens[-1]!r} follows a whole expression")
        return Fraction(result)

    def chain(self, operators: Mapping[str, Callable[[Any, Any], Any]], part: Callable[[], Any]) -> Any:
        result = part()
        while self.tokens and self.tokens[-1] in operators:
            result = operators[self.tokens.pop()](result, part())
        return result

    def application(self) -> Any:
        head = self.atom()
        if not callable(head):
            return head
        arguments = []
        while self.tokens and self.tokens[-1] not in {*_SUMS, *_PRODUCTS, ")"}:
            arguments.append(self.atom())
        return head(*arguments)

    def atom(self) -> Any:
        token = self.tokens.pop()
        if token == "(":
            inner = self.chain(_SUMS, lambda: self.chain(_PRODUCTS, self.application))
            if self.tokens.pop() != ")":
                raise ValueError("a parenthesis is not closed")
            return inner
        if token[0].isdigit():
            return Fraction(token) if "." in token else int(token)
        name, _, field = token.partition(".")
        return getattr(self.names[name], field) if field else self.names[name]


PROPAGATED = formulas("accuracy.Propagated")["propagated"]
TRUNCATION_BOUND = formulas("accuracy_truncation.TruncationError")["truncation_bound"]
TRUNCATED_TOTAL = formulas(
    "accuracy.Propagated", "accuracy_truncation.TruncationError", "accuracy_truncated_total.TruncatedTotal"
)["total"]
ROUNDING = formulas(
    "accuracy.Propagated",
    "accuracy_formats.BinaryFormat",
    "accuracy_rounding.RoundingError",
    "accuracy_rounded_total.RoundedTotal",
)

FLOATS = [FLOAT8E5M2, FLOAT16, BFLOAT16, FLOAT, DOUBLE]
INTEGERS = [INT8, UINT8, INT64, UINT64]
FRACTIONS = st.fractions(-1000, 1000, max_denominator=1000)
DIVISORS = FRACTIONS.filter(bool)
SIZES = st.fractions(0, 1000, max_denominator=1000)
PARTS = st.fractions(0, 1, max_denominator=1000).filter(lambda part: part < 1)


def binary_format(element_type: ElementType) -> BinaryFormat:
    """Return the format of a floating-point type."""
    assert element_type.binary_format is not None
    return element_type.binary_format


def theory_format(fmt: BinaryFormat) -> Format:
    """Return the format in the terms of the theories."""
    return Format(fmt.significand_bits, decode(1, fmt).value)


def overflows(magnitude: Fraction, fmt: BinaryFormat) -> bool:
    """Return whether the magnitude rounds to no number of the format."""
    return not decode(round_to_nearest_even(magnitude, fmt), fmt).is_finite


def finite(draw: st.DataObject, fmt: BinaryFormat) -> Fraction:
    """Draw a number of the format."""
    return decode(draw.draw(st.integers(0, fmt.largest)) | draw.draw(st.sampled_from((0, fmt.sign_mask))), fmt).value


class TestPropagated:
    """Theorem accuracy.Propagated.worst_case."""

    @given(FRACTIONS, DIVISORS, SIZES, PARTS)
    def test_is_computed_as_proved(self, a: Fraction, b: Fraction, p: Fraction, part: Fraction) -> None:
        q = part * abs(b)
        proved = PROPAGATED(a, b, p, q)
        assert propagated_error(a, b, p, q) == proved
        assert error_bounds(a, b, p, q, REAL) == (proved, Fraction(0), proved)

    @given(FRACTIONS, DIVISORS, SIZES, SIZES)
    def test_no_bound_where_the_theorem_has_none(self, a: Fraction, b: Fraction, p: Fraction, beyond: Fraction) -> None:
        assert propagated_error(a, b, p, abs(b) + beyond) is None


class TestTruncated:
    """Theorems accuracy_truncation.TruncationError.introduced_error and both of accuracy_truncated_total.

    One formula holds for every type, so the type is drawn as well, here and for floats.
    """

    @given(st.sampled_from(INTEGERS), st.data(), SIZES, PARTS)
    def test_is_computed_as_proved(
        self, element_type: ElementType, draw: st.DataObject, p: Fraction, part: Fraction
    ) -> None:
        values = st.integers(element_type.minimum, element_type.maximum).map(Fraction)
        a, b = draw.draw(values), draw.draw(values.filter(bool))
        assume(a / b <= element_type.maximum)
        q = part * abs(b)
        expected = PROPAGATED(a, b, p, q), TRUNCATION_BOUND(b), TRUNCATED_TOTAL(a, b, p, q)
        assert error_bounds(a, b, p, q, element_type) == expected


class TestRounded:
    """Theorems accuracy_rounding.RoundingError.introduced_error and those of accuracy_rounded_total."""

    @given(st.sampled_from(FLOATS), st.data(), PARTS)
    def test_error_is_computed_as_proved(self, element_type: ElementType, draw: st.DataObject, part: Fraction) -> None:
        fmt = binary_format(element_type)
        y = abs(finite(draw, fmt)) * part
        assert rounding_error(y, fmt) == ROUNDING["rounding_error"](theory_format(fmt), y)
        assert introduced_error(y, Fraction(1), element_type) == rounding_error(y, fmt)

    @given(st.sampled_from(FLOATS), st.data(), PARTS, PARTS)
    def test_total_is_computed_as_proved(
        self, element_type: ElementType, draw: st.DataObject, p_part: Fraction, q_part: Fraction
    ) -> None:
        fmt = binary_format(element_type)
        a, b = finite(draw, fmt), finite(draw, fmt)
        assume(b != 0)
        p, q = p_part * abs(a), q_part * abs(b)
        _, _, total = error_bounds(a, b, p, q, element_type)
        if overflows(ROUNDING["farthest"](a, b, p, q), fmt):
            assert total is None
        else:
            assert total == ROUNDING["total"](theory_format(fmt), a, b, p, q)
