"""The fixtures of tests/acceptance; the machine is asked about processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.conftest import Vinculum, environment, examples, guarded, mean, refused, started_vinculum
from tests.browser import FLAGS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["environment", "examples", "guarded", "mean", "refused", "started_vinculum"]


@pytest.fixture(scope="session")
def vinculum(started_vinculum: Vinculum) -> Vinculum:
    """Return a function that runs the command."""
    return started_vinculum


@pytest.fixture(scope="module")
def browser(chromium_or_skip: str) -> Iterator[Browser]:
    """Yield a headless Chromium."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_or_skip, args=list(FLAGS))
        yield browser
        browser.close()
