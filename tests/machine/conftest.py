"""What tests of this machine share: a browser, where there is one."""

from __future__ import annotations

import importlib.util
import shutil

import pytest

from tests.optional import skip_or_fail


@pytest.fixture(scope="session")
def chromium_or_skip(request: pytest.FixtureRequest) -> str:
    """Return the path of Chromium; without it skip the test, or fail it under ``--require-all``."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None or importlib.util.find_spec("playwright") is None:
        skip_or_fail(request, "a browser: apt install chromium, pip install playwright")
    return found
