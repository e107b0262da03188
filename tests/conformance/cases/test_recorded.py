"""The suite is as it was recorded: a case that changes makes saved and published runs old, so it must be meant.

``python -m tests.conformance.cases.test_recorded`` records the suite as it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.run.file import digest
from vinculum.spec.model import OperatorSpec
from vinculum.spec.rows import ROWS

RECORDED = Path(__file__).with_name("recorded.txt")


def families(row: OperatorSpec) -> list[str]:
    """Return a line for each element type of a version: how many cases it has, and a digest of them all.

    Of cases of the last level only ids, clauses and levels count: their operands take seconds to make.
    """
    counts, digests = Counter[str](), defaultdict[str, Any](sha256)
    for case in cases(Level.FULL, [row]):
        family = f"{row.title}, {case.element_type}"
        counts[family] += 1
        of_numbers = digest(case) if case.level <= Level.DEFAULT else ""
        digests[family].update(f"{case.id} {case.clause} {case.level.value} {of_numbers}\n".encode())
    return [f"{family}: {count} cases, {digests[family].hexdigest()[:16]}" for family, count in counts.items()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_as_recorded(row: OperatorSpec) -> None:
    recorded = [line for line in RECORDED.read_text("utf-8").splitlines() if line.startswith(f"{row.title}, ")]
    assert families(row) == recorded


if __name__ == "__main__":
    RECORDED.write_text("".join(f"{line}\n" for row in ROWS for line in families(row)), "utf-8")
