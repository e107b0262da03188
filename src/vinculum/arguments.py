"""The arguments of the functions on models: one of another type than it is declared is refused in one line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from numbers import Real
from operator import index
from typing import ParamSpec, TypeVar

from vinculum.errors import AttributeValueError

P = ParamSpec("P")
R = TypeVar("R")

_LONGEST_SHOWN = 60


def _is_truth(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_")


def _is_whole(value: object) -> bool:
    try:
        index(value)  # type: ignore[arg-type]  # index itself tells what has no whole value
    except TypeError:
        return False
    return not _is_truth(value)


def _is_strings(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str) and all(isinstance(one, str) for one in value)


_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "int": ("a whole number", _is_whole),
    "float": ("a number", lambda value: isinstance(value, Real) and not _is_truth(value)),
    "bool": ("True or False", _is_truth),
    "str": ("a string", lambda value: isinstance(value, str)),
    "Sequence[str]": ("a list of strings", _is_strings),
    "Mapping[str, ArrayLike]": ("a mapping of names to arrays", lambda value: isinstance(value, Mapping)),
}
"""What arguments of each annotation are; those of others are checked where they are used."""


def checked_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function refuse keyword arguments of another type than it declares, of those that the table has.

    Raises
    ------
    AttributeValueError
        By the function returned: the line says which argument it is, its value, and what is allowed.
    """
    declared = {name: str(kind).removesuffix(" | None") for name, kind in function.__annotations__.items()}
    optional = {name for name, kind in function.__annotations__.items() if str(kind).endswith(" | None")}

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in kwargs.items():
            what, fits = _KINDS.get(declared.get(name, ""), ("", None))
            if fits is not None and not fits(value) and not (value is None and name in optional):
                shown = repr(value) if len(repr(value)) <= _LONGEST_SHOWN else f"{repr(value)[: _LONGEST_SHOWN - 3]}..."
                raise AttributeValueError(f"{name} is {' '.join(shown.split())}; allowed: {what}")
        return function(*args, **kwargs)

    return checked
