"""The browser for tests of this machine, where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser import FLAGS
from tests.optional import package_or_skip, program_or_skip

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Yield a headless Chromium; without it skip the test, or fail it under ``--require-all``."""
    found = program_or_skip(request, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    package_or_skip(request, "playwright")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()
