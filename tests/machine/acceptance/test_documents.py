"""The steps of README.md and docs/ that need a program or a slow package do what the pages say."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.acceptance.conftest import Vinculum
from tests.acceptance.page_runs import each_page, needs_this_machine, read, run_page
from tests.optional import skip_or_fail


@each_page(needs_this_machine)
def test_quick_steps(page: Path, tmp_path: Path, vinculum: Vinculum, request: pytest.FixtureRequest) -> None:
    needed = {name for step in filter(needs_this_machine, read(page)) for name in step.needs}
    for name in needed:
        if find_spec(name) is None and shutil.which(name) is None:
            skip_or_fail(request, name)
    run_page(page, tmp_path, vinculum, needed)
