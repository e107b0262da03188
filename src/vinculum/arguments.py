"""Checks of the arguments of the functions on models, which refuse a wrong type in one line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from inspect import signature
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


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "int": ("a whole number", _is_whole),
    "float": ("a number", lambda value: isinstance(value, Real) and not _is_truth(value)),
    "bool": ("True or False", _is_truth),
    "str": ("a string", lambda value: isinstance(value, str)),
    "Sequence[str]": ("a list of strings", _is_strings),
    "Mapping[str, int]": ("a mapping of names to whole numbers", _is_mapping),
    "Mapping[str, Any]": ("a mapping of names to arrays", _is_mapping),
    "Mapping[str, ArrayLike]": ("a mapping of names to arrays", _is_mapping),
}
"""By annotation as written in the source: the words for the argument, and its check."""
_CHECKED_LATER = ("Inputs", "Overflow", "Runtime", "ZeroDivisor", "Literal['stored', 'unknown']")
"""The annotations of arguments that are checked where they are used."""


def checked_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function so that it raises AttributeValueError for keyword arguments that do not fit their annotations.

    TypeError when decorating if a keyword-only parameter has an annotation that is in neither table.
    """
    kinds: dict[str, tuple[str, Callable[[object], bool]]] = {}
    optional = set()
    for name, parameter in signature(function).parameters.items():
        declared = str(parameter.annotation)
        if declared.endswith(" | None"):
            optional.add(name)
        declared = declared.removesuffix(" | None")
        if declared in _KINDS:
            kinds[name] = _KINDS[declared]
        elif parameter.kind is parameter.KEYWORD_ONLY and declared not in _CHECKED_LATER:
            raise TypeError(
                f"{function.__qualname__}: how is {name}: {declared} checked? arguments.py does not list it"
            )

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in kwargs.items():
            if name not in kinds or (value is None and name in optional):
                continue
            what, fits = kinds[name]
            if not fits(value):
                shown = repr(value) if len(repr(value)) <= _LONGEST_SHOWN else f"{repr(value)[: _LONGEST_SHOWN - 3]}..."
                raise AttributeValueError(f"{name} is {' '.join(shown.split())}; allowed: {what}")
        return function(*args, **kwargs)

    return checked
