"""What the tests of the proofs share: Why3 and its provers, where they are installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.checking.provers import ProofError, configure


@pytest.fixture(scope="session")
def provers_or_skip(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a configuration for Why3; without the provers skip the test, or fail it under ``--require-provers``."""
    try:
        return configure(tmp_path_factory.mktemp("why3"))
    except ProofError as error:
        if request.config.getoption("--require-provers"):
            pytest.fail(f"--require-provers forbids to skip what needs Why3: {error}")
        pytest.skip(f"Why3 and its provers are optional here: {error}")
