"""Text from files, made safe to print: a name may hold anything, a terminal obeys much of it."""

from __future__ import annotations


def escaped(text: str) -> str:
    """Return the text on one line, every character that does not print written as its escape.

    Control characters could move the cursor or change the title of a terminal, and marks of writing direction could
    show a name as another.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def short(text: str, longest: int = 120, dots: str = "...") -> str:
    """Return the text as `escaped` does, its middle left out if it is very long."""
    safe = escaped(text)
    half = (longest - len(dots)) // 2
    return safe if len(safe) <= longest else f"{safe[:half]}{dots}{safe[-half:]}"


def cut(text: str, longest: int) -> str:
    """Return the text, its end left out if it is longer."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def one_line(text: str) -> str:
    """Return the text as `escaped` does, its line breaks and indents undone before."""
    return escaped(" ".join(text.split()))
