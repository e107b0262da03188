"""A page that is made from the program, and what Markdown asks of the words in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class MadePage:
    """A page: its title in the navigation, its file's name, and its text as Markdown."""

    title: str
    file: str
    text: str


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines) + "\n"


def safe(words: str) -> str:
    """Return words of which Markdown makes nothing else."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>#" else c for c in words)


def code(words: str) -> str:
    """Return words as code, nothing for none."""
    return f"`{words}`" if words else ""


def _cell(words: str) -> str:
    """Return a cell on one line, whose bars end no cell; in code they end none."""
    return re.sub(r"(`[^`]*`)|\|", lambda found: found[1] or "&#124;", words).replace("\n", "<br>")
