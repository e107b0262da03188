"""All cases of the default level, asked of every planted divider."""

from __future__ import annotations

import os

import pytest

from tests.conformance.asking import asked
from tests.conformance.planted.dividers import DIVIDERS
from tests.conformance.planted.measuring import FRESH, measured
from vinculum.conformance.cases.case import Level

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals, and no such programs")


@pytest.mark.parametrize("name", DIVIDERS)
def test_found_and_truly_named(name: str) -> None:
    told = measured(DIVIDERS[name], asked(Level.DEFAULT), FRESH)
    assert not told.failures, list(told.said)
