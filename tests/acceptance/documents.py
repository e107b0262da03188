"""The code blocks of README.md and docs/ as a sequence of steps, which tests run and compare.

A fence is a step by its language:

- ``bash``: each line is a command. The ``text`` that follows is what they print, to either stream.
- ``python``: a program. With a ``title`` it is a file of that name, without one it is run. What it prints is the
  ``text`` that follows, or stands in a comment behind each ``print(...)``, where an explanation may follow.
- ``text`` follows what prints it. ``yaml``, ``toml``, ``json`` and ``c`` are files for others: a title writes them.

Above a fence a comment may say what a test has to know: ``<!-- test: exit 1; needs openvino -->``. The words are
``exit N``, the exit code of the last command; ``needs NAME``; ``slow: WHY``, for ``make exhaustive`` only; and
``not run: WHY``. What needs a runtime is run in tests/runtimes, what needs anything else in tests/machine, and
what needs nothing in both, because what follows may rest on it. Layout is not compared, figures of time are masked
(`MASKS`), and ``...`` stands for any words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = {"performance.md"}
"""Pages of docs/ that programs write, with tests elsewhere."""
PAGES = [
    ROOT / "README.md",
    ROOT / "examples" / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name not in GENERATED),
]
MASKS = ((re.compile(r"\b[\d,]+(\.\d+)? ?(ms|s|us|ns|seconds)\b"), "TIME"), (re.compile(r"─+"), "─"))
"""Texts that differ from run to run or are layout, and what is compared instead."""

_FENCE = re.compile(
    r"^(?P<before>(?:<!--[^\n]*-->\n+)*)(?P<fence>```+)(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)$", re.M | re.S
)
_PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fence: its language, title and text, the words for tests, the printed text, and its line."""

    language: str
    title: str | None
    body: str
    exit_code: int
    needs: tuple[str, ...]
    slow: str | None
    not_run: str | None
    printed: str | None
    line: int

    @property
    def commands(self) -> list[str]:
        lines = self.body.replace("\\\n", " ").splitlines()
        return [line for line in (re.sub(r"(^|\s)#.*$", "", line).strip() for line in lines) if line]

    @property
    def comments(self) -> list[str]:
        """The comments behind the lines of a program that print."""
        return _PRINTED.findall(self.body)


def blocks(text: str) -> list[Block]:
    """Return the steps of a page; printed text belongs to the step above it."""
    found: list[Block] = []
    for fence in _FENCE.finditer(text):
        language, _, rest = fence["info"].strip().partition(" ")
        title = re.search(r'title="([^"]+)"', rest)
        line = text[: fence.start("fence")].count("\n") + 1
        said = [
            word.strip() for words in re.findall(r"<!-- test: (.*?) -->", fence["before"]) for word in words.split(";")
        ]
        if language == "text" and not said:
            assert found, f"line {line}: nothing above prints this"
            assert found[-1].printed is None, f"line {line}: a second text for one step"
            found[-1] = Block(**{**vars(found[-1]), "printed": fence["body"]})
            continue
        found.append(
            Block(
                language=language,
                title=title[1] if title else None,
                body=fence["body"],
                exit_code=int(_said(said, "exit ") or 0),
                needs=tuple(word.removeprefix("needs ") for word in said if word.startswith("needs ")),
                slow=_said(said, "slow: "),
                not_run=_said(said, "not run: "),
                printed=None,
                line=line,
            )
        )
        unknown = [word for word in said if not re.match(r"exit \d|needs \S+$|slow: \S|not run: \S", word)]
        assert not unknown, f"line {line}: a test does not know {unknown}"
    return found


def difference(expected: str, actual: str) -> str | None:
    """Return None if a program printed what a page says, else the difference."""
    wanted, got = _words(expected), _words(actual)
    parts = re.split(r"(?:^| )(\.\.\.)(?= |$)", wanted)
    pattern = " ?".join(".*?" if part == "..." else re.escape(part.strip()) for part in parts)
    if re.fullmatch(pattern, got):
        return None
    return f"the page says:\n{wanted}\nprinted was:\n{got}"


def commented(comments: list[str], actual: str) -> str | None:
    """Return None if each comment begins with the line printed, else the difference."""
    lines = [_words(line) for line in actual.splitlines()]
    if len(lines) == len(comments) and all(_words(c).startswith(line) for c, line in zip(comments, lines, strict=True)):
        return None
    return f"the comments say:\n{comments}\nprinted was:\n{lines}"


def _words(text: str) -> str:
    words = " ".join(re.sub(r"\[\s+", "[", text).split())
    for mask, instead in MASKS:
        words = mask.sub(instead, words)
    return words


def _said(said: list[str], word: str) -> str | None:
    return next((s.removeprefix(word) for s in said if s.startswith(word)), None)
