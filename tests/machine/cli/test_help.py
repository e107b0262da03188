"""Completion in each shell."""

from __future__ import annotations

import pytest

from tests.cli.test_help import ASKED, check_completion


@pytest.mark.parametrize("shell", ASKED)
def test_completion(shell: str) -> None:
    check_completion(shell)
