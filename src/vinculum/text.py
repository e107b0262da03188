"""Names, shapes and errors as text for one-line messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_LONGEST_NAME = 60
_LONGEST_REASON = 300

_INSTALLED_BY = {"cupy": "'cupy-cuda12x[ctk]'", "dask": "'dask[array,distributed]'"}
_INSTALLED_BY["distributed"] = _INSTALLED_BY["dask"]
"""The requirements to install packages by, if these are not their names."""


def quoted(name: str) -> str:
    """Return a name from a file in quotes, always on one line, shortened if it is very long."""
    return repr(name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}...")


def kind_of(value: object) -> str:
    """Return the name of a value's type with an article: ``a list``, ``an ArrayImpl``."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def pip_install(package: str, wanted: str = "") -> str:
    """Return the command that installs a package; `wanted` is the requirement, if it is not the name."""
    return f"pip install {wanted or _INSTALLED_BY.get(package, package)}"


def one_line(error: BaseException) -> str:
    """Return the message of an error's root cause on one line."""
    root, passed = error, {id(error)}
    while root.__cause__ is not None and id(root.__cause__) not in passed:
        root = root.__cause__
        passed.add(id(root))
    words = " ".join(str(root).split())
    if isinstance(root, RecursionError):
        words = "it is nested too deeply"
    if isinstance(root, MemoryError):
        words = f"there is not enough memory ({words})" if words else "there is not enough memory"
    shortened = words if len(words) <= _LONGEST_REASON else f"{words[: _LONGEST_REASON - 3]}..."
    return shortened or type(root).__name__


def listed(names: Sequence[str], none: str = "none") -> str:
    """Return names in quotes, separated by commas; at most ten of them."""
    shown = ", ".join(quoted(name) for name in names[:10])
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown or none


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """Return a suggestion for an unknown name, as the end of a message; empty if no allowed name is similar."""
    close = get_close_matches(name, list(allowed), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def shape_text(shape: Sequence[int | str | None] | None) -> str:
    """Return a shape as in Python, with ``?`` for an unknown dimension."""
    if shape is None:
        return "of any rank"
    sizes = [_size_text(size) for size in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def _size_text(size: int | str | None) -> str:
    if size is None:
        return "?"
    return quoted(size)[1:-1] if isinstance(size, str) else str(size)


def encodable(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 cannot encode, written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
