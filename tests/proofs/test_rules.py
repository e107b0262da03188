"""What is said of every header of the core's rules; tests/machine/proofs extracts and compiles them."""

from __future__ import annotations

import re

import pytest

from proofs.checking.rules import FOLDER, RULES


class TestText:
    """What is said of every header."""

    @pytest.mark.parametrize("name", [file.name for file in RULES])
    def test_every_function_is_static_inline(self, name: str) -> None:
        text = (FOLDER / name).read_text(encoding="utf-8")
        opened = [line for line in text.splitlines() if re.match(r"\w.*\(", line) and not line.startswith("#")]
        assert opened
        assert all(line.startswith("static inline ") for line in opened)
        assert text.startswith("/* Extracted by Why3 ")
        assert '#pragma once\n#include "contract.h"\n' in text
