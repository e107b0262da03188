"""A page for each command, from the command line itself: usage, arguments, options and exit codes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from typer.main import get_command

from building.documentation.made import MadePage, code, safe, table
from vinculum.cli.main import app

_CODES = (
    ("0", "fine"),
    (
        "1",
        "a finding: a division by zero that the policy does not allow, two models that differ, a runtime that deviates",
    ),
    ("2", "wrong usage, or input that cannot be read"),
    ("3", "an internal error; please report it"),
    ("130", "interrupted by Ctrl-C"),
    ("143", "terminated (SIGTERM)"),
)


def command_pages() -> list[MadePage]:
    """Return the pages, the folder's own first."""
    root: Any = get_command(app)
    commands = [*_commands(root, "vinculum", "")]
    pages = [MadePage(name.removeprefix("vinculum "), _file(name), _page(name, c)) for _, name, c in commands]
    panels: dict[str, list[tuple[str, str]]] = {}
    for panel, name, command in commands:
        panels.setdefault(panel, []).append((f"[`{name}`]({_file(name)})", safe(_summary(command))))
    groups = "".join(f"## {panel}\n\n{table(['Command', 'What it does'], rows)}" for panel, rows in panels.items())
    overview = (
        "# Commands\n\nThe program `vinculum` is installed with the package; these pages are made from it, and "
        f"`vinculum COMMAND --help` prints the same.\n\n{groups}## Exit codes\n\n{table(['Code', 'Meaning'], _CODES)}"
        "Errors are one line on standard error. `NO_COLOR` is honoured, and colours appear on a terminal only.\n"
    )
    return [MadePage("Commands", "index.md", overview), *pages]


def _commands(group: Any, path: str, panel: str) -> Iterator[tuple[str, str, Any]]:
    """Yield each command with the panel of the help in which it is, and its name."""
    for name, command in group.commands.items():
        found = panel or str(command.rich_help_panel)
        if hasattr(command, "commands"):
            yield from _commands(command, f"{path} {name}", found)
        elif not command.hidden:
            yield found, f"{path} {name}", command


def _file(name: str) -> str:
    return name.removeprefix("vinculum ").replace(" ", "-") + ".md"


def _page(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    usage = " ".join([name, "[OPTIONS]", *map(_argument, arguments)])
    parts = [f"# {name}\n\n", f"{_paragraphs(command.help)}\n\n", f"```text\n{usage}\n```\n\n"]
    if arguments:
        parts += [
            "## Arguments\n\n",
            table(["Argument", "Meaning"], [(code(_argument(p)), _help(p)) for p in arguments]),
        ]
    parts += ["## Options\n\n", table(["Option", "Meaning"], [(_option(p), _help(p)) for p in options])]
    examples = re.findall(r"^ +(vinculum .+)$", command.epilog or "", re.MULTILINE)
    if examples:
        parts += ["## Examples\n\n```bash\n", "\n".join(examples), "\n```\n\n"]
    parts.append("[Exit codes](index.md#exit-codes) are those of all commands.\n")
    return "".join(parts)


def _summary(command: Any) -> str:
    return " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split())


def _paragraphs(words: str | None) -> str:
    paragraphs = inspect.cleandoc(words or "").replace("\b", "").split("\n\n")
    return "\n\n".join(safe(" ".join(paragraph.split())) for paragraph in paragraphs)


def _argument(argument: Any) -> str:
    name = (argument.metavar or argument.name.upper()).strip("[]{}.")
    name = f"{name}..." if argument.nargs == -1 else name
    return name if argument.required else f"[{name}]"


def _option(option: Any) -> str:
    names = ", ".join(code(name) for name in (*option.opts, *option.secondary_opts))
    return names if option.is_flag else f"{names} {code(option.metavar or _choices(option) or 'VALUE')}"


def _choices(option: Any) -> str:
    """Return what an option may be, if that is a list; Typer has a copy of Click or not, by its version."""
    declared = getattr(getattr(option, "type_descriptor", None), "annotation", None)
    found = getattr(getattr(option, "type", None), "choices", None)
    if found is None and declared is not None:
        found = [word for part in (declared, *get_args(declared)) for word in _members(part)]
    return "|".join(found or ())


def _members(kind: Any) -> list[str]:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    return [*map(str, get_args(kind))] if get_origin(kind) is Literal else []


def _help(parameter: Any) -> str:
    words = safe(" ".join((parameter.help or "").replace("\\[", "[").split()))
    limits = [f"at least {parameter.min}"] * (parameter.min is not None) + [f"at most {parameter.max}"] * (
        parameter.max is not None
    )
    default = getattr(parameter.default, "value", parameter.default)
    plain = parameter.show_default and not getattr(parameter, "is_flag", False) and default not in (None, (), [], "")
    return (
        words
        + (f" {' and '.join(limits).capitalize()}." if limits else "")
        + (f" Default: {code(str(default))}." if plain and not callable(default) else "")
        + (" Required." if parameter.required else "")
    )
