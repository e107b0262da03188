"""All cases of the default level, asked of every planted divider, those in C among them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.conformance.asking import asked
from tests.conformance.planted.dividers import DIVIDERS, Divider
from tests.conformance.planted.measuring import FRESH, measured
from tests.machine.conformance.planted.in_c import IN_C
from tests.optional import skip_or_fail
from vinculum.conformance.cases.case import Level

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals, and no such programs")


@pytest.mark.parametrize("name", [*DIVIDERS, *IN_C])
def test_found_and_truly_named(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    told = measured(DIVIDERS.get(name) or _built(name, tmp_path, request), asked(Level.DEFAULT), FRESH)
    assert not told.failures, told.checked


def _built(name: str, folder: Path, request: pytest.FixtureRequest) -> Divider:
    compiler = shutil.which("cc")
    if compiler is None:
        skip_or_fail(request, "a C compiler")
    return IN_C[name].built(compiler, folder)
