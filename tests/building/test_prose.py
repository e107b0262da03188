"""What users read is plain technical English: none of the phrases that readers have stumbled over comes back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = {"docs/performance.md", "docs/traceability.md"}
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
PHRASES = {
    r"(?<!there )(is|are) no (?!longer|more)[a-z]+": "is not a ...",
    r"(be|been|is|are) (said|told) (by|in|of|as)": "stated, expressed, written",
    r"(can|could)not (say|be said)": "has no equivalent, is not representable",
    r"(hand|hands|handed) (out|over|in)": "return, expose, pass",
    r"(leave|leaves|left) (\w+ )?open": "does not define, does not declare",
    r"anew": "again",
    r"as many as": "the number of",
    r"by place": "by position",
    r"die[sd]? of": "crashes with",
    r"held against": "compared with",
    r"in little memory": "in bounded memory",
    r"it says so": "name what says it",
    r"lies elsewhere": "name the place",
    r"nobody (knows|says|gave)": "is unknown, is missing",
    r"of whose": "name the thing first",
    r"so many": "that many",
    r"tells? of": "reports, describes",
    r"that which": "what",
    r"the other way round": "conversely",
    r"to be had|cannot be had": "available, cannot be loaded",
    r"turned round": "reversed",
    r"very bits": "exactly these bits",
    r"what divides": "the engine, the runtime",
    r"whoever": "anyone who",
    r"install '?vinculum-div\[": "pip install PACKAGE: what is missing itself",
}


@cache
def texts() -> list[tuple[str, str]]:
    """Return what users read, each with where it is: pages, templates, and the messages and help in the code."""
    return [found for path in (*PAGES, *SOURCES) for found in _texts_in(path)]


def _texts_in(path: Path) -> Iterator[tuple[str, str]]:
    content, name = path.read_text("utf-8"), str(path.relative_to(ROOT))
    lines = _strings(ast.parse(content)) if path.suffix == ".py" else enumerate(content.split("\n"), 1)
    for line, text in lines:
        yield f"{name}:{line}", text


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the strings of a file that are not documentation."""
    documentation = set()
    for node in ast.walk(tree):  # It comes to a node before it comes to what the node holds.
        if isinstance(node, ast.Expr):
            documentation.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documentation:
            yield node.lineno, node.value


def stumbles(text: str) -> Iterator[str]:
    """Yield the phrases of a text that readers stumble over, each with what to write instead."""
    for phrase, advice in PHRASES.items():
        if match := re.search(rf"\b({phrase})\b", text, re.IGNORECASE):
            yield f"{match[0]!r} -> {advice}"


def test_what_users_read() -> None:
    found = [f"{where}: {stumble}" for where, text in texts() for stumble in stumbles(text)]
    assert not found, "\n".join(found)


def test_phrases_are_found() -> None:
    bad = "What cannot be said is no folder, and is left open by whoever asks."
    assert len(list(stumbles(bad))) == 4
    assert not list(stumbles("The converter rejects what has no equivalent, and is no longer slow."))


def test_pages_messages_and_templates_are_read() -> None:
    places = {where.partition(":")[0] for where, _ in texts()}
    assert {"README.md", "docs/tutorial/crash.md", "src/vinculum/cli/commands/check.py", "proofs/README.md"} <= places
    assert any(place.endswith(".j2") for place in places)
