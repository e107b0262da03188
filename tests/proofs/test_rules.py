"""What is said of every header of the core's rules; tests/machine/proofs extracts and compiles them."""

from __future__ import annotations

import re

import pytest

from proofs.checking.rules import FOLDER, RECORD, RULES, digests


class TestRecord:
    """An edited header is noticed without Why3, and so is an edit of what extracts it."""

    def test_everything_is_as_it_was_when_the_headers_were_extracted(self) -> None:
        now, then = (set(text.splitlines()) for text in (digests(), RECORD.read_text(encoding="utf-8")))
        changed = sorted({line.split()[1] for line in now ^ then})
        assert changed == [], "`make rules`, with Why3, extracts the rules from the proofs; nobody edits them by hand"

    def test_it_holds_every_header_and_driver(self) -> None:
        names = {line.split()[1] for line in digests().splitlines()}
        drivers = (file.driver for file in RULES)
        made = (f"src/vinculum/kernels/core/rules/{name}" for name in ("contract.h", *(file.name for file in RULES)))
        assert {*made, "proofs/c/contract.h", "proofs/c/types.drv", *(f"proofs/c/{name}" for name in drivers)} <= names


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
