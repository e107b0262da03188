"""Files for citation, packaging, building and releases agree with the project."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import vinculum
from building.release_notes import notes

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: str | Path) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_citation() -> None:
    citation = read("CITATION.cff")
    assert citation["version"] == vinculum.__version__
    assert citation["license"] == PROJECT["license"].split(" AND ")[0]  # The others are those of bundled code.
    first = re.search(r"^## \[(\d.*?)\] - (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert first is not None
    assert (first[1], first[2]) == (citation["version"], str(citation["date-released"]))


def test_the_conda_recipe() -> None:
    recipe = read("packaging/conda/recipe.yaml")
    assert recipe["context"]["version"] == vinculum.__version__
    assert recipe["package"]["name"] == PROJECT["name"]
    needed = {re.sub(r"(>=)", r" \1", requirement) for requirement in PROJECT["dependencies"]}
    assert set(recipe["requirements"]["run"]) == needed | {"python"}
    (script,) = recipe["build"]["python"]["entry_points"]
    assert dict([script.split(" = ")]) == PROJECT["scripts"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_is_there(path: Path) -> None:
    jobs = read(path)["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert steps
    for step in steps:
        assert ("run" in step) != ("uses" in step)
        for target in re.findall(r"^make ([a-z-]+)", step.get("run", ""), re.MULTILINE):
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), f"{path.name} runs make {target}"


class TestRelease:
    """A tag publishes its version, after an owner's approval, as in RELEASING.md."""

    def test_the_notes(self) -> None:
        changelog = "# Changelog\n\n## [Unreleased]\n\n### Added\n- b\n\n## [0.1.0] - 2026-01-02\n- a\n"
        assert notes("", "0.1.0", changelog) == "### Added\n- b"
        assert notes("v0.1.0", "0.1.0", changelog) == "- a"
        with pytest.raises(ValueError, match=r"the tag is v0\.2\.0, and the version .* is 0\.1\.0"):
            notes("v0.2.0", "0.1.0", changelog)
        with pytest.raises(ValueError, match=r"no section '## \[0\.2\.0\] - YEAR-MONTH-DAY'"):
            notes("v0.2.0", "0.2.0", changelog)

    def test_of_this_version(self) -> None:
        told = notes(f"v{vinculum.__version__}", vinculum.__version__, (ROOT / "CHANGELOG.md").read_text("utf-8"))
        assert "### " in told
        assert "## [" not in told

    def test_nothing_is_published_before_everything_is_checked(self) -> None:
        jobs = read(".github/workflows/release.yml")["jobs"]
        assert (jobs["publish"]["needs"], jobs["publish"]["if"]) == ("check", "github.ref_type == 'tag'")
        assert jobs["publish"]["permissions"] == {"id-token": "write"}
        assert jobs["check"]["needs"] == ["wheels", "source"]
        page = (ROOT / "RELEASING.md").read_text("utf-8")
        assert jobs["publish"]["environment"] in page
        assert "release.yml" in page


def test_pre_commit_runs_what_make_lint_runs() -> None:
    ((local,),) = [read(".pre-commit-config.yaml")["repos"]]
    for hook in local["hooks"]:
        program = hook["entry"].split()[0].removeprefix(".venv/bin/")
        assert f"$(BIN)/{program}" in MAKEFILE


def test_make_help_names_every_target() -> None:
    public = set(re.findall(r"^\.PHONY: (.*?[^\\])$", MAKEFILE.replace("\\\n", " "), re.MULTILINE)[0].split())
    helped = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))
    assert helped <= public
    assert public - helped == {"lint", "types", "layers", "pytest", "sanitize-memory", "sanitize-threads"}
