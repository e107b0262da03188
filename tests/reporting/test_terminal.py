"""How our pages count."""

from __future__ import annotations

import pytest

from vinculum.reporting.terminal import counted


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes"), (1_234_567, "1,234,567 nodes")]
)
def test_counted(count: int, text: str) -> None:
    assert counted(count, "node") == text
