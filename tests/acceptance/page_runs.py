"""The steps of a page, run one after the other in a folder."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sys
import tomllib
from collections.abc import Callable, Container
from pathlib import Path

import pytest

from tests import processes
from tests.acceptance.conftest import Vinculum
from tests.acceptance.documents import PAGES, ROOT, Block, blocks, commented, difference
from tests.cases import case
from tests.fake_runtime import FOREIGN

BY_HAND = ("pip install", "apt install", "make ", "git ", ". ", "source ", "python -m venv", "cd ")
"""The beginnings of commands that set up a machine or take minutes: these are checked, not run."""
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def read(page: Path) -> list[Block]:
    return blocks(page.read_text("utf-8"))


def needs_a_runtime(step: Block) -> bool:
    return not set(FOREIGN).isdisjoint(step.needs)


def needs_this_machine(step: Block) -> bool:
    return bool(step.needs) and not needs_a_runtime(step)


def each_page(has: Callable[[Block], bool]) -> pytest.MarkDecorator:
    """Parametrize a test by the pages that have such a step."""
    pages = [page for page in PAGES if any(map(has, read(page)))]
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(ROOT)))


def run_page(
    page: Path, folder: Path, vinculum: Vinculum, installed: Container[str] = (), *, slow: bool = False
) -> None:
    """Run the steps whose needs are installed, in a folder with the content of a clone."""
    for name in ("examples", "known_deviations"):
        (folder / name).symlink_to(ROOT / name)
    for step in read(page):
        if step.not_run or (step.slow and not slow) or any(name not in installed for name in step.needs):
            continue
        with case(f"{page.name}, line {step.line}"):
            if step.language == "bash":
                _commands(step, folder, vinculum)
            elif step.title is not None:
                file = folder / step.title
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(step.body, encoding="utf-8")
            elif step.language == "python":
                _program(step, folder, vinculum)
            elif step.language == "toml":
                tomllib.loads(step.body)
            elif step.language == "json":
                json.loads(step.body)


def _commands(step: Block, folder: Path, vinculum: Vinculum) -> None:
    printed, code = "", 0
    for command in step.commands:
        assert code == 0, f"{printed}\nexit code {code}"
        if command.startswith(BY_HAND):
            _look_at(command)
            continue
        code, said = done(command, folder, vinculum)
        printed += said
    assert code == step.exit_code, f"{printed}\nexit code {code}"
    if step.printed is not None:
        assert (parted := difference(step.printed, printed)) is None, parted


def done(command: str, folder: Path, vinculum: Vinculum) -> tuple[int, str]:
    """Run a command and return its exit code, that of a shell after a signal, and its output."""
    words = shlex.split(command)
    if re.search(r"[|<>&;$]", re.sub(r"'[^']*'", "", command)):
        aliases = f'vinculum() {{ "{sys.executable}" -m vinculum "$@"; }}; python() {{ "{sys.executable}" "$@"; }}; '
        ended = processes.run(
            ["bash", "-c", aliases + command], cwd=folder, env={**processes.importing(), "COLUMNS": "80"}
        )
    elif words[0] == "vinculum":
        ended = vinculum(*words[1:], folder=folder)
    elif words[0] == "python":
        ended = vinculum("--python", *words[1:], folder=folder)
    else:
        ended = processes.run(words, cwd=folder)
    if ended.returncode < 0:
        return 128 - ended.returncode, f"{ended.stdout}{ended.stderr}{signal.strsignal(-ended.returncode)}\n"
    return ended.returncode, ended.stdout + ended.stderr


def _program(step: Block, folder: Path, vinculum: Vinculum) -> None:
    file = folder / f"line_{step.line}.py"
    file.write_text(step.body, encoding="utf-8")
    ended = vinculum("--python", file.name, folder=folder)
    file.unlink()
    assert ended.returncode == step.exit_code, ended.stderr
    parted = commented(step.comments, ended.stdout) if step.printed is None else difference(step.printed, ended.stdout)
    assert parted is None, parted


def _look_at(command: str) -> None:
    """Check a command that is not run: targets of the Makefile and extras of the package must exist."""
    if command.startswith("make "):
        assert {word for word in command.split()[1:] if "=" not in word} <= TARGETS
    for extras in re.findall(r"\[([\w,]+)\]", command):
        assert set(extras.split(",")) <= EXTRAS.keys()
