"""A page as a reader without a terminal sees it."""

from __future__ import annotations

from io import BytesIO, TextIOWrapper

from rich.console import Console, RenderableType


def printed(page: RenderableType, width: int = 80, encoding: str = "utf-8") -> list[str]:
    """Return the lines of a page, without the blanks at their ends; none is wider than the terminal, or cut off."""
    with TextIOWrapper(BytesIO(), encoding=encoding) as file:
        Console(width=width, file=file, highlight=False).print(page)
        file.seek(0)
        lines = [line.rstrip() for line in file.read().splitlines()]
    assert max(map(len, lines), default=0) <= width
    assert "…" not in "".join(lines)
    assert "\x1b" not in "".join(lines)
    return lines


def words(page: RenderableType, width: int = 80) -> str:
    """Return the words of a page, its line breaks and indents undone."""
    return " ".join(" ".join(printed(page, width)).split())
