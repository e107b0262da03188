"""Why3 and its provers, where they are installed, and a small proof."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from proofs.checking.extraction import COMPILER, extract
from proofs.checking.provers import ProofError, configure
from proofs.checking.replay import replay, replay_named
from tests.machine.proofs.compiled_rules import COMPILERS, CompiledRules
from tests.optional import program_or_skip, skip_or_fail
from tests.proofs import small_proofs
from tests.proofs.small_proofs import ToldBy


@pytest.fixture(scope="session")
def provers_or_skip(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a configuration for Why3; without the provers skip the test, or fail it under ``--require-all``."""
    try:
        return configure(tmp_path_factory.mktemp("why3"))
    except ProofError as error:
        skip_or_fail(request, f"Why3 and its provers: {error}")


@pytest.fixture(scope="session")
def two_provers(provers_or_skip: Path) -> Path:
    """Return a configuration of two provers, whose drivers Why3 reads fastest when it starts."""
    main, *provers = provers_or_skip.read_text(encoding="utf-8").split("[prover]")
    kept = [text for text in provers if any(f"/{key}.drv" in text for key in small_proofs.PROVERS)]
    path = provers_or_skip.with_name("two.conf")
    path.write_text("[prover]".join((main, *kept)), encoding="utf-8")
    return path


@pytest.fixture(scope="session", params=COMPILERS)
def rules(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CompiledRules:
    """Return the rules of the core, compiled as C and as C++; without that compiler skip the test."""
    program_or_skip(request, COMPILERS[request.param])
    return CompiledRules(tmp_path_factory.mktemp("rules"), request.param)


@pytest.fixture(scope="session")
def sources(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, provers_or_skip: Path
) -> list[Path]:
    """Return the C files of the extracted library, beside their headers; without a compiler skip the test."""
    program_or_skip(request, COMPILER)
    return extract(tmp_path_factory.mktemp("sonnx-c"))


@pytest.fixture(scope="session")
def proved(tmp_path_factory: pytest.TempPathFactory, two_provers: Path) -> Path:
    """Return a folder of proofs with one small theory, which is proved."""
    folder = tmp_path_factory.mktemp("proved")
    small_proofs.fill(folder, two_provers)
    return folder


@pytest.fixture
def proofs(proved: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder, which a test may damage."""
    return Path(shutil.copytree(proved, tmp_path / "proofs"))


@pytest.fixture
def told_by(
    proofs: Path,
    provers_or_skip: Path,
    two_provers: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> ToldBy:
    """Return a function that replays the theories named, or everything, and returns how many failed and the output.

    With everything, each prover tries for a second to prove ``false``.
    """
    monkeypatch.setattr("proofs.checking.contradictions.SECONDS", 1)

    def told(*names: str) -> tuple[int, str]:
        failed = replay_named(proofs, two_provers, names) if names else replay(proofs, provers_or_skip, everything=True)
        return failed, capsys.readouterr().out

    return told
