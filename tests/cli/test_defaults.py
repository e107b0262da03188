"""Commands and functions of one name have the same options with the same defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import vinculum
from tests.cases import case
from vinculum.cli.commands import audit, check, convert, harden, trace

COMMANDS: dict[str, Callable[..., Any]] = {
    "audit": audit.audit, "check": check.check, "convert": convert.convert, "harden": harden.harden,
    "trace": trace.trace,
}  # fmt: skip
AGREE = {
    "audit": {"model", "backend", "inputs", "seed", "dims", "sets", "expand", "limit"},
    "check": {"assume", "calibrate", "as_type", "profile", "runs", "seed"},
    "convert": {"model", "opset", "inputs"},
    "harden": {"model", "inputs", "zero_divisor", "overflow", "fix_exported"},
    "trace": {"model", "inputs"},
}


def defaults(function: Any) -> dict[str, Any]:
    """Return the default of each parameter; None also stands for empty and for missing ones."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: None if p.default in (None, (), inspect.Parameter.empty) else p.default for p in parameters}


def test_defaults() -> None:
    for name, command in COMMANDS.items():
        with case(name):
            ours, theirs = defaults(getattr(vinculum, name)), defaults(command)
            shared = ours.keys() & theirs.keys()
            assert shared >= AGREE[name]
            assert {key: ours[key] for key in shared} == {key: theirs[key] for key in shared}
    # `for` is a word of Python's own.
    assert "'--for', '--target'" in str(inspect.signature(harden.harden).parameters["runtime"].annotation)
