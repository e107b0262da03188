"""Options of a runtime: `key=value` in brackets after its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vinculum.errors import AttributeValueError
from vinculum.text import did_you_mean, quoted

_MOST = 1024


def check_names(title: str, options: Mapping[str, str], allowed: Sequence[str]) -> None:
    """Check that all options have allowed names.

    AttributeValueError if one has not; the message names it and the allowed ones.
    """
    for name in options:
        if name not in allowed:
            known = f"allowed: {', '.join(allowed)}" if allowed else "it takes no options"
            raise AttributeValueError(f"{title} has no option {quoted(name)}; {known}{did_you_mean(name, allowed)}")


def chosen(title: str, name: str, options: Mapping[str, str], allowed: Sequence[str], default: str) -> str:
    """Return the value of an option with a fixed set of allowed values.

    AttributeValueError if the value is not allowed.
    """
    value = options.get(name, default)
    if value not in allowed:
        raise AttributeValueError(f"{name} of {title} is {quoted(value)}; allowed: {', '.join(allowed)}")
    return value


def whole_number(title: str, name: str, options: Mapping[str, str], default: int) -> int:
    """Return the value of an option that is an integer from 0 to 1024, the largest number of threads.

    AttributeValueError if the value is not such a number.
    """
    value = options.get(name, str(default))
    if not (value.isascii() and value.isdigit() and len(value) <= 4 and int(value) <= _MOST):
        raise AttributeValueError(f"{name} of {title} is {quoted(value)}; allowed: a whole number from 0 to {_MOST}")
    return int(value)
