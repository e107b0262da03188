"""Texts for users have none of the phrases that readers stumbled over, and no dead links."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from building.documentation.sources import MADE_OF, links

ROOT = Path(__file__).parents[2]
GENERATED = {"docs/performance.md"}
PAGES = [
    path
    for folder in ("", "docs", "examples", "proofs", "packaging")
    for path in sorted((ROOT / folder).glob("**/*.md" if folder else "*.md"))
    if str(path.relative_to(ROOT)) not in GENERATED
]
# The ids of conformance cases are kept: files of known deviations name them.
KEPT = ("kernels", "conformance/cases")
SOURCES = [
    path
    for path in sorted((ROOT / "src" / "vinculum").rglob("*"))
    if path.suffix in (".py", ".j2") and not str(path.relative_to(ROOT / "src" / "vinculum")).startswith(KEPT)
]
PHRASES = (
    r"(be|been|is|are) (said|told) (by|in|of|as)",
    r"(can|could)not (say|be said)",
    r"(hand|hands|handed) (out|over|in)",
    r"(leave|leaves|left) (\w+ )?open",
    r"by place",
    r"die[sd]? of",
    r"held against",
    r"in little memory",
    r"it says so",
    r"lies elsewhere",
    r"nobody (knows|says|gave)",
    r"tells? of",
    r"the other way round",
    r"to be had|cannot be had",
    r"turned round",
    r"very bits",
    r"what divides",
    r"install '?vinculum-div\[",
)
STUMBLES = re.compile(rf"\b({'|'.join(PHRASES)})\b", re.IGNORECASE)


def _texts_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts for users with their places: pages, templates, and the messages and help in the code."""
    content, name = path.read_text("utf-8"), str(path.relative_to(ROOT))
    lines = _strings(ast.parse(content)) if path.suffix == ".py" else enumerate(content.split("\n"), 1)
    for line, text in lines:
        yield f"{name}:{line}", text


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the strings of a file that are not documentation."""
    documentation = set()
    for node in ast.walk(tree):  # A node comes before its children.
        if isinstance(node, ast.Expr):
            documentation.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documentation:
            yield node.lineno, node.value


def test_what_users_read() -> None:
    read = [found for path in (*PAGES, *SOURCES) for found in _texts_in(path)]
    assert {where.partition(":")[0].rpartition(".")[2] for where, _ in read} == {"md", "py", "j2"}
    found = [f"{where}: {match[0]!r}" for where, text in read for match in STUMBLES.finditer(text)]
    assert found == []


def test_links_lead_somewhere_in_the_repository() -> None:
    """On GitHub, where the pages that the site makes are not."""
    linked = [(path, link) for path in PAGES for link in links(path.read_text("utf-8"))]
    assert len(linked) > 200
    assert [f"{path.relative_to(ROOT)}: {link}" for path, link in linked if not (path.parent / link).exists()] == []
    assert [place for place in MADE_OF if not (ROOT / place).exists()] == []
