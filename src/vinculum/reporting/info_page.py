"""The page of ``vinculum info``: the backend in use, and the installed runtimes."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType, group
from rich.text import Text

from vinculum.conformance.run.installation import Installation
from vinculum.reporting.escape import escaped
from vinculum.reporting.terminal import counted, grid, section
from vinculum.text import pip_install

_PORTABLE = "portable, NumPy alone: slower than the compiled core, which an installation with a C++20 compiler has"


@group()
def page(found: Installation) -> Iterator[RenderableType]:
    """Return an installation as a page."""
    ours = {
        "Backend": f"compiled core, {found.target}" if found.target else _PORTABLE,
        "Threads": f"{found.threads} of {counted(found.processors, 'usable processor')}",
        "Python": found.python,
        "NumPy": found.numpy,
        "ONNX": found.onnx,
    }
    runtimes = {name: version or f"not installed: {pip_install(name)}" for name, version in found.runtimes.items()}
    width = max(map(len, [*ours, *runtimes]))
    tables = [grid((name.ljust(width), escaped(words)) for name, words in rows.items()) for rows in (ours, runtimes)]
    yield Text(f"vinculum {found.version}", "bold")
    yield from section("Here", tables[0])
    yield from section("Runtimes", tables[1])
