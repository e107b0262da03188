"""The examples in the help that read or write OpenVINO's files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.conftest import here
from tests.cli.test_help import NOT_RUN, in_a_clone, run_all
from vinculum.cli.help import EXAMPLES

__all__ = ["here", "in_a_clone"]


@pytest.mark.usefixtures("in_a_clone")
def test_they_run(here: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    examples = [example for name, every in EXAMPLES.items() if name not in NOT_RUN for example in every]
    run_all([example for example in examples if ".xml" in example], here, capsys)
