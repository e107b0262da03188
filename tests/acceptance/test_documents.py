"""Every command and program in README.md and docs/ does what its page says, in the order of the page.

Those that need a runtime do so in tests/runtimes, those that need another program or package in tests/machine.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.acceptance.conftest import Vinculum
from tests.acceptance.documents import PAGES, ROOT, commented, difference
from tests.acceptance.page_runs import BY_HAND, each_page, needs_a_runtime, read, run_page
from tests.cases import case
from tests.fake_runtime import FOREIGN

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


class TestPages:
    """Issue 20, point 3: every code block and command is executed, and its output compared."""

    @every_page
    def test_quick_steps(self, page: Path, tmp_path: Path, vinculum: Vinculum) -> None:
        run_page(page, tmp_path, vinculum)

    @pytest.mark.exhaustive
    @each_page(lambda step: step.slow is not None and not step.needs)
    def test_all_steps(self, page: Path, tmp_path: Path, vinculum: Vinculum) -> None:
        run_page(page, tmp_path, vinculum, slow=True)

    @every_page
    def test_nothing_escapes(self, page: Path) -> None:
        """Commands are in fences that name their language, and all output is compared."""
        text = re.sub(r"^(```+).*?^\1$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert re.findall(r"^ {4,}(?:vinculum|make|python|pip) .*", text, re.MULTILINE) == []
        for block in read(page):
            with case(f"line {block.line}"):
                known = {"bash", "python", "yaml", "toml", "json", "c"}
                assert block.language in known or block.not_run
                assert needs_a_runtime(block) == bool(block.needs and set(block.needs) <= set(FOREIGN))
                if block.language == "python" and block.title is None and not block.not_run:
                    assert block.body.count("print(") == len(block.comments) or block.printed is not None
                if block.language == "yaml":
                    shown = {command for other in read(page) if other.language == "bash" for command in other.commands}
                    runs = re.findall(r"run: (.*)", block.body)
                    assert [r for r in runs if r not in shown and not r.startswith(BY_HAND)] == []


def test_what_is_compared() -> None:
    """Times and layout are not compared, and dots stand for any words."""
    for expected, actual in (
        ("a  12.5 ms\n──", "a 7\nms ─────"),
        ("one\n...\nfour", "one two three four"),
        ("...\n4", "4"),
    ):
        assert difference(expected, actual) is None
    for expected, actual in (("a 12 b", "a 13 b"), ("one\n...", "two one")):
        assert difference(expected, actual) is not None
    assert commented(["[-3 4], truncated"], "[-3  4]\n") is None
    for comments, actual in ((["[-3 4]"], "[-3 5]\n"), (["1"], "1\n2\n")):
        assert commented(comments, actual) is not None
