"""The package and the theories agree on formats, ranges, and the table of special values.

Tests of quotients are elsewhere; these compare the texts.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from vinculum.spec import element_types
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16, ElementType
from vinculum.spec.special_values import OperandClass, QuotientClass, quotient_class

THEORIES = Path(__file__).parents[2] / "proofs" / "theories"


def module(theory: str, name: str) -> str:
    text = (THEORIES / f"{theory}.mlw").read_text(encoding="utf-8")
    found = re.search(rf"^module {name}$.*?^end$", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]


def constant(theory: str, name: str, called: str) -> str:
    """Return the text of the literal that a module gives a constant."""
    found = re.search(rf"constant {called} : \w+ = \(?(-?[\w.]+)", module(theory, name))
    assert found is not None
    return found[1]


@pytest.mark.parametrize("name", ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"])
def test_ranges_of_integers(name: str) -> None:
    element_type: ElementType = getattr(element_types, name.upper())
    bounds = tuple(int(constant("integer_division", name, called), 0) for called in ("minimum", "maximum"))
    assert bounds == (element_type.minimum, element_type.maximum)


@pytest.mark.parametrize(
    ("name", "element_type"), [("binary16", FLOAT16), ("bfloat16", BFLOAT16), ("binary32", FLOAT), ("binary64", DOUBLE)]
)
def test_formats(name: str, element_type: ElementType) -> None:
    text = module("float_formats", "Format")
    found = re.search(rf"{name} : format = {{ precision = (\d+); least = (-\d+); greatest = (\d+) }}", text)
    stated = element_type.binary_format
    assert found is not None
    assert stated is not None
    assert tuple(map(int, found.groups())) == (
        stated.significand_bits,
        stated.subnormal_exponent,
        stated.bias,  # the exponent of the largest power of two
    )


def test_the_table_of_special_values() -> None:
    words = {
        OperandClass.ZERO: "ZeroClass",
        OperandClass.FINITE: "FiniteClass",
        OperandClass.INFINITY: "InfinityClass",
        OperandClass.NAN: "NaNClass",
        QuotientClass.ZERO: "ZeroQuotient",
        QuotientClass.ROUNDED: "RoundedQuotient",
        QuotientClass.INFINITY: "InfinityQuotient",
        QuotientClass.NAN: "NaNQuotient",
    }
    ours = [
        (words[dividend], words[divisor], words[quotient_class(dividend, divisor)])
        for dividend, divisor in product(OperandClass, repeat=2)
    ]
    proved = re.findall(r"\| (\w+Class), (\w+Class) -> (\w+Quotient)", module("float_division", "SpecialValues"))
    assert len(ours) == 16
    assert sorted(proved) == sorted(ours)
