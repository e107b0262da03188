"""What the texts of the proof of 64-bit division say agrees."""

from __future__ import annotations

import re

import pytest

from proofs.checking.extraction import PROOFS


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("theories/two_step_estimates.mlw", r"constant reduced_one : real = (\S+)"),
        ("c/two_step.drv", r'syntax val numerator "(\S+)"'),
        ("gappa/two_step.gappa", r"reduced_one = (\S+);"),
    ],
)
def test_the_numerator_is_one_number(file: str, pattern: str) -> None:
    found = re.findall(pattern, (PROOFS / file).read_text(encoding="utf-8"))
    assert [float.fromhex(literal) for literal in found] == [1 - 2.0**-50]
