"""The help: panels of commands with examples, and panels of options for commands with many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import typer
from rich.markup import escape

from vinculum.cli.commands.about import info, spec
from vinculum.cli.commands.audit import audit
from vinculum.cli.commands.check import check
from vinculum.cli.commands.conformance.conform import conform
from vinculum.cli.commands.conformance.fingerprint import fingerprint
from vinculum.cli.commands.conformance.report import report
from vinculum.cli.commands.conformance.vectors import vectors
from vinculum.cli.commands.convert import convert
from vinculum.cli.commands.divide import divide
from vinculum.cli.commands.harden import harden
from vinculum.cli.commands.run import run
from vinculum.cli.commands.trace import trace

_OPERANDS = "examples/openvino_rounding/a.npy examples/openvino_rounding/b.npy"
COMMANDS: Mapping[str, Mapping[Callable[..., None] | typer.Typer, Sequence[str]]] = {
    "Models": {
        run: (
            "vinculum run examples/layer_norm/model.onnx --seed 0",
            "vinculum run examples/openvino_image/model.xml --seed 0 --zero-divisor zero",
        ),
        check: (
            "vinculum check examples/windows/model.onnx",
            "vinculum check examples/layer_norm/model.onnx --as float16",
            "vinculum check examples/masked_mean/model.onnx --assume 'mask=0|1'",
        ),
        trace: ("vinculum trace examples/layer_norm/model.onnx --seed 0",),
        audit: ("vinculum audit examples/masked_mean/model.onnx --backend onnxruntime",),
        harden: ("vinculum harden examples/windows/model.onnx --for openvino -o /tmp/safe.onnx",),
        convert: (
            "vinculum convert examples/rms_norm/model.onnx --opset 13 -o /tmp/new.onnx",
            "vinculum convert examples/rms_norm/model.onnx -o /tmp/new.xml",
        ),
    },
    "Runtimes": {
        conform: (
            "vinculum conform onnx-reference --only 'Div-14/int32/*'",
            "vinculum conform 'openvino[device=CPU]' --quick --html /tmp/report.html",
        ),
        report: (
            "vinculum conform numpy --quick --save /tmp/run.json",
            "vinculum report /tmp/run.json --html /tmp/report.html",
        ),
        fingerprint: ("vinculum fingerprint numpy",),
        vectors: (),
    },
    "Arrays": {
        divide: (
            f"vinculum divide {_OPERANDS} -o /tmp/c.npy",
            f"vinculum divide {_OPERANDS} -o /tmp/c.zarr --operator Divide",
        )
    },
    "About": {
        spec: ("vinculum spec Div --version 7 --against 6", "vinculum spec Divide --trace"),
        info: ("vinculum info --json",),
    },
}
"""The commands in their panels, and the examples in their help, which run in a clone."""
EXIT_CODES = (
    "Exit codes: 0 success; 1 a finding, such as an integer divided by zero or a comparison that fails; 2 wrong usage "
    "or unreadable input; 3 an internal error; 130 interrupted, 143 terminated."
)
_REPORTS = ("junit", "sarif", "html")
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
        "Reports": ("save", *_REPORTS, "verbose", "diff"),
        "Limits": ("workers", "case_limit", "memory_limit"),
    },
    "report": {"Known deviations": ("expect", "record"), "Reports": (*_REPORTS, "verbose")},
    "divide": {
        "The operator": ("operator", "version", "dialect", "variant"),
        "Its attributes": ("axis", "broadcast", "m_pythondiv", "auto_broadcast"),
        "Integers": ("zero_divisor", "overflow"),
        "The job": ("task_size", "cluster"),
    },
}
"""The panels of options, by the names of the commands' parameters; the others stay under the heading Options."""
FRAMED = 80
"""The least columns for help in frames, which cuts off the names of options on fewer."""


def add_commands(app: typer.Typer) -> None:
    """Add every command, with its examples and the exit codes below its options."""
    for panel, commands in COMMANDS.items():
        for command, examples in commands.items():
            if isinstance(command, typer.Typer):
                app.add_typer(command, rich_help_panel=panel)
                continue
            below = "\n\n".join(("Examples:", *(f"  {example}" for example in examples), EXIT_CODES))
            app.command(epilog=escape(below), rich_help_panel=panel)(command)


@cache
def commands(app: typer.Typer, framed: bool) -> Any:
    """Return the commands with their options, in frames or without; made once, as it takes as long as most commands."""
    app.rich_markup_mode = "rich" if framed else None
    group: Any = typer.main.get_command(app)
    for name, command in getattr(group, "commands", {}).items():
        heading = {option: title for title, options in OPTIONS.get(name, {}).items() for option in options}
        for parameter in command.params:
            if parameter.name in heading and parameter.param_type_name == "option":
                parameter.rich_help_panel = heading[parameter.name]
        for told in (command, *command.params) if not framed else ():
            for text in ("help", "epilog"):
                if getattr(told, text, None):
                    setattr(told, text, getattr(told, text).replace("\\[", "["))  # Only markup needs the escape.
    return group
