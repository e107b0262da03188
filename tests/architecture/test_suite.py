"""`make test` has the same result everywhere: no test imports a runtime or skips because a package is missing."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests import processes
from tests.architecture.clause_markers import APART, TESTS
from tests.fake_runtime import FOREIGN

PROJECT = tomllib.loads((TESTS.parent / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
SKIPPING = {"skip_or_fail", "package_or_skip", "program_or_skip"}
FILES = sorted(path for path in TESTS.rglob("*.py") if path.relative_to(TESTS).parts[0] not in APART)


def forbidden(source: str) -> Iterator[str]:
    """Yield the runtimes that a file imports, and what it calls to skip."""
    if not any(name in source for name in (*FOREIGN, *SKIPPING, "importorskip")):
        return  # Parsing every file would take seconds.
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in FOREIGN)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and (node.module or "").partition(".")[0] in FOREIGN:
                yield f"{node.module}"
            yield from (alias.name for alias in node.names if alias.name in SKIPPING)
        elif isinstance(node, ast.Attribute) and node.attr == "importorskip":
            yield node.attr


def test_no_file_imports_a_runtime_or_skips_for_want_of_a_package() -> None:
    found = {path.relative_to(TESTS).as_posix(): list(forbidden(path.read_text("utf-8"))) for path in FILES}
    assert {name: words for name, words in found.items() if words} == {}


def test_what_is_installed_is_hidden() -> None:
    assert [find_spec(name) or sys.modules[name] for name in FOREIGN] == [None] * len(FOREIGN)


@pytest.mark.parametrize("extra", ["test", "lint"])
def test_no_runtime_is_installed_for_it(extra: str) -> None:
    assert [requirement for requirement in EXTRAS[extra] if requirement.startswith(FOREIGN)] == []


def test_a_process_ends_before_the_test_that_waits_for_it() -> None:
    settings = PROJECT["tool"]["pytest"]["ini_options"]
    assert processes.LIMIT < settings["timeout"] < settings["faulthandler_timeout"]
    assert settings["faulthandler_exit_on_timeout"]
