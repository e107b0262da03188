"""A page as a reader without a terminal sees it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from io import BytesIO, StringIO, TextIOWrapper
from typing import Any

from rich.console import Console, RenderableType

Told = Mapping[str, Callable[[int], Any]]
"""By name, functions of a width that return a page, a text, or an object for JSON."""


def printed(page: RenderableType, width: int = 80, encoding: str = "utf-8") -> list[str]:
    """Return the lines of a page without trailing blanks; none may be wider than the terminal, or cut off."""
    with TextIOWrapper(BytesIO(), encoding=encoding) as file:
        Console(width=width, file=file, highlight=False).print(page)
        file.seek(0)
        lines = [line.rstrip() for line in file.read().splitlines()]
    assert max(map(len, lines), default=0) <= width
    assert "…" not in "".join(lines)
    assert "\x1b" not in "".join(lines)
    return lines


def whole(page: RenderableType, width: int = 80, **options: Any) -> str:
    """Return the text of a page on a console that does not cut lines off."""
    file = StringIO()
    Console(width=width, file=file, highlight=False, **options).print(page, crop=False)
    return file.getvalue()


def characters(page: RenderableType, width: int) -> Counter[str]:
    """Return how often each character is on a page, without blanks and rules."""
    return Counter("".join(whole(page, width).split()).replace("─", ""))


def body_of(page: str) -> str:
    """Return the body of a page of HTML without its scripts and empty lines."""
    body = re.sub(r"<script.*?</script>", "", page[page.index("<body>") :], flags=re.DOTALL)
    return "\n".join(line.strip() for line in body.splitlines() if line.strip())
