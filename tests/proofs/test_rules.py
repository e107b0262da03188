"""What is said of every header of the core's rules; tests/machine/proofs extracts and compiles them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from proofs.checking import rules
from proofs.checking.extraction import PROOFS
from proofs.checking.rules import FOLDER, RECORD, RULES, digests
from tests.copies import copied


class TestRecord:
    """An edited header is noticed without Why3, and so is an edit of what extracts it."""

    def test_everything_is_as_it_was_when_the_headers_were_extracted(self) -> None:
        now, then = (set(text.splitlines()) for text in (digests(), RECORD.read_text(encoding="utf-8")))
        changed = sorted({line.split()[1] for line in now ^ then})
        assert changed == [], "`make rules`, with Why3, extracts the rules from the proofs; nobody edits them by hand"

    @pytest.mark.parametrize(
        "file",
        [
            *("theories/c_loops.mlw", "theories/tensor.mlw", "theories/two_step_kernels.mlw", "c/two_step.drv"),
            *("c/sonnx_div.h", "c/extracted.sha256", "checking/extraction.py"),
        ],
    )
    def test_a_changed_file_is_another(self, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The library of C, too, is extracted from what is recorded."""
        for name in ("proofs", "src/vinculum/kernels/core/rules"):
            copied(PROOFS.parent / name, tmp_path / name, ignore=shutil.ignore_patterns("why3*"))
        monkeypatch.setattr(rules, "PROOFS", tmp_path / "proofs")
        monkeypatch.setattr(rules, "LIBRARY_RECORD", tmp_path / "proofs" / "c" / "extracted.sha256")
        before = set(digests().splitlines())
        with (tmp_path / "proofs" / file).open("a", encoding="utf-8") as changed:
            changed.write("\n")
        assert [line.split()[1] for line in before - set(digests().splitlines())] == [f"proofs/{file}"]

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
