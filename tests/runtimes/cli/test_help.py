"""The examples in the help that read or write OpenVINO's files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.conftest import here
from tests.cli.test_help import in_a_clone, run_all

__all__ = ["here", "in_a_clone"]


@pytest.mark.usefixtures("in_a_clone")
def test_they_run(here: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    run_all(here, capsys, lambda example: ".xml" in example)
