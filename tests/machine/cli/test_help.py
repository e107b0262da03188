"""Completion in the other shells, each asked for by a process of its own."""

from __future__ import annotations

import pytest

from tests.cli.test_help import ASKED, check_completion


@pytest.mark.parametrize("shell", ASKED)
def test_completion(shell: str) -> None:
    check_completion(shell)
