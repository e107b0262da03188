"""The tutorial as a notebook, docs/tutorial/crash.ipynb: ``python -m building.documentation.notebook`` writes it anew.

The page is the source. Its commands become cells that run them, its programs cells that write them to files, and what
the page says that they print stands below.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "crash.md"
NOTEBOOK = PAGE.with_suffix(".ipynb")

_FENCE = re.compile(
    r"^(?:<!--[^\n]*-->\n+)*```(?P<language>\w+)(?P<rest>[^\n]*)\n(?P<body>.*?)^```\n", re.MULTILINE | re.DOTALL
)


def notebook(page: str) -> str:
    """Return a page of the documentation as a notebook."""
    cells = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(_cells(page))]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cells(page: str) -> Iterator[dict[str, Any]]:
    words, code, end = "", None, 0
    for fence in _FENCE.finditer(page):
        words += page[end : fence.start()]
        end = fence.end()
        language, body = fence["language"], fence["body"]
        if language == "text":
            assert code is not None, "nothing above prints this"
            code["outputs"] = [{"output_type": "stream", "name": "stdout", "text": _lines(body)}]
            continue
        source = _source(language, fence["rest"], body)
        if source is None:
            words += fence[0]
            continue
        if code is not None:
            yield code
        yield from _prose(words)
        words, code = "", _code(source)
    if code is not None:
        yield code
    yield from _prose(words + page[end:])


def _source(language: str, rest: str, body: str) -> str | None:
    """Return the code of a cell; None for what is only shown."""
    if language == "python" and (title := re.search(r'title="([^"]+)"', rest)):
        return f"%%writefile {title[1]}\n{body}"
    if language == "bash":
        commands = re.sub(r"\\\n\s*", "", body).splitlines()
        # Activating an environment is for shells.
        kept = [command for command in commands if not command.startswith(("python -m venv", ". "))]
        return "\n".join(f"%{command}" if command.startswith("pip ") else f"!{command}" for command in kept)
    return None


def _code(source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": _lines(source.strip("\n")),
    }


def _prose(words: str) -> Iterator[dict[str, Any]]:
    if words.strip():
        yield {"cell_type": "markdown", "metadata": {}, "source": _lines(words.strip("\n"))}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
