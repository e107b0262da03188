"""The headers of the core's rules, without Why3; tests/machine/proofs extracts and compiles them."""

from __future__ import annotations

import re

import pytest

from proofs.checking.extraction import PROOFS
from proofs.checking.rules import FOLDER, RULES, digests


def test_every_header_and_driver_is_recorded() -> None:
    """So an edit is noticed without Why3, as `test_manipulations` shows."""
    names = {line.split()[1] for line in digests().splitlines()}
    made = {f"src/vinculum/kernels/core/rules/{name}" for name in ("contract.h", *(file.name for file in RULES))}
    assert (
        made | {f"proofs/c/{name}" for name in ("contract.h", "types.drv", *(file.driver for file in RULES))} <= names
    )


@pytest.mark.parametrize("name", [file.name for file in RULES])
def test_every_function_is_static_inline(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    opened = [line for line in text.splitlines() if re.match(r"\w.*\(", line) and not line.startswith("#")]
    assert opened
    assert all(line.startswith("static inline ") for line in opened)
    assert text.startswith("/* Extracted by Why3 ")
    assert '#pragma once\n#include "contract.h"\n' in text


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
