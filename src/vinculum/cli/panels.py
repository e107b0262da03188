"""The order of the help: the commands by what they are about, and the options of those that have many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

COMMANDS: Mapping[str, Sequence[str]] = {
    "Models": ("run", "check", "trace", "audit", "harden", "convert"),
    "Runtimes": ("conform", "report", "fingerprint", "vectors"),
    "Arrays": ("divide",),
    "About": ("spec", "info"),
}
_FILES = ("save", "junit", "sarif", "html")
OPTIONS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "check": {
        "What is assumed": ("assume", "calibrate", "as_type", "profile"),
        "The search for inputs that show a finding": ("runs", "seed", "witness"),
        "What fails": ("fail_on", "strict", "suppress", "baseline"),
        "Errors of results": ("bounds", "input_errors"),
    },
    "conform": {
        "Cases": ("quick", "full", "only", "list_ids"),
        "Known deviations": ("expect", "record"),
        "Reports": (*_FILES, "verbose", "diff"),
        "Limits": ("workers", "case_limit", "memory_limit"),
    },
    "report": {"Known deviations": ("expect", "record"), "Reports": (*_FILES[1:], "verbose")},
    "divide": {
        "The operator": ("operator", "version", "dialect", "variant"),
        "Its attributes": ("axis", "broadcast", "consumed_inputs", "m_pythondiv", "auto_broadcast"),
        "Integers": ("zero_divisor", "overflow"),
        "The job": ("task_size", "cluster"),
    },
}
"""By the names of the commands' parameters; the others stay under the heading Options."""


def arrange(commands: Mapping[str, Any]) -> None:
    """Put the options of each command into their panels."""
    for name, command in commands.items():
        heading = {option: title for title, options in OPTIONS.get(name, {}).items() for option in options}
        for parameter in command.params:
            if parameter.name in heading and parameter.param_type_name == "option":
                parameter.rich_help_panel = heading[parameter.name]
