"""All cases of the default level, asked of every planted divider, those in C among them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conformance.asking import asked
from tests.conformance.planted.dividers import DIVIDERS
from tests.conformance.planted.measuring import FRESH, measured
from tests.machine.conformance.planted.in_c import IN_C
from tests.optional import program_or_skip
from vinculum.conformance.cases.case import Level

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals, and no such programs")


@pytest.mark.parametrize("name", [*DIVIDERS, *IN_C])
def test_found_and_truly_named(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    divider = DIVIDERS.get(name) or IN_C[name].built(program_or_skip(request, "cc"), tmp_path)
    told = measured(divider, asked(Level.DEFAULT), FRESH)
    assert not told.failures, told.checked
