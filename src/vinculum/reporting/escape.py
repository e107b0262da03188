"""Text from files, made safe to print: names may contain characters that control a terminal."""

from __future__ import annotations


def escaped(text: str) -> str:
    """Return the text on one line, with every unprintable character as its escape.

    Control characters could move the cursor or change the title of a terminal, and marks of writing direction could
    make a name look like another.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def short(text: str, longest: int = 120, dots: str = "...") -> str:
    """Return the text as `escaped` does, without its middle if it is very long."""
    safe = escaped(text)
    half = (longest - len(dots)) // 2
    return safe if len(safe) <= longest else f"{safe[:half]}{dots}{safe[-half:]}"


def cut(text: str, longest: int) -> str:
    """Return the text, without its end if it is longer."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def one_line(text: str) -> str:
    """Return the text as `escaped` does, with single spaces in place of line breaks and indents."""
    return escaped(" ".join(text.split()))
