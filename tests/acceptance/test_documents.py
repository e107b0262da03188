"""Every command and program in README.md and docs/ does what its page says, run from top to bottom of the page."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import processes
from tests.acceptance.conftest import Vinculum
from tests.acceptance.documents import PAGES, ROOT, Block, blocks, commented, difference
from tests.cases import case
from tests.optional import needs

BY_HAND = ("pip install", "apt install", "make ", "git ", ". ", "source ", "python -m venv", "cd ")
"""How commands begin that set up a machine, or that take minutes: they are looked at, not run."""
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
SLOW = [page for page in PAGES if re.search("<!-- test: .*slow: ", page.read_text("utf-8"))]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that holds what a clone holds and the pages name."""
    for name in ("examples", "known_deviations"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


class TestPages:
    """Issue 20, point 3: every code block and command is executed, and its output compared."""

    @every_page
    def test_quick_steps(self, page: Path, folder: Path, vinculum: Vinculum) -> None:
        _run(page, [block for block in _read(page) if block.slow is None], folder, vinculum)

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("page", SLOW, ids=lambda page: str(page.relative_to(ROOT)))
    def test_all_steps(self, page: Path, folder: Path, vinculum: Vinculum) -> None:
        _run(page, _read(page), folder, vinculum)

    @every_page
    def test_nothing_escapes(self, page: Path) -> None:
        """Commands stand in fences that name their language, and all that is printed is compared."""
        text = re.sub(r"^(```+).*?^\1$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert re.findall(r"^ {4,}(?:vinculum|make|python|pip) .*", text, re.MULTILINE) == []
        for block in _read(page):
            with case(f"line {block.line}"):
                known = {"bash", "python", "yaml", "toml", "json", "c"}
                assert block.language in known or block.not_run
                if block.language == "python" and block.title is None and not block.not_run:
                    assert block.body.count("print(") == len(block.comments) or block.printed is not None
                if block.language == "yaml":
                    shown = {command for other in _read(page) if other.language == "bash" for command in other.commands}
                    runs = re.findall(r"run: (.*)", block.body)
                    assert [r for r in runs if r not in shown and not r.startswith(BY_HAND)] == []


class TestReadme:
    """Issue 20, point 4: four rows, each with one command, which finds or does what its row says."""

    COMMANDS = re.findall(r"^\|[^|]+\| `(vinculum [^`]+)` \|", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)

    def test_four(self) -> None:
        assert [command.split()[1] for command in self.COMMANDS] == ["check", "audit", "harden", "conform"]

    @needs("onnxruntime")
    def test_each_as_pasted(self, folder: Path, vinculum: Vinculum) -> None:
        assert [_done(command, folder, vinculum)[0] for command in self.COMMANDS] == [1, 1, 0, 1]


class TestRules:
    """What is compared, and what is not."""

    def test_times_and_layout(self) -> None:
        assert difference("a  12.5 ms\n──", "a 7\nms ─────") is None
        assert difference("a 12 b", "a 13 b") is not None

    def test_what_is_left_out(self) -> None:
        assert difference("one\n...\nfour", "one two three four") is None
        assert difference("...\nfour", "four") is None
        assert difference("one\n...", "two one") is not None

    def test_comments(self) -> None:
        assert commented(["[-3 4], truncated"], "[-3  4]\n") is None
        assert commented(["[-3 4]"], "[-3 5]\n") is not None
        assert commented(["1"], "1\n2\n") is not None


def _read(page: Path) -> list[Block]:
    return blocks(page.read_text("utf-8"))


def _run(page: Path, steps: list[Block], folder: Path, vinculum: Vinculum) -> None:
    """Run steps one after the other; skip the test at the end if one needed what is not installed."""
    lacking: set[str] = set()
    for step in steps:
        missing = {name for name in step.needs if find_spec(name) is None and shutil.which(name) is None}
        lacking |= missing
        if missing or step.not_run:
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
    if lacking:
        pytest.skip(f"all but what needs what is not installed here: {', '.join(sorted(lacking))}")


def _commands(step: Block, folder: Path, vinculum: Vinculum) -> None:
    printed, code = "", 0
    for command in step.commands:
        assert code == 0, f"{printed}\nexit code {code}"
        if command.startswith(BY_HAND):
            _look_at(command)
            continue
        code, said = _done(command, folder, vinculum)
        printed += said
    assert code == step.exit_code, f"{printed}\nexit code {code}"
    if step.printed is not None:
        assert (parted := difference(step.printed, printed)) is None, parted


def _done(command: str, folder: Path, vinculum: Vinculum) -> tuple[int, str]:
    """Run a command and return its exit code and what it printed; what died by a signal ends as in a shell."""
    words = shlex.split(command)
    if re.search(r"[|<>&;$]", re.sub(r"'[^']*'", "", command)):
        aliases = f'vinculum() {{ "{sys.executable}" -m vinculum "$@"; }}; python() {{ "{sys.executable}" "$@"; }}; '
        done = processes.run(
            ["bash", "-c", aliases + command], cwd=folder, env={**processes.importing(), "COLUMNS": "80"}
        )
    elif words[0] == "vinculum":
        done = vinculum(*words[1:], folder=folder)
    elif words[0] == "python":
        done = vinculum("--python", *words[1:], folder=folder)
    else:
        done = processes.run(words, cwd=folder)
    if done.returncode < 0:
        return 128 - done.returncode, f"{done.stdout}{done.stderr}{signal.strsignal(-done.returncode)}\n"
    return done.returncode, done.stdout + done.stderr


def _program(step: Block, folder: Path, vinculum: Vinculum) -> None:
    file = folder / f"line_{step.line}.py"
    file.write_text(step.body, encoding="utf-8")
    done = vinculum("--python", file.name, folder=folder)
    file.unlink()
    assert done.returncode == step.exit_code, done.stderr
    parted = commented(step.comments, done.stdout) if step.printed is None else difference(step.printed, done.stdout)
    assert parted is None, parted


def _look_at(command: str) -> None:
    """Check what can be told of a command that is not run: targets of the Makefile and extras of the package."""
    if command.startswith("make "):
        assert {word for word in command.split()[1:] if "=" not in word} <= TARGETS
    for extras in re.findall(r"\[([\w,]+)\]", command):
        assert set(extras.split(",")) <= EXTRAS.keys()
